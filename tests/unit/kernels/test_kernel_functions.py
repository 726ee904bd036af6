"""The core's arcsin and arccos against 40 digits: at most 2 units in the last place."""

import mpmath
import numpy as np
import pytest
from fctree._native import matrix as native

FUNCTIONS = {"arcsine": mpmath.asin, "arccosine": mpmath.acos}


def arguments(dtype, seed=0):
    """All of [-1, 1], and densely where the formula changes or the result vanishes."""
    rng = np.random.default_rng(seed)
    near_one = 1 - 10.0 ** rng.uniform(-16, 0, 600)
    x = np.concatenate([rng.uniform(-1, 1, 1500), near_one, -near_one, rng.uniform(0.49, 0.51, 400),
                        10.0 ** rng.uniform(-30, 0, 300), [0.0, 1.0, -1.0, 0.5, -0.5]])
    return np.clip(x, -1, 1).astype(dtype)


def error_in_ulps(actual, x, exact):
    worst = 0.0
    with mpmath.workdps(40):
        for value, argument in zip(actual, x, strict=True):
            wanted = exact(mpmath.mpf(float(argument)))
            if wanted == 0:
                assert value == 0
                continue
            unit = np.spacing(actual.dtype.type(abs(float(wanted))))
            worst = max(worst, abs(float((mpmath.mpf(float(value)) - wanted) / float(unit))))
    return worst


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_is_at_most_two_units(name, dtype):
    x = arguments(dtype)
    out = np.empty_like(x)
    getattr(native, name)(x, out)
    assert error_in_ulps(out, x, FUNCTIONS[name]) <= 2.0


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_length(n, dtype):
    x = np.linspace(-1, 1, n).astype(dtype)
    out = np.full(n, 7, dtype=dtype)
    native.arcsine(x, out)
    np.testing.assert_allclose(out, np.arcsin(x), rtol=1e-6, atol=0)


def test_other_layouts_and_lengths_are_refused():
    with pytest.raises(TypeError):
        native.arcsine(np.zeros(8)[::2], np.zeros(4))
    with pytest.raises(ValueError, match="size"):
        native.arcsine(np.zeros(8), np.zeros(4))
