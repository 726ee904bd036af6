"""Data with little in them are ordinary: one sample, one class, constants, duplicates,
more features than samples, numbers near the ends of the floating-point range."""

import numpy as np
import pytest
from fctree import FCODTClassifier, FCODTRegressor
from reference.tree_comparison import smooth_table

LEAF_MODELS = ["ridge", "constant"]
EVERY = [{"leaf_model": leaf_model, "alpha": alpha, "feature_concatenation": on,
          "fit_intercept": intercept, "max_depth": None}
         for leaf_model in LEAF_MODELS for alpha in (0.0, 1.0) for on in (True, False)
         for intercept in (True, False)]


def finite(model, X):
    arrays = (value for name, value in vars(model.tree_).items()
              if isinstance(value, np.ndarray) and name != "threshold")
    return all(np.all(np.isfinite(array)) for array in (*arrays, model.tree_.predict(X)))


@pytest.mark.parametrize("parameters", EVERY, ids=str)
class TestEveryParameterisation:
    def test_one_sample(self, parameters):
        model = FCODTRegressor(**parameters).fit([[1.0, 2.0]], [3.0])
        assert model.get_n_leaves() == 1 and finite(model, np.ones((2, 2)))
        if parameters["fit_intercept"] or parameters["leaf_model"] == "constant":
            np.testing.assert_array_equal(model.predict([[1.0, 2.0], [-5.0, 7.0]]), [3.0, 3.0])

    def test_two_samples(self, parameters):
        X = np.array([[0.0, 1.0], [1.0, 1.0]])
        model = FCODTRegressor(**parameters).fit(X, [0.0, 1.0])
        assert finite(model, X)
        assert model.get_n_leaves() == 2
        assert len(set(model.apply(X))) == 2

    def test_equal_targets(self, parameters):
        X, _ = smooth_table(40, 3, seed=100)
        model = FCODTRegressor(**parameters).fit(X, np.full(40, 0.1))
        assert model.get_n_leaves() == 1 and finite(model, X)
        if parameters["fit_intercept"] or parameters["leaf_model"] == "constant":
            np.testing.assert_allclose(model.predict(X), 0.1, rtol=1e-14)

    def test_constant_features(self, parameters):
        y = np.arange(20.0)
        model = FCODTRegressor(**parameters).fit(np.full((20, 3), 2.0), y)
        assert model.get_n_leaves() == 1 and finite(model, np.ones((1, 3)))
        if parameters["fit_intercept"] or parameters["leaf_model"] == "constant":
            np.testing.assert_allclose(model.predict(np.full((1, 3), 2.0)), y.mean())

    def test_zero_features(self, parameters):
        model = FCODTRegressor(**parameters).fit(np.zeros((10, 2)), np.arange(10.0))
        assert model.get_n_leaves() == 1 and finite(model, np.ones((3, 2)))

    def test_duplicates_stay_together(self, parameters):
        X, y = smooth_table(8, 2, seed=101)
        X, y = np.repeat(X, 5, axis=0), np.random.default_rng(0).standard_normal(40)
        model = FCODTRegressor(**parameters).fit(X, y)
        assert finite(model, X)
        leaf = model.apply(X).reshape(8, 5)
        np.testing.assert_array_equal(leaf, leaf[:, :1].repeat(5, axis=1))
        assert model.get_n_leaves() <= 8

    def test_more_features_than_samples(self, parameters):
        X, y = smooth_table(12, 30, seed=102)
        model = FCODTRegressor(**parameters).fit(X, y)
        assert finite(model, X)
        if parameters["alpha"] == 0 and parameters["leaf_model"] == "ridge":
            # Every node interpolates; squares of condition numbers below 1e3.
            np.testing.assert_allclose(model.predict(X), y, atol=1e-7)

    def test_many_copies_of_one_column(self, parameters):
        X, y = smooth_table(50, 1, seed=103)
        model = FCODTRegressor(**parameters).fit(np.repeat(X, 20, axis=1), y)
        assert finite(model, np.repeat(X, 20, axis=1))


@pytest.mark.parametrize("leaf_model", LEAF_MODELS)
def test_a_full_tree_of_distinct_samples_separates_them(leaf_model):
    X, y = smooth_table(64, 3, seed=104)
    model = FCODTRegressor(max_depth=None, leaf_model=leaf_model, alpha=1e-6).fit(X, y)
    assert model.get_n_leaves() == 64
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)


@pytest.mark.parametrize("repeats", [1, 3])
def test_leaves_of_one_point_are_flat(repeats):
    """Without a penalty too: one point has no slope, and what is left of it after its mean
    is subtracted is a rounding, whose quotients are anything."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 7))
        X = np.repeat(rng.standard_normal((20, d)), repeats, axis=0)
        y = rng.standard_normal(len(X))
        tree = FCODTRegressor(alpha=0.0, max_depth=None).fit(X, y).tree_
        single = (tree.children_left < 0) & (tree.n_node_samples == repeats)
        assert single.any()
        np.testing.assert_allclose(tree.coef[single], 0, atol=1e-9)
        np.testing.assert_allclose(tree.intercept[single], tree.value[single, 0, 0], rtol=1e-9)


def test_a_sorted_exponential_makes_a_deep_tree():
    """Each cut takes few samples off, so the tree is far deeper than a balanced one."""
    x = np.arange(60.0)[:, None]
    y = np.exp2(x[:, 0] / 2)
    model = FCODTRegressor(max_depth=None, leaf_model="constant").fit(x, y)
    assert model.get_depth() >= 15  # a balanced tree of 60 leaves has depth 6
    assert model.get_n_leaves() == 60
    # The means are sums relative to one sample: 1e-16 of the largest target, 2^30.
    np.testing.assert_allclose(model.predict(x), y, rtol=0, atol=1e-6)


@pytest.mark.parametrize("leaf_model", LEAF_MODELS)
@pytest.mark.parametrize("label", [0, 7, "only"])
def test_one_class(label, leaf_model):
    X, _ = smooth_table(20, 3, seed=105)
    model = FCODTClassifier(leaf_model=leaf_model).fit(X, np.full(20, label))
    np.testing.assert_array_equal(model.predict(X + 5), np.full(20, label))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
    assert model.get_n_leaves() == 1 and model.n_classes_ == 1


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [True, False], [2.0, 5.0],
                                    ["a", "b", "c"], [10, -3, 4, 8]])
def test_any_labels_are_classes(labels):
    X, score = smooth_table(90, 3, seed=106)
    codes = np.searchsorted(np.quantile(score, np.arange(1, len(labels)) / len(labels)), score)
    y = np.array(labels)[codes]
    model = FCODTClassifier().fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 1.2 / len(labels)
    if y.dtype.kind == "U":
        objects = FCODTClassifier().fit(X, y.astype(object))
        np.testing.assert_array_equal(objects.predict(X), model.predict(X))


def test_a_class_with_one_sample():
    X, score = smooth_table(50, 3, seed=107)
    y = (score > np.median(score)).astype(int)
    y[score.argmax()] = 2
    model = FCODTClassifier(max_depth=None).fit(X, y)
    assert model.predict_proba(X).shape == (50, 3)


@pytest.mark.parametrize("kind, where", [
    (FCODTRegressor, "X"), (FCODTRegressor, "y"), (FCODTRegressor, "weight"),
    (FCODTClassifier, "X"), (FCODTClassifier, "weight"),
])
def test_numbers_whose_squares_overflow(kind, where):
    """1e200 squared is no number: a clear error, or a sane model, but never NaN."""
    X, y = smooth_table(40, 3, seed=108)
    weight = np.ones(40)
    if kind is FCODTClassifier:
        y = (y > np.median(y)).astype(int)
    if where == "X":
        X = X * 1e200
    elif where == "y":
        y = y * 1e200
    else:
        weight = weight * 1e305
    try:
        model = kind().fit(X, y, sample_weight=weight)
    except ValueError as error:
        assert "large" in str(error) or "overflow" in str(error)
    else:
        assert finite(model, X)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e100, 1e150])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_and_small_units_without_penalty(scale, fit_intercept):
    """Least squares does not see units, as long as squares stay in range."""
    X, y = smooth_table(200, 3, seed=109)
    parameters = {"alpha": 0.0, "max_depth": 2, "min_samples_leaf": 20,
                  "fit_intercept": fit_intercept}
    reference = FCODTRegressor(**parameters).fit(X, y).predict(X)
    try:
        model = FCODTRegressor(**parameters).fit(X * scale, y)
        prediction = model.predict(X * scale)
    except ValueError as error:
        assert scale == 1e150 and "large" in str(error)
    else:
        np.testing.assert_allclose(prediction, reference, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_large_and_small_targets(scale):
    X, y = smooth_table(200, 3, seed=110)
    parameters = {"feature_concatenation": False, "max_depth": 2, "min_samples_leaf": 20}
    reference = FCODTRegressor(**parameters).fit(X, y).predict(X)
    try:
        prediction = FCODTRegressor(**parameters).fit(X, y * scale).predict(X)
    except ValueError as error:
        assert scale == 1e150 and "large" in str(error)
    else:
        np.testing.assert_allclose(prediction / scale, reference, atol=1e-8)


def test_subnormal_features_are_no_crash():
    X, y = smooth_table(50, 2, seed=111)
    for alpha in (0.0, 1.0):
        model = FCODTRegressor(alpha=alpha, max_depth=3).fit(X * 1e-310, y)
        assert finite(model, X * 1e-310)


def test_zero_depth_and_unlimited_depth():
    X, y = smooth_table(50, 3, seed=112)
    root = FCODTRegressor(max_depth=0).fit(X, y)
    assert root.get_depth() == 0 and root.tree_.node_count == 1
    assert root.decision_path(X).shape == (50, 1)
    np.testing.assert_array_equal(root.apply(X), 0)
    assert FCODTRegressor(max_depth=None).fit(X, y).get_n_leaves() == 50
    # A depth that no tree reaches is no number of levels to allocate.
    assert FCODTRegressor(max_depth=10**9).fit(X, y).get_n_leaves() == 50


def test_small_copies_of_a_feature_do_not_overflow():
    X, y = smooth_table(200, 3, seed=77)
    small = np.column_stack([X, X[:, :1] * 1e-155, X[:, :1] * 1e-155])
    for features in (X * 1e-155, small):
        assert np.all(np.isfinite(FCODTRegressor(alpha=0.0).fit(features, y).predict(features)))
