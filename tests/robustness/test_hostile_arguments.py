"""Arguments that once ended in other errors than ValueError and TypeError, in silence or never."""

import numpy as np
import pytest
from estimators import classifies, public_estimators, small
from scipy import sparse

from fctree import ObliqueTrees, SymmetricTrees, export_text, plot_regions, plot_tree
from fctree.inspection import ShapDisplay, compare_distilled, distill, shap_values
from fctree.kernels import empirical_tree_ntk, symmetric_tree_kernel, tree_ntk_matvec

ESTIMATORS = public_estimators()
X = np.random.default_rng(0).standard_normal((40, 3))
y = X[:, 0] + np.abs(X[:, 1])


def fitted(name, **parameters):
    cls = ESTIMATORS[name]
    return small(cls, **parameters).fit(X, y > 0.5 if classifies(cls) else y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_targets_that_are_sparse_and_integers_beyond_float64(name):
    model = small(ESTIMATORS[name])
    with pytest.raises((TypeError, ValueError), match="[Ss]parse"):
        model.fit(X, sparse.csr_matrix(y[:, np.newaxis]))
    huge = [[10**400, 0, 1]] * 40
    for categories in (None, "from_dtype"):
        with pytest.raises(ValueError, match="too large"):
            small(ESTIMATORS[name], categorical_features=categories).fit(np.array(huge, object), y > 0)
    if not classifies(ESTIMATORS[name]):
        with pytest.raises(ValueError, match="too large"):
            model.fit(X, [10**400, 1] * 20)


def test_parameters_of_no_axis_or_beyond_float64():
    with pytest.raises(ValueError, match="monotonic_cst"):
        fitted("SymmetricBoostingRegressor", monotonic_cst=np.array(1))
    for name in ("TreeNTKRegressor", "TreeNTKClassifier"):
        with pytest.raises(ValueError, match="alpha"):
            fitted(name, alpha=10**400)


def test_trees_that_are_too_large(monkeypatch):
    """Names and explicit trees, before anything is computed."""
    perfect, chain = 0, 0
    for _ in range(17):
        perfect = perfect, perfect
    for _ in range(60_000):
        chain = 0, chain
    for architecture, match in (
        (perfect, "more than 65536 leaves"), ({17: 2**17}, "more than 65536 leaves"), (chain, "1,800,090,000 splits")
    ):
        with pytest.raises(ValueError, match=match):
            empirical_tree_ntk(X, n_trees=1, architecture=architecture)
    with pytest.raises(ValueError, match="splits, more than"):
        empirical_tree_ntk(X, n_trees=1, architecture="decision_list", depth=5000)
    monkeypatch.setattr("fctree._memory.available_memory", lambda: 10**5)
    with pytest.raises(MemoryError, match="lower n_trees or depth"):
        fitted("SoftTreeRegressor", n_trees=10**6)
    with pytest.raises(MemoryError, match="some rows of X"):
        symmetric_tree_kernel(np.zeros((200, 1)), bin_thresholds=[[0.5]])


def test_no_classes():
    with pytest.raises(ValueError, match="classes is empty"):
        small(ESTIMATORS["SoftTreeClassifier"]).partial_fit(X, y > 0, np.zeros((40, 0)))


@pytest.mark.parametrize("name", ["SymmetricBoostingRegressor", "CurvatureForestRegressor"])
def test_trees_that_there_are_not(name):
    trees = fitted(name).trees_
    for parts in ([trees, "trees"], [3], "ab"):
        with pytest.raises(TypeError, match="parts"):
            type(trees).concatenate(parts)
    with pytest.raises(ValueError, match="no trees"):
        type(trees).concatenate([])
    assert isinstance(trees, (SymmetricTrees, ObliqueTrees))
    beyond = trees.with_depth if isinstance(trees, SymmetricTrees) else trees.first
    for number in (-1, 10**6, 2**70):
        with pytest.raises(ValueError):
            beyond(number)
    with pytest.raises(TypeError):
        beyond(1.5)


def test_teachers_and_pairs_that_are_none():
    with pytest.raises(TypeError, match="predict"):
        distill("teacher", X)
    teacher = fitted("CurvatureForestRegressor")
    tree = distill(teacher, X, n_points=0)
    for pair in ((X,), (X, y, y), X, 3):
        with pytest.raises(ValueError, match="pair"):
            compare_distilled(tree, teacher, X, y, pair)
    with pytest.raises(TypeError, match="tree must"):
        compare_distilled(None, teacher, X, y, (X, y))


def test_pictures_of_what_cannot_be_drawn():
    tree, forest = fitted("CurvatureTreeRegressor"), fitted("CurvatureForestRegressor")
    for ax in (0.5, "ax", np):
        with pytest.raises(TypeError, match="ax must be"):
            plot_tree(tree, ax=ax)
        with pytest.raises(TypeError, match="ax must be"):
            plot_regions(forest, X=X, features=[0, 1], ax=ax)
        with pytest.raises(TypeError, match="ax must be"):
            ShapDisplay(shap_values(forest, X[:3], X)).plot(ax=ax)
    for draw in (plot_tree, export_text):
        with pytest.raises(ValueError, match="decimals"):
            draw(tree, decimals=10**6)
    for rows in (X[0], X[:, :2], X[:0]):
        with pytest.raises(ValueError, match="X must have the shape"):
            plot_regions(forest, X=rows, features=[0, 1])
    plot_tree(tree, feature_names=["x" * 10**5, "$" * 10**5, "\n" * 10**5])  # measured letter by letter once


def test_what_is_not_finite_warns():
    with pytest.warns(RuntimeWarning, match="intervals are infinite"):
        assert np.isinf(fitted("CurvatureTreeRegressor").predict_interval(X, 1 - 1e-9)).all()
    with pytest.warns(RuntimeWarning, match="not finite"):
        tree_ntk_matvec(X, None, np.full(40, 1e308))
    with pytest.warns(RuntimeWarning, match="not finite"):
        empirical_tree_ntk(1e300 * X, n_trees=2, random_state=0)


@pytest.mark.parametrize("draw", [plot_regions, plot_tree, export_text])
@pytest.mark.parametrize("name", ["SoftTreeRegressor", "TreeNTKRegressor"])
def test_pictures_of_what_has_no_oblique_trees_name_what_has(draw, name):
    model = fitted(name)
    with pytest.raises(TypeError, match=rf"CurvatureTree\* or FCODT\*.*got a {name}.*SymmetricBoosting\*"):
        draw(model)
