"""scikit-learn's own checks of the boosting estimators, none skipped."""

import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

FEW = {"max_iter": 20, "max_depth": 3}
ESTIMATORS = [
    SymmetricBoostingRegressor(max_iter=20),
    SymmetricBoostingClassifier(max_iter=20),
    *(kind(**FEW, **settings)
      for kind in (SymmetricBoostingRegressor, SymmetricBoostingClassifier)
      for settings in (
          {"score_noise": "gumbel", "random_strength": 0.01, "score_function": "cosine"},
          # A little: without it 1,000 rounds learn noise by heart, whatever the classes weigh.
          {"warm_start": True, "random_strength": 0.0, "l2_leaf_reg": 0.1},
      )),
    SymmetricBoostingRegressor(**FEW, posterior_samples=2),
    SymmetricBoostingRegressor(**FEW, loss="huber"),
]


# Some checks warn about what they do themselves (one class, data frames, deprecations).
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    check(estimator)
