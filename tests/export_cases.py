"""Models to export, and rows to compare predictions on."""

import numpy as np
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

REGRESSORS = {
    "symmetric": SymmetricBoostingRegressor(max_iter=30, random_state=0),
    "symmetric, deep": SymmetricBoostingRegressor(max_iter=3, max_depth=10, min_samples_leaf=40),
    "symmetric, log link": SymmetricBoostingRegressor(max_iter=20, max_depth=3, loss="poisson"),
    "symmetric, no tree": SymmetricBoostingRegressor(
        learning_rate=1e6, early_stopping=True, n_iter_no_change=1, max_iter=2, random_state=0
    ),
    "tree": CurvatureTreeRegressor(),
    "tree, one leaf": CurvatureTreeRegressor(max_depth=0),
    "tree, constant leaves": CurvatureTreeRegressor(leaf_model="constant"),
    "tree, axes": CurvatureTreeRegressor(directions="axis", leaf_model="constant"),
    "fcodt": FCODTRegressor(min_samples_leaf=20),
    "boosting": CurvatureBoostingRegressor(max_iter=30, random_state=0),
    "boosting, no bounds": CurvatureBoostingRegressor(
        max_iter=10, extrapolation=None, max_coef=2, loss="gamma", random_state=0
    ),
    "forest": CurvatureForestRegressor(n_estimators=10, random_state=0),
    "soft": SoftTreeRegressor(max_epochs=5, random_state=0),
    "soft, logistic": SoftTreeRegressor(max_epochs=5, routing="logistic", depth=1, random_state=0),
    "soft, list": SoftTreeRegressor(
        max_epochs=5, architecture="decision_list", depth=6, random_state=0
    ),
    "soft, any tree": SoftTreeRegressor(
        max_epochs=5, architecture=((0, (0, 0)), ((0, (0, 0)), 0)), random_state=0
    ),
    "soft, erf": SoftTreeRegressor(
        max_epochs=5, routing="erf", batch_norm=False, fit_intercept=False, random_state=0
    ),
}
CLASSIFIERS = {
    "symmetric": SymmetricBoostingClassifier(max_iter=20, random_state=0),
    "tree": CurvatureTreeClassifier(),
    "tree, constant leaves": CurvatureTreeClassifier(leaf_model="constant"),
    "fcodt": FCODTClassifier(min_samples_leaf=10),
    "boosting": CurvatureBoostingClassifier(max_iter=10, random_state=0),
    "forest": CurvatureForestClassifier(n_estimators=10, random_state=0),
    "soft": SoftTreeClassifier(max_epochs=5, random_state=0),
}
OF_SEVERAL_OUTPUTS = [name for name in REGRESSORS if "no" not in name and "log link" not in name]
CLASSES = {
    "one class": lambda: (load_iris().data, np.zeros(150, dtype=int)),
    "two classes": lambda: load_breast_cancer(return_X_y=True),
    "three classes": lambda: (load_iris().data, np.array(["a", "b", "c"])[load_iris().target]),
}


def regression(n_outputs=1):
    """Diabetes data, positive targets."""
    X, y = load_diabetes(return_X_y=True)
    return X, y if n_outputs == 1 else np.stack([y, X[:, 2] - y / 100, y**1.1], axis=1)


def soft_boundaries(kind):
    """A fitted tree with soft boundaries, and rows: one output, two outputs, or a number of classes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(600, 4))
    y = np.logaddexp(0.0, 4.0 * X[:, 0]) + np.tanh(3.0 * X[:, 1]) + 0.05 * rng.standard_normal(600)
    radius = X[:, 0] ** 2 + X[:, 1] ** 2
    targets = {
        "one output": y,
        "two outputs": np.stack([y, X[:, 0] - y], axis=1),
        "two classes": (radius > 0.6).astype(int),
        "three classes": np.digitize(radius, [0.3, 0.8]),
    }
    tree = CurvatureTreeClassifier if "classes" in kind else CurvatureTreeRegressor
    model = tree(leaf_model="soft", max_depth=2).fit(X, targets[kind])
    assert model.tree_.boundary_width is not None
    return model, rows_near(X, missing=True) * rng.choice([1.0, 100.0], size=(600, 1))


SOFT_BOUNDARIES = ("one output", "two outputs", "two classes", "three classes")


def overflowing(X):
    """Rows of which one column makes the scores of linear models infinite."""
    return np.where(np.arange(len(X))[:, np.newaxis] % (2 * X.shape[1]) == np.arange(X.shape[1]), [[1.7e308]], X)


def rows_near(X, missing=False):
    """Rows that no threshold was made of: a projection that equals its threshold but for rounding may
    go either way."""
    rng = np.random.default_rng(1)
    rows = X * (1.0 + 0.1 * rng.standard_normal(X.shape))
    if missing:
        rows[::3, 1] = rows[::4, 0] = np.nan
    return rows


def predictions(model, X):
    """Probabilities, or predictions as columns."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.predict(X).reshape(len(X), -1)


def categories(seed=0, strange=False):
    """A pandas frame with categories of text and numbers and missing values, and targets."""
    import pandas as pd

    rng, n = np.random.default_rng(seed), 400
    city = rng.integers(0, 10, n)
    code = rng.integers(0, 12, n).astype(float)
    frame = pd.DataFrame({
        "city": np.array(list("abcdefghij"), dtype=object)[city],
        "sex": np.array(["m", "f"], dtype=object)[rng.integers(0, 2, n)],
        "x": rng.standard_normal(n),
        "code": code,
        "empty": np.full(n, np.nan),
    })  # fmt: skip
    y = city * (code % 3) + frame["x"].to_numpy() + 0.1 * rng.standard_normal(n)
    for column in ("city", "x", "code"):
        frame.loc[rng.random(n) < 0.1, column] = None
    if strange:
        for column, value in (("city", "z"), ("sex", None), ("code", 99.0), ("empty", 3.0)):
            frame.loc[rng.random(n) < 0.1, column] = value
    return frame, y


def on_edges():
    """A pandas frame of a category that decides the slope of a whole number, and targets: the pair's edges are such numbers."""
    import pandas as pd

    rng = np.random.default_rng(0)
    place, x = rng.integers(0, 12, 600), rng.integers(0, 10, 600).astype(float)
    y = np.where(place % 2, 2.0, -2.0) * x + 0.1 * rng.standard_normal(600)
    return pd.DataFrame({"place": np.array(list("abcdefghijkl"), dtype=object)[place], "x": x}), y


CATEGORICAL = ["city", "sex", "code"]
