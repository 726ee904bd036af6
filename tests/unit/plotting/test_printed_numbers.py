"""Printed trees predict as the trees do, and text and pictures agree on numbers."""

import re

import fctree
import numpy as np
import pandas as pd
import pytest
from fctree import export_text, plot_tree
from fctree._scored_trees import ScoredTrees, drawn_tree
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import r2_score
from table_cases import CLASSIFIERS, REGRESSORS, as_pandas, mixed_columns

NUMBER = r"[-+]?[0-9.]+(?:e[-+]?\d+)?"


def printed_sum(text, X):
    """Values of ``3.1 - 0.2*x0 + x1`` for all rows of a frame."""
    terms = re.findall(rf"({NUMBER})(?:\*(.+?))?(?: (?=[-+]\d)|$)", re.sub(r" ([+-]) (?=\d)", r" \1", text))
    return sum(float(number) * (X[name].to_numpy() if name else 1.0) for number, name in terms)


def printed_tree(text, X):
    """Predictions, or scores of the last class, and leaves by the text of a tree alone."""
    X = pd.DataFrame(X).rename(columns=lambda name: name if isinstance(name, str) else f"x{name}")
    prediction, leaf = np.zeros(len(X)), np.full(len(X), -1)
    path = []  # rows of the branches above the current line
    for line in text.split("\n"):
        depth, rest = line.count("|"), re.sub(r"  \[.*", "", line)
        model = re.search(r"\b(?:y|score\(.*?\)) = (.*)", rest)
        if not model and "node" not in rest and "leaf" not in rest:  # the values of features
            break
        if model:
            prediction[rows] = printed_sum(model.group(1), X[rows])
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
            number, value = re.search(rf"leaf (\d+): .*?({NUMBER})\)?$", rest).groups()
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


def test_numbers_whose_products_overflow():
    X = 1e-150 * np.random.default_rng(0).normal(size=(60, 2))
    y = np.abs(1e150 * X[:, 0])
    tree = fctree.CurvatureTreeRegressor(min_samples_leaf=5, split_margin=0.0).fit(X, 1e150 * y)
    prediction, leaf = printed_tree(export_text(tree, max_coef=None, decimals=6), X)
    assert tree.tree_.node_count > 1 and np.all(leaf == tree.apply(X))
    np.testing.assert_allclose(prediction, tree.predict(X), rtol=1e-3, atol=1e146)


def test_leaves_without_a_bound():
    X, y = table("days")
    model = fctree.SymmetricBoostingRegressor(max_iter=1, max_depth=1, random_state=0).fit(X, y)
    model.trees_.leaf_values[0, 1] = np.inf
    assert re.search(r"leaf \d+: inf", export_text(model, tree=0))


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


def by_text(text, table, known):
    """Features of rows by the lines below a tree; ``known`` are the categories of its columns that training had."""
    lines = dict(re.findall(r"^([^|\n]+(?:\)|where \w+)): (.*)$", text, re.MULTILINE))
    features = {}
    for column, values in table.items():
        if column not in known:
            features[column] = values.fillna(float(lines.get(f"{column} where missing", "nan")))
            features[f"{column} is missing"] = 1.0 * values.isna()
            continue
        levels = values.fillna("missing")
        levels = levels.where(levels.isin(known[column]), "other")
        for kind in ("target mean", "mean effect", "share"):
            listed = dict(value.rsplit(" ", 1) for value in lines.get(f"{column} ({kind})", "other nan").split(", "))
            features[f"{column} ({kind})"] = levels.map(listed).astype(float)
        for level in known[column]:
            name = f"{column} is missing" if level == "missing" else f"{column} = {level}"
            features[name] = np.where(levels == "other", float(lines.get(f"{name} where unseen", "nan")), levels == level)
    return pd.DataFrame(features)


def gaps_and_news(with_missing):
    """A table to train on, rows to predict with missing and unseen values, and the categories of training."""
    columns, y = mixed_columns(n_samples=400, n_cities=3)
    train = as_pandas(columns).drop(columns="member")
    train["size"] = train["size"].replace("medium", "large")
    train["age"] = train["age"] if with_missing else train["age"].fillna(30.0)
    rows = train.copy()
    for place, (column, value) in enumerate([("city", None), ("size", None), ("city", "new"), ("size", "new")]):
        rows.loc[place::9, column] = value
    known = {column: train[column].fillna("missing").unique() for column in ("city", "size")}
    return train, rows, known, y


@pytest.mark.parametrize("name", ["tree", "fcodt", "forest", "boosting", "symmetric"])
@pytest.mark.parametrize("models", [REGRESSORS, CLASSIFIERS], ids=["regressor", "classifier"])
def test_printed_trees_of_tables_predict_gaps_and_news_as_trees_do(name, models):
    train, rows, known, y = gaps_and_news(name != "symmetric")
    model = clone(models[name]).fit(train, y if models is REGRESSORS else y > y.mean())
    features = ScoredTrees.of(model).features(rows)
    for number in (None,) if name in ("tree", "fcodt") else range(2):
        text = export_text(model, tree=number, max_coef=None, decimals=6)
        if number is None:
            expected = model.predict(rows) if models is REGRESSORS else model.decision_function(rows)
        else:
            expected = drawn_tree(model, number).predict(features)[:, 0]
        assert np.allclose(printed_tree(text, by_text(text, rows, known))[0], expected, atol=1e-4)


def test_only_features_that_a_tree_uses_are_listed():
    train, _, _, y = gaps_and_news(with_missing=True)
    tree = fctree.CurvatureTreeRegressor(max_depth=0).fit(train, y)
    text = export_text(tree, max_coef=None)
    assert re.search(r"\nage where missing: 39\.\d+\n", text) and re.search(r"\nsize = small where unseen: 0\.\d+$", text)
    assert "where" not in export_text(fctree.CurvatureTreeRegressor(max_depth=0, leaf_model="constant").fit(train, y))
    assert "age where" not in export_text(fctree.CurvatureTreeRegressor(max_depth=0).fit(train.fillna({"age": 30.0}), y))


def test_splits_that_a_soft_finish_has_moved_have_no_kind():
    X = np.random.default_rng(0).standard_normal((1000, 3))
    y = np.tanh(2 * X[:, 0]) * (1 + X[:, 1])
    tree = fctree.CurvatureTreeRegressor(max_depth=1).fit(X, y)
    assert "axis" in export_text(tree)
    soft = fctree.CurvatureTreeRegressor(max_depth=1, leaf_model="soft").fit(X, y)
    assert soft.tree_.boundary_width is not None and "axis" not in export_text(soft)
