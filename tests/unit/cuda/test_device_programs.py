"""The device's programs, run thread by thread on the processor.

The emulation (native/cuda/emulation.cpp) watches shared memory: a race, an access that is not
aligned or out of bounds, or a read of what was not written ends it with an error. Its results are
compared with the processor's own engine.
"""

import numpy as np
import pytest
from fctree._native import matrix as native
from fctree.kernels import relu_ntk, tree_ntk, tree_ntk_matvec, tree_ntk_path
from fctree.kernels.architecture import kernel_spec

TYPES = [np.float32, np.float64]
TILE = {np.float32: 128, np.float64: 96}
# Sums in another order: some units in the last place of the largest entry.
TOLERANCE = {np.float32: 4e-6, np.float64: 4e-15}
ORDERS = ("rising", "falling", "shuffled")


def samples(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def emulate(specs, X, Y=None, *, scale=2.0, order="shuffled", width=None):
    """(n_problems, n_specs, n_x, n_y); checks that each element is written exactly once."""
    n_y = (X if Y is None else Y).shape[1]
    out = np.full((len(X), len(specs), X.shape[1], width or n_y), np.nan, X.dtype)
    counts = native.emulated_gram(specs, X, Y, scale, out, order).reshape(out.shape)
    assert np.all(counts[..., :n_y] == 1) and np.all(counts[..., n_y:] == 0)
    assert np.isnan(out[..., n_y:]).all()
    return out[..., :n_y]


def assert_close(found, expected, size=None):
    """Within the tolerance of `size`, or of the largest entry expected."""
    assert found.dtype == expected.dtype
    size = np.abs(expected).max() if size is None else size
    assert np.abs(found.astype(float) - expected).max() / size < TOLERANCE[found.dtype.type]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("tiles", [1, 2])
def test_symmetric_edges(dtype, tiles, extra):
    X = samples((1, tiles * TILE[dtype] + extra, 5), dtype)
    K = emulate([kernel_spec(3, "perfect")], X)[0, 0]
    assert_close(K, tree_ntk(X[0]))
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_x, n_y", [(1, 1), (1, 300), (3, 2), (130, 95), (97, 257), (260, 1)])
def test_rectangular_edges(dtype, n_x, n_y):
    X, Y = samples((1, n_x, 6), dtype), samples((1, n_y, 6), dtype, 1)
    assert_close(emulate([kernel_spec(2, "perfect")], X, Y)[0, 0], tree_ntk(X[0], Y[0], depth=2))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 11, 12, 13, 16, 17, 31, 36, 48, 49, 100])
def test_features_around_the_stages(dtype, n_features):
    X, Y = samples((1, 20, n_features), dtype), samples((1, 9, n_features), dtype, 1)
    assert_close(emulate([kernel_spec(3, "perfect")], X, Y)[0, 0], tree_ntk(X[0], Y[0]))


@pytest.mark.parametrize("dtype", TYPES)
def test_all_tiles_of_a_matrix_are_taken(dtype):
    """More rows of tiles than are walked together, so that bands end and begin."""
    X = samples((1, 9 * TILE[dtype] + 7, 1), dtype)
    assert_close(emulate([kernel_spec(3, "perfect")], X)[0, 0], tree_ntk(X[0]))
    Y = samples((1, 2 * TILE[dtype] + 3, 1), dtype, 1)
    assert_close(emulate([kernel_spec(3, "perfect")], X, Y)[0, 0], tree_ntk(X[0], Y[0]))


SPECS = {
    "perfect 1": kernel_spec(1, "perfect"),
    "perfect 7": kernel_spec(7, "perfect"),
    "rule": kernel_spec(3, "rule_set"),
    "list 1": kernel_spec(1, "decision_list"),
    "list 5": kernel_spec(5, "decision_list"),
    "endless list": kernel_spec(np.inf, "decision_list"),
    "leaf counts": kernel_spec(None, {1: 1, 3: 4}),
    "relu 1": native.KernelSpec("relu", depth=1),
    "relu 4": native.KernelSpec("relu", depth=4),
    "linear": native.KernelSpec("linear"),
    "exponential": native.KernelSpec("exponential"),
}
GRADIENTS = {
    "perfect": kernel_spec(3, "perfect", derivative="log_scale"),
    "list": kernel_spec(4, "decision_list", derivative="log_scale"),
    "endless list": kernel_spec(np.inf, "decision_list", derivative="log_scale"),
    "leaf counts": kernel_spec(None, {2: 4}, derivative="log_scale"),
}


def by_the_processor(spec, X, Y, scale):
    out = np.empty((len(X), len(X if Y is None else Y)), X.dtype)
    native.gram([spec], X[None], Y if Y is None else Y[None], scale, out[None, None], 1)
    return out


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("spec", [*SPECS.values(), *GRADIENTS.values()],
                         ids=[*SPECS, *(f"gradient {name}" for name in GRADIENTS)])
def test_every_kernel(spec, dtype):
    X, Y = samples((1, 101, 9), dtype), samples((1, 33, 9), dtype, 1)
    X[0, 3], X[0, 5], Y[0, 2] = 0, X[0, 4], -X[0, 6]
    for other in (None, Y):
        expected = by_the_processor(spec, X[0], None if other is None else other[0], 2.0)
        assert_close(emulate([spec], X, other)[0, 0], expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_the_threads_does_not_matter(dtype, order):
    X = samples((2, TILE[dtype] + 2, 20), dtype)
    specs = [kernel_spec(d, "perfect") for d in (1, 3)]
    assert np.array_equal(emulate(specs, X, order=order), emulate(specs, X, order="rising"))


@pytest.mark.parametrize("dtype", TYPES)
def test_equal_rows_have_the_exact_value(dtype):
    """1 - |c| comes out as the gaps alone for equal rows, wherever they stand."""
    X = samples((1, 150, 30), dtype)
    X[0, 140] = X[0, 1]
    K = emulate([kernel_spec(3, "perfect")], X, scale=50.0)[0, 0]
    assert K[1, 140] == K[1, 1] == K[140, 140]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("width", [134, 140, 144])
def test_rows_that_start_anywhere(dtype, width):
    """Rows further apart than they are long: aligned to 16 bytes or not."""
    X, Y = samples((1, 131, 3), dtype), samples((1, 133, 3), dtype, 1)
    K = emulate([kernel_spec(3, "perfect")], X, Y, width=width)[0, 0]
    assert_close(np.ascontiguousarray(K), tree_ntk(X[0], Y[0]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_x", [4, 97, 200])
def test_batches(dtype, n_x):
    X, Y = samples((3, n_x, 4), dtype), samples((3, 50, 4), dtype, 1)
    spec = kernel_spec(3, "perfect")
    for b, K in enumerate(emulate([spec], X)):
        assert_close(K[0], tree_ntk(X[b]))
    for b, K in enumerate(emulate([spec], X, Y)):
        assert_close(K[0], tree_ntk(X[b], Y[b]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("architecture", ["perfect", "decision_list", "rule_set"])
def test_paths(dtype, architecture):
    depths = [1, 2, 6]
    X, Y = samples((2, TILE[dtype] + 5, 4), dtype), samples((2, 37, 4), dtype, 1)
    specs = [kernel_spec(d, architecture) for d in depths]
    for other in (None, Y):
        K = emulate(specs, X, other)
        for b in range(2):
            expected = tree_ntk_path(X[b], None if other is None else other[b], depths=depths,
                                     architecture=architecture)
            assert_close(K[b], expected)
        if other is None:
            assert np.array_equal(K, K.swapaxes(2, 3))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_vectors", [1, 4, 5])
@pytest.mark.parametrize("n_x, n_y", [(1, 400), (130, 97), (200, None)])
def test_products_with_vectors(dtype, n_x, n_y, n_vectors):
    X = samples((2, n_x, 5), dtype)
    Y = None if n_y is None else samples((2, n_y, 5), dtype, 1)
    v = samples((2, n_y or n_x, n_vectors), dtype, 2)
    out = np.empty((2, n_x, n_vectors), dtype)
    for order in ORDERS:
        out[:] = np.nan
        native.emulated_product(kernel_spec(3, "perfect"), X, Y, 2.0, v, out, order)
        for b in range(2):
            other = None if Y is None else Y[b]
            # Terms of both signs: what counts is the sum of their sizes.
            size = (tree_ntk(X[b], other) @ np.abs(v[b])).max()
            assert_close(out[b], tree_ntk_matvec(X[b], other, v[b]), size)


def test_products_of_the_rectifier_kernel():
    X, v = samples((1, 120, 5), np.float64), samples((1, 120, 2), np.float64, 2)
    out = np.empty((1, 120, 2))
    native.emulated_product(native.KernelSpec("relu", depth=3), X, None, 1.0, v, out)
    assert_close(out[0], relu_ntk(X[0], depth=3) @ v[0])


def test_rows_beyond_the_range_are_refused():
    for bad in (np.nan, np.inf, 1e160):
        X = samples((1, 10, 3), np.float64)
        X[0, 4, 1] = bad
        with pytest.raises(ValueError, match="accepted"):
            emulate([kernel_spec(3, "perfect")], X)
