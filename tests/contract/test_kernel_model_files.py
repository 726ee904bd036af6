"""save_model and load_model of kernel ridge models: predictions bit by bit, no broken file."""

import numpy as np
import pytest
from fctree import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
    load_model,
    save_model,
)
from reference.tree_comparison import smooth_table
from sklearn.base import clone

X, Y = smooth_table(80, 4, 2, seed=51)
WORDS = np.where(Y[:, 0] > np.median(Y[:, 0]), "high", "low")
GRID = {"alphas": [0.1, 1.0], "depths": [1, 2], "scales": [0.5, 2.0]}

MODELS = {
    "regressor": (TreeNTKRegressor(alpha=1.0), Y[:, 0]),
    "outputs": (TreeNTKRegressor(alpha=1.0, depth=2), Y),
    "landmarks": (TreeNTKRegressor(alpha=1.0, solver="nystrom", n_components=20, random_state=0), Y),
    "architecture": (TreeNTKRegressor(alpha=1.0, architecture={1: 1, 2: 2}), Y[:, 0]),
    "endless list": (
        TreeNTKRegressor(alpha=1.0, architecture="decision_list", depth=np.inf),
        Y[:, 0],
    ),
    "exponential": (TreeNTKRegressor(alpha=1.0, architecture="exponential"), Y),
    "searched exponential": (TreeNTKClassifierCV(architectures=["exponential"], scales=[0.5]), WORDS),
    "classifier": (TreeNTKClassifier(alpha=1.0), WORDS),
    "searched regressor": (TreeNTKRegressorCV(**GRID), Y[:, 0]),
    "searched classifier": (TreeNTKClassifierCV(**GRID), WORDS),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    model, targets = MODELS[request.param]
    return clone(model).fit(X, targets)


def test_predictions_are_as_they_were(fitted, tmp_path):
    save_model(fitted, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert type(loaded) is type(fitted)
    assert loaded.get_params() == fitted.get_params()
    assert vars(loaded).keys() == vars(fitted).keys()
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    "name, value",
    [
        ("dual_coef_", np.ones(79)),
        ("dual_coef_", np.ones((80, 1, 1))),
        ("X_fit_", X[:, :3]),
        ("X_fit_", np.full_like(X, np.nan)),
        ("n_features_in_", 5),
        ("_fit_weights", np.ones(79)),
        ("_fit_weights", -np.ones(80)),
        ("_fold_errors", np.ones((79, 1))),
        ("_fold_errors", np.ones((80, 2))),
        ("feature_matrix_", np.full((4, 4), np.nan)),
    ],
)
def test_what_does_not_fit_together_is_refused(name, value, tmp_path):
    model = TreeNTKRegressor(alpha=1.0).fit(X, Y[:, 0])
    setattr(model, name, value)
    with pytest.raises(ValueError, match=f"{name}|encoder_"):
        save_model(model, tmp_path / "model")
