"""Printed trees predict as the trees do, and text and pictures agree on numbers."""

import re

import fctree
import numpy as np
import pytest
from fctree import export_text, plot_tree
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import r2_score

NUMBER = r"[-+]?[0-9.]+(?:e[-+]?\d+)?"


def printed_sum(text, X):
    """Values of ``3.1 - 0.2*x0 + x1`` for all rows."""
    terms = re.findall(rf"({NUMBER})(?:\*x(\d+))?", re.sub(r" ([+-]) ", r" \1", text))
    return sum(float(number) * (X[:, int(j)] if j else 1.0) for number, j in terms)


def printed_tree(text, X):
    """Predictions and leaves of a regression tree by its text alone."""
    prediction, leaf = np.zeros(len(X)), np.full(len(X), -1)
    path = []  # rows of the branches above the current line
    for line in text.split("\n"):
        depth, rest = line.count("|"), re.sub(r"  \[n=.*", "", line)
        if "y = " in rest:
            prediction[rows] = printed_sum(rest.split("y = ")[1], X[rows])
            continue
        del path[depth:]
        rows = np.ones(len(X), bool)
        if path:
            left = path[-1][1]
            rows = path[-1][0] & (left if "yes:" in rest else ~left)
        if "node" in rest:
            total, threshold = re.sub(r".*node \d+: ", "", rest).split(" <= ")
            path.append((rows, printed_sum(total, X) <= float(threshold)))
        else:
            number, value = re.search(rf"leaf (\d+): ({NUMBER})", rest).groups()
            prediction[rows], leaf[rows] = float(value), int(number)
    return prediction, leaf


def table(name):
    n, rng = 2000, np.random.default_rng(0)
    day = rng.integers(18000, 20000, n).astype(float)
    noise = 0.1 * rng.normal(size=n)
    if name == "days":
        return day[:, None], np.abs(day - 19000) / 300 + noise
    if name == "seconds and incomes":
        return np.c_[day * 86400, rng.lognormal(15, 1, n)], np.abs(day - 19000) / 100 + noise
    if name == "small":
        X = np.c_[rng.uniform(0.001, 0.04, n), rng.uniform(6, 8, n)]
        return X, np.where(X[:, 0] > 0.0149, 3e-4, 1e-4) + 1e-4 * X[:, 1]
    X = rng.normal(size=(n, 3)) + np.array([20.0, -700.0, 1.0])
    return X, np.abs(X[:, 0] - 20) - (X[:, 1] + 700) * X[:, 2] + noise


@pytest.mark.parametrize("name", ["days", "seconds and incomes", "small", "offsets"])
@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
def test_printed_trees_predict_as_trees_do(name, leaf_model):
    X, y = table(name)
    tree = fctree.CurvatureTreeRegressor(max_depth=3, leaf_model=leaf_model).fit(X, y)
    for decimals, share, error in ((3, 0.005, 0.002), (2, 0.02, 0.01)):
        prediction, leaf = printed_tree(export_text(tree, max_coef=None, decimals=decimals), X)
        same = leaf == tree.apply(X)
        assert np.mean(~same) <= share
        assert np.sqrt(np.mean((prediction - tree.predict(X))[same] ** 2)) <= error * y.std()
        assert r2_score(y, prediction) > tree.score(X, y) - 3 * error


def test_ordinary_numbers_stay_short():
    X = np.random.default_rng(1).normal(size=(500, 3))
    y = 40.0 * np.abs(X @ [1.0, 2.0, -1.0]) + X[:, 0]
    text = export_text(fctree.CurvatureTreeRegressor(max_depth=2).fit(X, y))
    numbers = re.findall(rf" ({NUMBER})(?:\*| |$)", text)
    assert max(len(number.partition(".")[2]) for number in numbers) <= 5
    assert "1.0000" not in export_text(fctree.CurvatureTreeRegressor(max_depth=1).fit(X[:, :1], X[:, 0] > 0.3))


def test_no_decimals():
    X, y = table("days")
    for model in (fctree.CurvatureTreeRegressor(max_depth=1), fctree.CurvatureForestRegressor(n_estimators=2, max_depth=1, random_state=0)):
        text = export_text(model.fit(X, y), decimals=0, tree=0 if hasattr(model, "n_estimators") else None)
        assert not re.search(r"\d\.(?!\d)", text)


def test_large_thresholds_of_ensembles():
    X, y = table("seconds and incomes")
    model = fctree.SymmetricBoostingRegressor(max_iter=1, max_depth=1, random_state=0).fit(X, y)
    threshold = float(re.search(r"<= (\S+)", export_text(model, tree=0)).group(1))
    assert np.mean((X[:, 0] <= threshold) != (X[:, 0] <= model.trees_.split_threshold[0, 0])) < 0.001


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_pictures_have_the_thresholds_of_the_text():
    pytest.importorskip("matplotlib")
    X, y = table("small")
    tree = fctree.CurvatureTreeRegressor(max_depth=1).fit(X, y)
    threshold = re.search(r"<= (\S+)", export_text(tree, decimals=2)).group(1)
    assert f"\N{LESS-THAN OR EQUAL TO} {threshold}" in texts(plot_tree(tree))


@pytest.mark.parametrize("kind", [fctree.CurvatureTreeClassifier, fctree.FCODTClassifier])
def test_pictures_of_two_classes_have_the_intercepts_of_the_text(kind):
    pytest.importorskip("matplotlib")
    X, y = load_breast_cancer(return_X_y=True)
    tree = kind(max_depth=1).fit(X[:, :3], y)
    written = re.findall(r"score\(1\) = (\S+)", export_text(tree, decimals=2))
    assert len(written) == 2
    assert [text[10:] for text in texts(plot_tree(tree)) if text.startswith("intercept ")] == written
    row = np.zeros((1, 3))
    leaf = int(tree.apply(row)[0])
    assert float(written[leaf - 1]) == pytest.approx(tree.decision_function(row)[0], abs=0.01)


def test_pictures_of_more_classes_tell_linear_leaves():
    pytest.importorskip("matplotlib")
    X, y = load_iris(return_X_y=True)
    for leaf_model, n in (("ridge", 2), ("constant", 0)):
        tree = fctree.CurvatureTreeClassifier(max_depth=1, leaf_model=leaf_model).fit(X, y)
        assert texts(plot_tree(tree)).count("linear scores") == n


def test_a_constant_leaf_has_one_number():
    pytest.importorskip("matplotlib")
    X = np.random.default_rng(1).normal(size=(300, 2))
    model = fctree.CurvatureBoostingClassifier(max_iter=2, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    tree = model.trees_[0]
    text = export_text(model, tree=0)
    constant = [row for row in range(tree.n_leaves) if not np.any(tree.leaf_coef[row])]
    assert constant
    for node in np.flatnonzero(np.isin(tree.leaf_index, constant)):
        line, _, below = re.search(rf"leaf {node}: (\S+) .*(\n(.*)|$)", text).groups()
        assert float(line) == pytest.approx(tree.leaf_intercept[tree.leaf_index[node], 0], abs=1e-3)
        assert "y = " not in (below or "")
    assert len([t for t in texts(plot_tree(model, tree=0)) if "intercept" in t]) == tree.n_leaves - len(constant)
