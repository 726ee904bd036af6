"""The error of shallow curvature trees on the paper's two simulations.

n = 2000, d = 10, noise 0.1, alpha 1, min_samples_leaf 20, depth 4, all else by default;
mean squared error against the noiseless f on new samples, mean of ten seeds. Asked for are
at most 0.0090 on the sums of ReLUs and 0.0095 on the sums of exponentials; measured are
0.0083 and 0.0081, with a standard deviation of 0.0010 and 0.0006 from seed to seed. The
seeds are fixed, so the test does not depend on luck; the published FC-ODT has 0.04.
"""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor, FCODTRegressor
from fctree.datasets import make_ridge_exp, make_ridge_relu

N_SEEDS = 10


def mean_error(make, kind=CurvatureTreeRegressor, **parameters):
    errors = []
    for seed in range(N_SEEDS):
        X, y = make(2000, 10, noise=0.1, random_state=seed)
        X_new, _, f = make(5000, 10, random_state=1000 + seed, return_truth=True)
        model = kind(alpha=1.0, min_samples_leaf=20, **parameters).fit(X, y)
        errors.append(np.mean((model.predict(X_new) - f) ** 2))
    return np.mean(errors)


@pytest.mark.parametrize("make, target", [(make_ridge_relu, 0.0090), (make_ridge_exp, 0.0095)])
def test_depth_four(make, target):
    error = mean_error(make, max_depth=4)
    assert error <= target
    assert error < 0.4 * mean_error(make, FCODTRegressor, max_depth=4)
    # Each level helps, down to the noise of the leaves: depth 5 may lose 0.0005.
    shallower = [mean_error(make, max_depth=depth) for depth in (0, 1, 2, 3)]
    assert np.all(np.diff([*shallower, error]) < 0)
    assert mean_error(make, max_depth=5) < error + 0.0005
