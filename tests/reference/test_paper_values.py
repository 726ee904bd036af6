"""The error of FC-ODT on the paper's second simulation, against values known beforehand.

n = 2000, d = 10, noise 0.1, alpha 1, min_samples_leaf 10, depth 3, ridge leaves; mean
squared error against the noiseless f on new samples: 0.0376 with and 0.0428 without
concatenation (single runs of a plain implementation). From seed to seed the error has a
standard deviation of 0.0018, so the mean of eight seeds has 0.0006: the tolerance 0.0025
is four of these and leaves room for the one run behind the reference value.
"""

import numpy as np
import pytest
from fctree import FCODTRegressor
from fctree.datasets import make_ridge_exp
from reference.literal_fcodt import LiteralFCODT

N_SEEDS = 8


def mean_error(estimator):
    errors = []
    for seed in range(N_SEEDS):
        X, y = make_ridge_exp(2000, 10, noise=0.1, random_state=seed)
        X_new, _, f = make_ridge_exp(2000, 10, random_state=1000 + seed, return_truth=True)
        errors.append(np.mean((np.ravel(estimator.fit(X, y).predict(X_new)) - f) ** 2))
    return np.mean(errors)


@pytest.mark.parametrize("feature_concatenation, reference", [(True, 0.0376), (False, 0.0428)])
def test_second_simulation(feature_concatenation, reference):
    parameters = {"alpha": 1.0, "min_samples_leaf": 10, "max_depth": 3,
                  "feature_concatenation": feature_concatenation}
    error = mean_error(FCODTRegressor(**parameters))
    assert error == pytest.approx(reference, abs=0.0025)
    # The twin sees the same seeds. The same trees up to the rare close call: 1e-5 is the
    # most that a few samples on the other side of one cut in eight trees could move it.
    assert error == pytest.approx(mean_error(LiteralFCODT(**parameters)), abs=1e-5)


def test_concatenation_helps_on_the_second_simulation():
    # 0.0428 - 0.0376 = 0.0052 is nine standard errors of a mean of eight seeds.
    with_it, without = (
        mean_error(FCODTRegressor(min_samples_leaf=10, feature_concatenation=on))
        for on in (True, False))
    assert with_it < without - 0.003
