"""Equal values from shap's TreeExplainer on equal trees, and its plots' input."""

import numpy as np
import pandas as pd
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.inspection import shap_values
from fctree.symmetric.trees import SymmetricTrees

shap = pytest.importorskip("shap")

RNG = np.random.default_rng(0)
# Numbers that float32 holds, as TreeExplainer keeps thresholds, values of leaves and samples in it.
X = RNG.standard_normal((300, 6)).astype(np.float32).astype(np.float64)
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


def in_single_precision(trees):
    arrays = dict(vars(trees))
    for name in ("split_threshold", "leaf_values"):
        arrays[name] = arrays[name].astype(np.float32).astype(np.float64)
    return SymmetricTrees(**arrays)


def as_shap_trees(trees, background):
    """Trees as shap's dictionaries: nodes breadth-first, weighted by the background."""
    out = []
    for tree in trees:
        n_levels = int((tree.split_feature[0] >= 0).sum())
        n_inner, n_leaves = 2**n_levels - 1, 2**n_levels
        number = np.arange(n_inner + n_leaves)
        left = np.where(number < n_inner, 2 * number + 1, -1)
        level = np.floor(np.log2(number[:n_inner] + 1)).astype(int)
        counts = np.bincount(tree.apply(background)[:, 0], minlength=2**tree.depth)
        step = 2 ** (tree.depth - n_levels)
        weights = np.zeros(len(number))
        weights[n_inner:] = counts[::step]
        for node in range(n_inner - 1, -1, -1):
            weights[node] = weights[2 * node + 1] + weights[2 * node + 2]
        values = np.zeros((len(number), 1))
        values[n_inner:] = tree.leaf_values[0, ::step]
        features, thresholds = np.zeros(len(number), dtype=int), np.zeros(len(number))
        features[:n_inner] = tree.split_feature[0][level]
        thresholds[:n_inner] = tree.split_threshold[0][level]
        out.append({
            "children_left": left, "children_right": np.where(left >= 0, left + 1, -1),
            "children_default": left, "features": features, "thresholds": thresholds,
            "values": values, "node_sample_weight": weights,
        })  # fmt: skip
    return {"trees": out}


def equal_models(method, background):
    model = SymmetricBoostingRegressor(max_iter=60, max_depth=3, random_state=0)
    trees = in_single_precision(model.fit(X, np.sin(X).sum(axis=1)).trees_)
    if method == "path_dependent":  # TreeExplainer refuses leaves without weight
        leaves = trees.apply(background)
        trees = trees[[len(np.unique(column)) == 2**trees.depth for column in leaves.T]]
    assert len(trees) > 5
    model.trees_ = trees
    known = {"data": background, "feature_perturbation": "interventional"}
    if method == "path_dependent":
        known = {"feature_perturbation": "tree_path_dependent"}
    return model, shap.TreeExplainer(as_shap_trees(model.trees_, background), **known)


@pytest.mark.parametrize("method", ["interventional", "path_dependent"])
def test_values_are_those_of_tree_explainer(method):
    background = X[:90] if method == "interventional" else X
    model, explainer = equal_models(method, background)
    found = shap_values(model, X[:50], background, method=method)
    expected = explainer.shap_values(X[:50], check_additivity=False)
    # A float32's rounding: TreeExplainer divides by weights in single precision.
    assert np.abs(found.values - expected.reshape(found.values.shape)).max() < 1e-6


def test_explanations_for_plots():
    model = SymmetricBoostingClassifier(max_iter=5, random_state=0).fit(X, np.digitize(Y, [-1, 1]))
    result = shap_values(model, X[:7])
    explanation = result.to_shap()
    assert explanation.shape == (7, 6, 3)
    assert explanation.base_values.shape == (7, 3)
    np.testing.assert_array_equal(explanation[..., 1].values, result.values[:, :, 1])
    assert list(explanation.feature_names) == result.feature_names
    single = shap_values(SymmetricBoostingRegressor(max_iter=5).fit(X, Y), X[:7]).to_shap()
    assert single.base_values.shape == (7,)


def test_missing_text_in_plots():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    frame = pd.DataFrame({"city": RNG.choice(np.array(["oslo", "rome", None]), 300), "x": X[:, 0]})
    result = shap_values(SymmetricBoostingRegressor(max_iter=5).fit(frame, Y), frame[:60])
    explanation = result.to_shap()
    assert set(explanation.data[:, 0]) == {"oslo", "rome", "missing"}
    assert any(value is None or value != value for value in result.data[:, 0])
    shap.plots.scatter(explanation[:, "city"], show=False)
    pyplot.close("all")
