"""Importances set an estimator's parameters as its users would."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor, VotingRegressor
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fctree import CurvatureBoostingClassifier, SoftTreeClassifier
from fctree.inspection import variable_importance
from fctree.inspection.adapters import masked_models
from fctree.inspection.partition import partition
from fctree.inspection.warm_start import Samples

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


def rare_class(n=600):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, np.where(X[:, 0] > 1.2, "yes", "no")


@pytest.mark.parametrize("model", [SoftTreeClassifier(max_epochs=30), SGDClassifier(loss="log_loss")], ids=lambda m: type(m).__name__)
def test_balanced_classes_of_estimators_with_partial_fit(model):
    """As by the weights of the training part's classes."""
    X, y = rare_class()
    seed = np.random.RandomState(0).randint(2**31 - 1, size=2)[0]
    labels = partition(model, X, y, None, fractions=(0.25, 0.25), seed=seed).train.y
    by_label = {label: len(labels) / 2 / np.sum(labels == label) for label in ("no", "yes")}
    balanced, given = (
        variable_importance(clone(model).set_params(class_weight=weight), X, y, random_state=0) for weight in ("balanced", by_label)
    )
    np.testing.assert_array_equal(balanced.importances, given.importances)


@pytest.mark.parametrize("model", [SoftTreeClassifier(), CurvatureBoostingClassifier()], ids=lambda m: type(m).__name__)
def test_class_weights_count_where_training_stops(model):
    X, y = rare_class()
    weight = np.random.default_rng(1).random(len(y))
    samples = Samples(X, y, weight, np.array(["no", "yes"]))
    weighted = clone(model).set_params(class_weight={"no": 1.0, "yes": 8.0})
    rounds = masked_models(weighted, 0, (None, None), 0, continues=True).untrained
    rounds.start(samples)
    rounds.train_round(samples)
    losses = -np.log(rounds.predict(X)[np.arange(len(y)), (y == "yes").astype(int)])
    expected = np.average(losses, weights=weight * np.where(y == "yes", 8.0, 1.0))
    np.testing.assert_allclose(rounds.loss(samples), expected, rtol=1e-12)
