"""Importances set an estimator's parameters as its users would."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor, VotingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fctree.inspection import variable_importance
from fctree.inspection.adapters import masked_models

FOREST = RandomForestRegressor(n_estimators=5)


@pytest.mark.parametrize("estimator", [
    make_pipeline(StandardScaler(), FOREST),
    VotingRegressor([("one", FOREST), ("other", MLPRegressor(hidden_layer_sizes=5, max_iter=5, solver="lbfgs"))]),
    GridSearchCV(FOREST, {"max_depth": [2, 3]}, cv=2),
], ids=lambda estimator: type(estimator).__name__)
@pytest.mark.filterwarnings("ignore:lbfgs failed")
def test_estimators_within_others_have_the_seed(estimator):
    X = np.random.default_rng(0).normal(size=(200, 3))
    one, two = (variable_importance(estimator, X, X[:, 0], method="retrain", random_state=0) for _ in range(2))
    np.testing.assert_array_equal(one.importances, two.importances)


def test_seeds_of_users_stay_and_equal_members_differ():
    members = [("one", FOREST), ("two", FOREST), ("given", RandomForestRegressor(random_state=7))]
    models = masked_models(VotingRegressor(members), 0, (None, None), 3, continues=False)
    assert [member.random_state for _, member in models.untrained.estimator.estimators] == [3, 4, 7]
