"""Models of tables are the same bytes for any number of threads."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from table_cases import CLASSIFIERS, REGRESSORS, as_pandas, mixed_columns

COLUMNS, Y = mixed_columns(400)
FRAME = as_pandas(COLUMNS)


@pytest.mark.parametrize("name", REGRESSORS)
def test_threads_change_nothing(name):
    fits = [clone(REGRESSORS[name]).set_params(n_jobs=n).fit(FRAME, Y) for n in (1, 3)]
    assert pickle.dumps(fits[0].encoder_) == pickle.dumps(fits[1].encoder_)
    np.testing.assert_array_equal(fits[0].predict(FRAME), fits[1].predict(FRAME))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_threads_change_no_class(name):
    labels = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
    fits = [clone(CLASSIFIERS[name]).set_params(n_jobs=n).fit(FRAME, labels) for n in (1, 3)]
    assert pickle.dumps(fits[0].encoder_) == pickle.dumps(fits[1].encoder_)
    np.testing.assert_array_equal(fits[0].predict(FRAME), fits[1].predict(FRAME))
