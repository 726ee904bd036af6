"""Bad input to the kernels is refused with words; odd but legal input is not."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from fctree import SoftTreeRegressor, TreeNTKClassifierCV, TreeNTKRegressor, TreeNTKRegressorCV
from fctree._native import matrix as native
from fctree.kernels import (
    empirical_tree_ntk,
    exponential_kernel,
    gradient_flow,
    leaf_counts,
    relu_ntk,
    rule_ntk,
    symmetric_tree_kernel,
    tree_ntk,
    tree_ntk_matvec,
    tree_ntk_path,
)
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

X = np.random.default_rng(0).standard_normal((12, 3))
KERNELS = [tree_ntk, rule_ntk, relu_ntk]
OF_TREES = [partial(empirical_tree_ntk, n_trees=3, depth=2, random_state=0),
            partial(symmetric_tree_kernel, bin_thresholds=[[0.0]] * 3, depth=2)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_refused(kernel, bad):
    broken = X.copy()
    broken[3, 1] = bad
    for arguments in ((broken,), (broken, X), (X, broken)):
        with pytest.raises(ValueError, match="NaN|infinity"):
            kernel(*arguments)


@pytest.mark.parametrize("kernel", KERNELS)
def test_shapes_are_checked(kernel):
    with pytest.raises(ValueError, match="2D"):
        kernel(X[0])
    with pytest.raises(ValueError, match="features"):
        kernel(X, X[:, :2])
    with pytest.raises(ValueError, match="0 sample"):
        kernel(X[:0])
    with pytest.raises(TypeError, match="[Ss]parse"):
        kernel(sparse.csr_array(X))


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2],
                                    lambda a: a.astype(object), lambda a: a.tolist()])
def test_layouts_do_not_matter(layout):
    assert np.array_equal(tree_ntk(layout(X)), tree_ntk(X))


def test_read_only_and_integers():
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.array_equal(tree_ntk(frozen), tree_ntk(X))
    table = np.arange(12).reshape(4, 3)
    assert np.array_equal(tree_ntk(table), tree_ntk(table.astype(float)))


def test_types():
    single = X.astype(np.float32)
    for kernel in [*KERNELS, exponential_kernel, *OF_TREES]:
        assert kernel(single).dtype == kernel(single, single).dtype == np.float32
        assert kernel(single, X).dtype == kernel(X, single).dtype == kernel(X).dtype == np.float64
        np.testing.assert_allclose(kernel(single), kernel(single.astype(float)), rtol=1e-4)
    assert tree_ntk_matvec(single, None, np.ones(12)).dtype == np.float32


@pytest.mark.parametrize("arguments, error, words", [
    ({"depth": 0}, ValueError, "depth"), ({"depth": -1}, ValueError, "depth"),
    ({"depth": 2.5}, TypeError, "depth"), ({"depth": True}, TypeError, "depth"),
    ({"depth": np.inf}, ValueError, "decision_list"), ({"depth": "3"}, TypeError, "depth"),
    ({"scale": 0.0}, ValueError, "scale"), ({"scale": -1.0}, ValueError, "scale"),
    ({"scale": np.nan}, ValueError, "scale"), ({"scale": np.inf}, ValueError, "scale"),
    ({"scale": None}, TypeError, "scale"), ({"architecture": "tree"}, ValueError, "architecture"),
    ({"architecture": 3}, TypeError, "architecture"), ({"architecture": {}}, ValueError, "leaves"),
    ({"architecture": {1: -1}}, ValueError, "negative"),
    ({"architecture": {-1: 1}}, ValueError, "negative"), ({"architecture": {1: 10**400}}, ValueError, "too many for float64"),
    ({"architecture": {1: 0.5}}, TypeError, "integer"),
    ({"device": "tpu"}, ValueError, "device"), ({"device": "cuda"}, RuntimeError, "CUDA")])
def test_parameters_are_checked(arguments, error, words):
    with pytest.raises(error, match=words):
        tree_ntk(X, **arguments)
    with pytest.raises(error, match=words):
        tree_ntk_matvec(X, None, np.ones(12), **arguments)


def test_device_auto_is_the_processor():
    assert np.array_equal(tree_ntk(X, device="auto"), tree_ntk(X))


def test_the_path_checks_its_depths():
    with pytest.raises(ValueError, match="empty"):
        tree_ntk_path(X, depths=[])
    with pytest.raises(ValueError, match="depth"):
        tree_ntk_path(X, depths=[1, 0])
    with pytest.raises(TypeError, match=r"depths must be a sequence .* got 3"):
        tree_ntk_path(X, depths=3)
    with pytest.raises(TypeError, match="mapping"):
        tree_ntk_path(X, depths=[1], architecture={1: 2})


def test_depths_may_be_an_array_with_infinity():
    depths = np.array([2.0, np.inf])
    path = tree_ntk_path(X, depths=depths, architecture="decision_list")
    np.testing.assert_array_equal(path, tree_ntk_path(X, depths=[2, np.inf], architecture="decision_list"))
    model = TreeNTKRegressorCV(depths=depths, architecture="decision_list").fit(X, X[:, 0])
    assert set(model.cv_results_["depth"]) == {2, np.inf}
    with pytest.raises(TypeError, match=r"integer.* or inf; got .*1\.5"):
        tree_ntk_path(X, depths=np.array([1.5, 2.0]))


def test_output_arrays():
    out = np.empty((12, 12))
    assert tree_ntk(X, out=out) is out
    for bad in (np.empty((12, 11)), np.empty((12, 12), np.float32), np.empty((12, 12), order="F"),
                np.empty((12, 24))[:, ::2], [[0.0] * 12] * 12):
        with pytest.raises(ValueError, match="out"):
            tree_ntk(X, out=bad)
    frozen = np.empty((12, 12))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        tree_ntk(X, out=frozen)
    square = np.random.default_rng(1).standard_normal((5, 5))
    with pytest.raises(ValueError, match="share"):
        tree_ntk(square, out=square)
    paths = np.empty((2, 12, 12))
    assert tree_ntk_path(X, depths=[1, 2], out=paths) is paths


def test_a_memory_map_as_output(tmp_path):
    out = np.memmap(tmp_path / "gram", dtype=np.float64, mode="w+", shape=(12, 12))
    tree_ntk(X, out=out)
    out.flush()
    stored = np.fromfile(tmp_path / "gram").reshape(12, 12)
    assert np.array_equal(stored, tree_ntk(X))


def test_a_matrix_that_cannot_fit_is_refused_before_it_is_allocated():
    rows = np.zeros((3_000_000, 1))
    tracemalloc.start()
    try:
        for attempt in (lambda: tree_ntk(rows), lambda: TreeNTKRegressor().fit(rows, rows[:, 0]),
                        lambda: TreeNTKRegressorCV().fit(rows, rows[:, 0])):
            with pytest.raises(MemoryError, match="GiB.*nystrom"):
                attempt()
        assert tracemalloc.get_traced_memory()[1] < 2**30
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype, limit", [(np.float64, 1e150), (np.float32, 1e18)])
def test_rows_beyond_the_range_are_refused(dtype, limit):
    rows = np.array([[1.0, 2.0], [limit, 0.0]], dtype=dtype)
    with pytest.raises(ValueError, match="scale \\* \\|x\\|"):
        tree_ntk(rows, scale=2.0)
    K = tree_ntk(rows, scale=0.5)
    assert np.isfinite(K).all() and np.array_equal(K, K.T)


def test_zero_rows_and_subnormal_rows():
    rows = np.array([[0.0, 0.0], [1e-310, 0.0], [1.0, 0.0]])
    K = tree_ntk(rows, depth=3)
    np.testing.assert_allclose(K[:2], 0.125, rtol=1e-12)
    assert np.isfinite(relu_ntk(rows, depth=4)).all()
    assert np.all(relu_ntk(rows, depth=4)[0] == 0)


@pytest.mark.parametrize("depth", [100, 1000])
@pytest.mark.parametrize("architecture", ["perfect", "decision_list", "rule_set"])
def test_deep_trees_neither_overflow_nor_fail(architecture, depth):
    for dtype in (np.float64, np.float32):
        for scale in (1e-3, 2.0, 1e3):
            K = tree_ntk(X.astype(dtype), depth=depth, scale=scale, architecture=architecture)
            assert np.isfinite(K).all()
            root = np.sqrt(np.diag(K))
            assert np.all(np.abs(K) <= np.outer(root, root) * (1 + 1e-3))


def test_leaf_counts_of_huge_numbers():
    K = tree_ntk(X, architecture={1000: 2**1000})
    np.testing.assert_allclose(K, tree_ntk(X, depth=1000), rtol=1e-9, atol=1e-300)


def test_trees_that_are_none():
    with pytest.raises(ValueError, match="two parts"):
        leaf_counts((0, 0, 0))
    with pytest.raises(ValueError, match="two parts"):
        empirical_tree_ntk(X, n_trees=1, architecture=((0,), 0))
    for parents in ([-1, 0], (-1, 0), np.array([-1, 0]), [-1, 0, 0, 1]):
        with pytest.raises(ValueError, match="got 1 nodes with parent"):
            leaf_counts(parents)
        with pytest.raises(ValueError, match="got 1 nodes with parent"):
            SoftTreeRegressor(architecture=parents).fit(X, X[:, 0])
    for model in (DecisionTreeRegressor(), RandomForestRegressor(2).fit(X, X[:, 0]), {2: 4}):
        with pytest.raises(TypeError, match="no tree"):
            leaf_counts(model)
    assert leaf_counts(0) == leaf_counts([-1]) == {0: 1}
    # A tree that is one leaf: a constant.
    assert np.all(tree_ntk(X, architecture=leaf_counts(0)) == 1.0)


def test_a_list_that_contains_itself_is_no_tree():
    endless, pair = [0, 0], (0, 0)
    endless[1] = (pair, endless)
    for walk in (leaf_counts, lambda tree: empirical_tree_ntk(X, n_trees=1, architecture=tree)):
        with pytest.raises(ValueError, match="contains itself"):
            walk(endless)
    assert leaf_counts(([pair, pair], pair)) == {2: 2, 3: 4}


@pytest.mark.parametrize("arguments, error", [
    ({"n_trees": 0}, ValueError), ({"n_trees": 1.5}, TypeError),
    ({"n_trees": 2, "depth": 30}, ValueError), ({"n_trees": 2, "depth": np.inf}, ValueError),
    ({"n_trees": 2, "depth": np.inf, "architecture": "decision_list"}, ValueError),
    ({"n_trees": 2, "scale": -1}, ValueError),
    ({"n_trees": 2, "architecture": {20: 2**20}}, ValueError)])
def test_ensembles_are_checked(arguments, error):
    with pytest.raises(error):
        empirical_tree_ntk(X, **arguments)


def test_gradient_flow_is_checked():
    K, y = np.eye(3), np.ones(3)
    for bad in ({"K_train": np.ones((3, 2))}, {"K_train": np.triu(np.ones((3, 3)))}, {"K_test": np.ones((1, 2))}, {"y": np.ones(2)},
                {"learning_rate": 0.0}, {"learning_rate": np.inf}, {"times": [-1.0]},
                {"times": [np.nan]}, {"times": [[1.0]]}):
        arguments = {"K_train": K, "K_test": K, "y": y, "learning_rate": 0.1, "times": [1.0]} | bad
        with pytest.raises(ValueError):
            gradient_flow(**arguments)


@pytest.mark.parametrize("bad", [{"alphas": []}, {"alphas": [-1.0]}, {"alphas": [np.nan]},
                                 {"depths": []}, {"depths": [0]}, {"scales": []}, {"scales": [0.0]}])
def test_grids_are_checked(bad):
    with pytest.raises(ValueError, match=next(iter(bad))[:-1]):
        TreeNTKClassifierCV(**bad).fit(X, np.arange(12) % 2)


@pytest.mark.parametrize("estimator", [TreeNTKRegressor(device="cuda"),
                                       TreeNTKRegressorCV(device="cuda")])
def test_estimators_refuse_a_device_that_is_not_there(estimator):
    with pytest.raises(RuntimeError, match="CUDA"):
        estimator.fit(X, X[:, 0])
    assert not hasattr(estimator, "dual_coef_")


def test_the_native_module_refuses_what_does_not_fit():
    spec = native.KernelSpec("power", depth=3)
    batch = X[np.newaxis]
    with pytest.raises(ValueError, match="shape"):
        native.gram([spec], batch, None, 1.0, np.empty((1, 1, 12, 13)), 1)
    with pytest.raises(ValueError, match="features"):
        native.gram([spec], batch, batch[..., :2].copy(), 1.0, np.empty((1, 1, 12, 12)), 1)
    with pytest.raises(TypeError):
        native.gram([spec], batch.astype(np.float32), batch, 1.0, np.empty((1, 1, 12, 12)), 1)
    with pytest.raises(ValueError, match="path"):
        native.gram(2 * [native.KernelSpec("relu")], batch, None, 1.0, np.empty((1, 2, 12, 12)), 1)
    with pytest.raises(ValueError, match="specification"):
        native.emulated_gram([], batch, None, 1.0, np.empty((1, 0, 12, 12)))
    with pytest.raises(ValueError, match="called"):
        native.KernelSpec("nothing")
    with pytest.raises(ValueError, match="depth"):
        native.KernelSpec("power", depth=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("row", [[np.nan, 0.0, 0.0], [0.0, np.nan, 1.0], [np.inf, 0.0, 0.0], [np.nan] * 3])
def test_the_native_module_refuses_rows_that_are_not_finite(dtype, row):
    """Also where nothing else gives the row a length."""
    broken = np.array([row, [0.0, 0.0, 0.0]], dtype)
    with pytest.raises(ValueError, match="row with scale"):
        native.gram([native.KernelSpec("power", depth=3)], broken[np.newaxis], None, 1.0, np.empty((1, 1, 2, 2), dtype), 1)


@pytest.mark.parametrize("solver", ["cholesky", "nystrom", "cg"])
def test_what_prediction_refuses_is_refused_by_the_fit(solver):
    """Targets of zero need no product with the kernel; rows that are too long are refused anyway."""
    X = np.array([[1.0, 2.0], [1e200, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="rescale the features"):
        TreeNTKRegressor(solver=solver).fit(X, np.zeros(3))


def test_folds_without_weights_are_refused():
    weights = np.r_[np.ones(5), np.zeros(len(X) - 5)]
    with pytest.raises(ValueError, match="no fold has samples of positive weight"):
        TreeNTKRegressorCV(cv=2).fit(X, X[:, 0], sample_weight=weights)


@pytest.mark.parametrize("solver", ["cholesky", "nystrom", "cg"])
def test_units_of_targets_do_not_matter(solver):
    """Not even those whose squares underflow or overflow, side by side."""
    y = X @ [1.0, -1.0, 0.5]
    expected = TreeNTKRegressor(alpha=0.1, tol=1e-10).fit(X, y).predict(X)
    units = np.array([1.0, 1e-200, 1e200])
    model = TreeNTKRegressor(alpha=0.1, solver=solver, tol=1e-10, random_state=0).fit(X, y[:, np.newaxis] * units)
    np.testing.assert_allclose(model.predict(X) / units, np.tile(expected[:, np.newaxis], 3), rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["cholesky", "nystrom", "cg"])
def test_targets_that_overflow_with_their_weights_are_refused(solver):
    with pytest.raises(ValueError, match="too large"):
        TreeNTKRegressor(solver=solver).fit(X, X[:, 0] * 5e307, np.r_[np.full(6, 1e6), np.ones(6)])


def test_features_too_small_for_relative_scales_are_named():
    X = np.random.default_rng(0).normal(size=(20, 3)) * 1e-309
    with pytest.raises(ValueError, match="X is too small for relative scales"):
        TreeNTKRegressorCV().fit(X, np.arange(20.0))
