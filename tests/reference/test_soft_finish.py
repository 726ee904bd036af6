"""The soft finish of a curvature tree against literal formulas and its laws."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    export_text,
    load_model,
    save_model,
)
from fctree.inspection import shap_values
from fctree.oblique.class_scores import class_indicators
from fctree.oblique.soft_finish import SoftFinish, recounted, soften
from fctree.plotting import plot_regions
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.datasets import make_friedman1


def bent(n=240, d=4, n_outputs=1, seed=0):
    """Samples of smooth bends with noise, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 20.0, 0.05, 1.0][:d] + [0.0, 100.0, 0.0, 3.0][:d]
    y = np.column_stack([np.logaddexp(0.0, 3.0 * X[:, 0]) + X[:, 2], np.tanh(X[:, 0] - X[:, 3] + 3)])
    y += 0.1 * rng.normal(size=y.shape)
    return X, y[:, 0] if n_outputs == 1 else y, rng.uniform(0.2, 2.0, n)


def soft_tree(X, y, weight=None, **parameters):
    parameters = {"max_depth": 2, "min_samples_leaf": 20, "leaf_model": "soft"} | parameters
    model = CurvatureTreeRegressor(**parameters).fit(X, y, sample_weight=weight)
    assert model.tree_.boundary_width is not None
    return model


def literal_prediction(tree, x, node=0):
    """One sample's prediction by the definition."""
    if tree.children_left[node] < 0:
        row = tree.leaf_index[node]
        return tree.leaf_coef[row] @ x + tree.leaf_intercept[row]
    away = (tree.coef[node] @ x - tree.threshold[node]) / tree.boundary_width[node]
    left, right = (literal_prediction(tree, x, child[node])
                   for child in (tree.children_left, tree.children_right))
    share = 1.0 / (1.0 + np.exp(away))
    return share * left + (1.0 - share) * right


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_prediction_is_the_mixture(n_outputs):
    X, y, weight = bent(n_outputs=n_outputs)
    model = soft_tree(X, y, weight)
    expected = np.array([literal_prediction(model.tree_, x) for x in X])
    assert_allclose(model.predict(X).reshape(len(X), -1), expected, rtol=1e-10)


def problem(n_outputs, keep_zeros=False):
    X, y, weight = bent(n_outputs=n_outputs)
    tree = CurvatureTreeRegressor(max_depth=2, split_margin=0.0).fit(X, y, sample_weight=weight).tree_
    assert tree.node_count > 3
    finish = SoftFinish(tree, X, y.reshape(len(X), -1), weight, keep_zeros)
    moved = finish.start + 0.1 * np.random.default_rng(1).normal(size=finish.start.shape)
    return finish, moved


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_gradient(n_outputs):
    finish, variables = problem(n_outputs)
    numeric = approx_fprime(variables, lambda v: finish.objective(v)[0], 1e-7)
    assert_allclose(finish.objective(variables)[1], numeric, atol=1e-5)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_tree_predicts_what_was_optimised(n_outputs):
    finish, variables = problem(n_outputs)
    error = (finish.tree_of(variables).predict(finish.X) - finish.target_mean) / finish.target_scale
    error -= finish.targets
    moved = variables - finish.start
    loss = (finish.weight @ error**2).sum() / finish.total + finish.penalty @ moved**2
    assert_allclose(finish.objective(variables)[0], loss, rtol=1e-10)


def test_leave_one_out_is_the_linearised_models():
    finish, variables = problem(1)
    def predictions(v):
        return finish.tree_of(v).predict(finish.X)[:, 0] / finish.target_scale
    jacobian = np.array([
        (predictions(variables + step) - predictions(variables - step)) / 2e-5
        for step in 1e-5 * np.eye(len(variables))
    ]).T
    gram = jacobian.T @ (jacobian * finish.weight[:, None]) + np.diag(finish.penalty * finish.total)
    leverage = np.einsum("ij,ji->i", jacobian, np.linalg.solve(gram, jacobian.T))
    leverage *= np.minimum(finish.weight, 1.0)
    y = finish.targets[:, 0] * finish.target_scale + finish.target_mean
    error = y - finish.tree_of(variables).predict(finish.X)[:, 0]
    assert_allclose(finish.left_out(variables)[:, 0], y - error / (1.0 - leverage), rtol=1e-5)


def test_optimisation_lowers_the_loss():
    finish, _ = problem(1)
    assert finish.objective(finish.minimise())[0] < finish.objective(finish.start)[0]


def test_kept_only_where_the_left_out_error_falls():
    X, y, _ = bent()
    tree = CurvatureTreeRegressor(max_depth=2).fit(X, y).tree_
    unbeatable = y[:, None].copy()
    assert soften(tree, X, y[:, None], None, unbeatable, keep_zeros=False) is tree
    assert_array_equal(unbeatable, y[:, None])
    hopeless = np.full((len(y), 1), 1e3)
    assert soften(tree, X, y[:, None], None, hopeless, keep_zeros=False) is not tree
    assert np.abs(hopeless).max() < 1e3


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_nodes_describe_the_samples_that_follow_the_larger_share(n_classes):
    X, y, weight = bent()
    weight[::5] = 0.0
    if n_classes == 1:
        tree, targets = soft_tree(X, y, weight).tree_, y[:, np.newaxis]
    else:
        labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        hard = CurvatureTreeClassifier(max_depth=2, split_margin=0.0).fit(X, labels, sample_weight=weight).tree_
        finish = SoftFinish(hard, X, class_indicators(labels, n_classes), weight, False)
        moved = finish.start + np.random.default_rng(1).normal(size=finish.start.shape)
        tree = recounted(finish.tree_of(moved), X, finish.targets * finish.target_scale + finish.target_mean, weight)
        targets = np.eye(n_classes)[labels]
    inside = tree.decision_path(X).toarray()
    assert tree.node_count > 3
    assert_array_equal(tree.n_node_samples, inside[weight > 0].sum(axis=0))
    assert_allclose(tree.weighted_n_node_samples, weight @ inside, rtol=1e-12)
    for node in np.flatnonzero(tree.n_node_samples):
        share = weight * inside[:, node] / tree.weighted_n_node_samples[node]
        assert_allclose(tree.value[node].ravel(), share @ targets, atol=1e-12)
        assert_allclose(tree.impurity[node], (share @ (targets - share @ targets) ** 2).sum(), atol=1e-9)


def test_one_leaf_stays():
    X, y, _ = bent()
    soft, hard = (CurvatureTreeRegressor(max_depth=0, leaf_model=kind).fit(X, y)
                  for kind in ("soft", "ridge"))
    assert_array_equal(soft.predict(X), hard.predict(X))


@pytest.mark.parametrize("max_coef", [1, 2])
def test_max_coef_holds(max_coef):
    X, y, _ = bent(n=600)
    tree = soft_tree(X, y, max_coef=max_coef).tree_
    assert (tree.coef[tree.children_left >= 0] != 0.0).sum(axis=1).max() <= max_coef


def test_units_do_not_matter():
    X, y, _ = bent()
    scaled = X * [8.0, 0.5, 4.0, 1.0]
    # Concatenated scores are in the units of y, so that ridge penalties depend on them.
    first = soft_tree(X, y, feature_concatenation=False)
    second = soft_tree(scaled, 1024.0 * y, feature_concatenation=False)
    assert_allclose(second.predict(scaled) / 1024.0, first.predict(X), rtol=1e-6)


def test_a_sample_of_weight_0_is_none():
    X, y, weight = bent(n=600)
    weight[::3] = 0.0
    kept = weight > 0.0
    expected = soft_tree(X[kept], y[kept], weight[kept]).predict(X)
    assert_allclose(soft_tree(X, y, weight).predict(X), expected, rtol=1e-3)


def test_same_bytes_for_any_threads():
    X, y, _ = bent(n=5000)
    models = [soft_tree(X, y, n_jobs=n) for n in (1, 3)]
    for name, value in vars(models[0].tree_).items():
        assert_array_equal(value, getattr(models[1].tree_, name))
    assert_array_equal(*(model.predict(X) for model in models))


def test_better_on_a_smooth_truth():
    X, y, _ = bent(n=3000)
    hard = CurvatureTreeRegressor(max_depth=2).fit(X[:1500], y[:1500])
    assert soft_tree(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > hard.score(X[1500:], y[1500:])


def hard_and_soft(X, y):
    return (CurvatureTreeClassifier(max_depth=2, leaf_model=kind).fit(X, y) for kind in ("ridge", "soft"))


def test_classes_of_smooth_steps_are_left_to_logistic_leaves():
    X, y, _ = bent(n=8000)
    hard, soft = hard_and_soft(X, np.digitize(y, np.quantile(y, [0.33, 0.67])))
    assert soft.tree_.boundary_width is None
    assert_array_equal(soft.predict_proba(X), hard.predict_proba(X))


def test_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.digitize(np.sin(2 * X[:, 0] + X[:, 1]) + 0.2 * rng.normal(size=len(X)), [-0.3, 0.3])
    train = np.arange(len(y)) % 2 > 0
    hard, soft = hard_and_soft(X[train], y[train])
    assert soft.tree_.boundary_width is not None
    assert soft.score(X[~train], y[~train]) > hard.score(X[~train], y[~train])
    probabilities = soft.predict_proba(X[~train])
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(soft.classes_[probabilities.argmax(axis=1)], soft.predict(X[~train]))


def test_intervals_cover():
    X, y, _ = bent(n=4000)
    model = soft_tree(X[:2000], y[:2000])
    low, high = model.predict_interval(X[2000:], confidence_level=0.9).T
    assert 0.87 < np.mean((low <= y[2000:]) & (y[2000:] <= high)) < 0.94


def test_model_file(tmp_path):
    X, y, _ = bent()
    model = soft_tree(X, y)
    save_model(model, tmp_path / "soft.fct")
    assert_array_equal(load_model(tmp_path / "soft.fct").predict(X), model.predict(X))


def test_text_has_the_widths():
    X, y, _ = bent()
    model = soft_tree(X, y)
    assert f"± {model.tree_.boundary_width[0]:.3f}" in export_text(model)


def test_what_needs_hard_splits_says_so():
    X, y, _ = bent()
    X = X[:, [0, 3]]
    model = soft_tree(X, y)
    with pytest.raises(ValueError, match="soft boundaries"):
        shap_values(model, X)
    with pytest.raises(ValueError, match="soft boundaries"):
        plot_regions(model, X=X)
    with pytest.raises(ValueError, match="single trees"):
        CurvatureBoostingRegressor(tree=CurvatureTreeRegressor(leaf_model="soft")).fit(X, y)


def test_missing_values_and_categories():
    pd = pytest.importorskip("pandas")
    X, y, _ = bent()
    table = pd.DataFrame(X, columns=list("abcd"))
    table["kind"] = np.where(X[:, 3] > 3.0, "far", "near")
    table.loc[::7, "a"] = np.nan
    model = CurvatureTreeRegressor(leaf_model="soft").fit(table, y)
    assert np.isfinite(model.predict(table)).all()


def test_leverages_that_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr("fctree._memory.available_memory", lambda: 0)
    X, y, _ = bent()
    with pytest.raises(MemoryError, match=r"Gauss-Newton matrix of shape .*leaf_model=\"ridge\""):
        soft_tree(X, y)


def test_features_that_the_hard_tree_does_not_use_stay_out():
    X, y = make_friedman1(500, n_features=60, noise=1.0, random_state=0)
    new, truth = make_friedman1(1000, n_features=60, noise=0.0, random_state=1)
    hard, soft = (CurvatureTreeRegressor(leaf_model=model).fit(X, y) for model in ("ridge", "soft"))
    unused = ~(hard.tree_.coef.any(axis=0) | hard.tree_.leaf_coef.any(axis=(0, 1)))
    assert unused.sum() > 40 and soft.tree_.boundary_width is not None
    assert not soft.tree_.coef[:, unused].any() and not soft.tree_.leaf_coef[..., unused].any()
    assert 1.0 - soft.score(new, truth) < 0.5 * (1.0 - hard.score(new, truth))
