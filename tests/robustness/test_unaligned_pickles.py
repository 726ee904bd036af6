"""Pickles whose arrays come apart from the rest and begin anywhere, as Dask sends them."""

import pickle

import numpy as np
import pytest
from estimators import classifies, public_estimators, small

ESTIMATORS = public_estimators()
X = np.random.default_rng(0).standard_normal((60, 3))
Y = X[:, 0] + X[:, 1] ** 2


def arrays_of(value):
    """All arrays of a state."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (dict, list, tuple)):
        return [array for item in (value.values() if isinstance(value, dict) else value) for array in arrays_of(item)]
    return arrays_of(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, type) else []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_arrays_that_begin_anywhere(name):
    cls = ESTIMATORS[name]
    model = small(cls).fit(X, Y > 1 if classifies(cls) else Y)
    buffers = []
    pickled = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    shifted = [memoryview(bytearray(b"x" + buffer.raw()))[1:] for buffer in buffers]
    copy = pickle.loads(pickled, buffers=shifted)
    assert all(array.flags.aligned for array in arrays_of(vars(copy)))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
