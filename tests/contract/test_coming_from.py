"""The tables of docs/guide/coming_from.md name parameters, methods and functions that there are."""

import inspect
import re
from pathlib import Path

import pytest
import sklearn.compose
import sklearn.ensemble
import sklearn.gaussian_process.kernels
import sklearn.inspection
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.neural_network
import sklearn.preprocessing
import sklearn.svm
import sklearn.tree
from sklearn.utils.fixes import parse_version

import fctree
import fctree.export
import fctree.inspection
import fctree.kernels

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "coming_from.md"
HISTOGRAM, *OTHERS = (
    sklearn.ensemble, sklearn.tree, sklearn.linear_model, sklearn.kernel_ridge, sklearn.svm,
    sklearn.gaussian_process.kernels, sklearn.neural_network, sklearn.inspection, sklearn.preprocessing, sklearn.compose)  # fmt: skip
BOOSTERS = {
    "SymmetricBoosting": (fctree.SymmetricBoostingRegressor, fctree.SymmetricBoostingClassifier),
    "CurvatureBoosting": (fctree.CurvatureBoostingRegressor, fctree.CurvatureBoostingClassifier),
    "HistGradientBoosting": (HISTOGRAM.HistGradientBoostingRegressor, HISTOGRAM.HistGradientBoostingClassifier),
    "fctree": (fctree.SymmetricBoostingRegressor, fctree.SymmetricBoostingClassifier),
}
OF_FITTED_MODELS = {"feature_importances_", "tree_", "evals_result_", "n_iter_"}
ARGUMENTS = {"predict(X, return_std=True)": "return_std", 'compute_feature_importances("gain")': "kind"}
WITHOUT_A_NAME = {"fit", "joblib.dump", "feature", "gamma", "bootstrap_type", "depth"}


def tables():
    """(title of the column, text of a cell) of each cell of each table."""
    for table in re.findall(r"(?:^\|.*\n)+", PAGE.read_text(), flags=re.M):
        header, _, *rows = [re.split(r"\s*\|\s*", line.strip("|\n ")) for line in table.splitlines()]
        for row in rows:
            yield from zip(header, row)


CELLS = [cell for cell in tables() if re.search("`", cell[1])]


def names_of(estimators):
    """Parameters of the estimators and of what they are fitted by, and their methods."""
    found = set()
    for estimator in estimators:
        found |= {*inspect.signature(estimator).parameters, *inspect.signature(estimator.fit).parameters}
        found |= {name for name in dir(estimator) if not name.startswith("_")}
    return found


def public_names():
    return {name for module in (fctree, fctree.export, fctree.inspection, fctree.kernels) for name in module.__all__}


def test_there_are_tables():
    assert len(CELLS) > 100 and {title for title, _ in CELLS} >= {*BOOSTERS, "CatBoost", "LightGBM", "scikit-learn"}


@pytest.mark.parametrize("title", BOOSTERS)
def test_names_exist(title):
    """Those of a column without a value; of fctree's column in the tables of other programs too."""
    known = names_of(BOOSTERS[title]) | OF_FITTED_MODELS | set(ARGUMENTS)
    known |= {f"{loss}" for loss in ("huber", "tweedie")} if title == "SymmetricBoosting" else set()
    if title == "fctree":
        known |= public_names() | names_of([fctree.CurvatureBoostingRegressor, fctree.SoftTreeRegressor])
    if title == "HistGradientBoosting" and parse_version(sklearn.__version__) < parse_version("1.7"):
        known |= {"X_val", "y_val", "sample_weight_val"}
    spans = [span for cell_title, cell in CELLS if cell_title == title for span in re.findall(r"`([^`]+)`", cell)]
    assert len(spans) > 10
    for span in spans:
        if "=" not in span.partition("(")[0] and not span.startswith('"'):
            assert span in known | WITHOUT_A_NAME or span == "tree", span


def test_values_are_accepted():
    """`name=value` of fctree's columns; what a row's cell sets goes together."""
    for title, cell in CELLS:
        settings = re.findall(r'`(\w+)=("?[\w.]+"?)`', cell)
        if title != "fctree" or not settings:
            continue
        parameters = {name: eval(value) for name, value in settings}
        estimator = BOOSTERS["fctree"]["log_loss" in cell]
        estimator(max_iter=2, max_depth=2).set_params(**parameters).fit([[0.0], [1.0], [2.0], [3.0]] * 5, [1, 2, 3, 4] * 5)


@pytest.mark.parametrize("title", ["HistGradientBoosting", "SymmetricBoosting"])
def test_defaults_are_those_written(title):
    for cell_title, cell in CELLS:
        for name, value in re.findall(r"`(\w+)` \(([\w.\"]+)\)", cell if cell_title == title else ""):
            assert inspect.signature(BOOSTERS[title][0]).parameters[name].default == eval(value), name


def test_scikit_learn_has_the_names():
    for title, cell in CELLS:
        if title == "scikit-learn":
            for span in re.findall(r"`([A-Z]\w+)`", cell):
                assert any(hasattr(module, span) for module in (HISTOGRAM, *OTHERS)), span
