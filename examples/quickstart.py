"""Trees and boosting of fctree on simulated and real data, beside a CART tree, a linear model
and gradient boosting.

For Friedman's function of five of ten features, the usual test of non-linear regression, and
for each of scikit-learn's diabetes, breast cancer and digits data, prints the 5-fold
cross-validated score of every model, the size of its trees and the times to fit and to
predict, on one thread. Parameters are chosen on the training folds alone, by a grid
search, but for curvature trees, which need none, and boosted classifiers, which are slow
to search and keep scikit-learn's defaults.
Then one small tree is printed as text and saved as a picture.

    python examples/quickstart.py [--output fctree_tree.png]

Features are standardised for the models with a penalty: `alpha` acts on the coefficients,
so their features must be on one scale.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    export_text,
    plot_tree,
)

N_PREDICTED = 10_000  # samples for which the time to predict is taken
FCODT_GRID = {"max_depth": [1, 2, 4, 6], "alpha": [1.0, 10.0, 100.0]}
# Curvature trees choose their penalty and stop where more depth does not help: no search.
CURVATURE = {"alpha": "loo", "max_depth": 5}
CART_GRID = {"max_depth": [2, 3, 4, 8], "min_samples_leaf": [1, 20]}

REGRESSORS = {
    "FC-ODT": (FCODTRegressor(min_samples_leaf=20), FCODT_GRID),
    "curvature tree": (CurvatureTreeRegressor(**CURVATURE), {}),
    "curvature boosting": (
        CurvatureBoostingRegressor(max_iter=50, random_state=0),
        {"max_depth": [1, 3]},
    ),
    "SymmetricBoosting": (
        SymmetricBoostingRegressor(max_iter=50, random_state=0),
        {"max_depth": [2, 4]},
    ),
    "CART": (DecisionTreeRegressor(random_state=0), CART_GRID),
    "Ridge": (Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}),
    "HistGradientBoosting": (
        HistGradientBoostingRegressor(max_iter=50, random_state=0),
        {"max_leaf_nodes": [4, 16]},
    ),
}
CLASSIFIERS = {
    "FC-ODT": (FCODTClassifier(min_samples_leaf=20), FCODT_GRID),
    "curvature tree": (CurvatureTreeClassifier(**CURVATURE), {}),
    "curvature boosting": (CurvatureBoostingClassifier(max_iter=30, random_state=0), {}),
    "SymmetricBoosting": (SymmetricBoostingClassifier(random_state=0), {}),
    "CART": (DecisionTreeClassifier(random_state=0), CART_GRID),
    "LogisticRegression": (LogisticRegression(max_iter=200), {"C": [0.01, 0.1, 1.0]}),
    "HistGradientBoosting": (HistGradientBoostingClassifier(random_state=0), {}),
}


def friedman():
    X, y = make_friedman1(n_samples=1000, noise=1.0, random_state=0)
    return Bunch(data=X, target=y)


DATA_SETS = {
    "Friedman's function": (friedman, REGRESSORS, "R^2"),
    "diabetes": (load_diabetes, REGRESSORS, "R^2"),
    "breast cancer": (load_breast_cancer, CLASSIFIERS, "accuracy"),
    "digits": (load_digits, CLASSIFIERS, "accuracy"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--output", default="fctree_tree.png", help="where the picture of the tree goes"
    )
    output = parser.parse_args().output
    # One thread each: a comparison of methods, not of their parallel loops.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, (load, models, score_name) in DATA_SETS.items():
            compare(name, load(), models, score_name)
    show_tree(output)


def compare(name, data, models, score_name):
    """Print one data set's table."""
    X, y = data.data, data.target
    print(f"\n{name}: {X.shape[0]} samples, {X.shape[1]} features, 5-fold {score_name}")
    heading = f"{'model':<22}{score_name:>17}{'trees':>7}{'depth':>7}{'leaves':>8}"
    print(heading + f"{'fit [ms]':>10}{'predict 10k [ms]':>18}")
    print("-" * 89)
    for model_name, (estimator, grid) in models.items():
        folds = (StratifiedKFold if score_name == "accuracy" else KFold)(
            5, shuffle=True, random_state=0
        )
        results = [
            fit_and_score(estimator, grid, X, y, train, test)
            for train, test in folds.split(X, y)
        ]
        scores, sizes, fits, predicts = zip(*results)
        trees, depth, leaves = np.mean(sizes, axis=0)
        print(
            f"{model_name:<22}{np.mean(scores):>9.3f} +- {np.std(scores):<5.3f}"
            f"{number(trees):>6}{number(depth):>7}{number(leaves):>8}"
            f"{1e3 * np.median(fits):>10.1f}{1e3 * np.median(predicts):>18.2f}",
            flush=True,
        )


def fit_and_score(estimator, grid, X, y, train, test):
    """Score on the test fold, size, and seconds to fit and to predict."""
    model = make_pipeline(StandardScaler(), clone(estimator))
    if grid:
        prefix = type(estimator).__name__.lower()
        grid = {f"{prefix}__{name}": values for name, values in grid.items()}
        search = GridSearchCV(model, grid, cv=3, refit=False)
        model.set_params(**search.fit(X[train], y[train]).best_params_)
    fit_seconds = timed(model.fit, X[train], y[train])
    predict_seconds = timed(model.predict, np.resize(X, (N_PREDICTED, X.shape[1])))
    return model.score(X[test], y[test]), size_of(model[-1]), fit_seconds, predict_seconds


def timed(function, *arguments):
    """Seconds that a call takes."""
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def size_of(model):
    """Number of trees, their largest depth and number of leaves; NaN where unknown."""
    if hasattr(model, "get_n_leaves"):
        return 1, model.get_depth(), model.get_n_leaves()
    if isinstance(model, SymmetricBoostingRegressor | SymmetricBoostingClassifier):
        return model.n_iter_, model.max_depth, 2**model.max_depth
    if isinstance(model, CurvatureBoostingRegressor | CurvatureBoostingClassifier):
        return model.n_iter_, np.nan, np.nan
    if hasattr(model, "n_trees_per_iteration_"):
        return model.n_iter_ * model.n_trees_per_iteration_, np.nan, np.nan
    return 0, np.nan, np.nan


def number(mean):
    """A mean of counts, without digits that say nothing."""
    if np.isnan(mean):
        return "-"
    return f"{mean:.0f}" if mean == round(mean) or mean >= 100 else f"{mean:.1f}"


def show_tree(output):
    """Print a tree for the diabetes data and save its picture."""
    data = load_diabetes()
    X = StandardScaler().fit_transform(data.data)
    tree = FCODTRegressor(max_depth=2, alpha=10.0, min_samples_leaf=20).fit(X, data.target)
    print("\nA tree for the diabetes data (standardised features):\n")
    print(export_text(tree, feature_names=data.feature_names, decimals=1, max_coef=3))
    try:
        ax = plot_tree(tree, feature_names=data.feature_names, decimals=1)
    except ImportError as error:
        print(f"\nNo picture: {error}")
        return
    ax.figure.savefig(output, dpi=150)
    print(f"\nIts picture is in {output}")


if __name__ == "__main__":
    main()
