"""Kernels on a real GPU against the processor's: values, symmetry, slabs, streams, leaks."""

import ctypes
import gc

import numpy as np
import pytest
from fctree import TreeNTKClassifier, TreeNTKRegressor, TreeNTKRegressorCV
from fctree._native import matrix as native
from fctree.kernels import exponential_kernel, relu_ntk, rule_ntk, tree_ntk, tree_ntk_matvec, tree_ntk_path
from fctree.kernels.architecture import kernel_spec
from fctree.kernels.device import DeviceArray

REASON = native.why_no_device()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(REASON), reason=REASON)]

TYPES = [np.float32, np.float64]
# Of the largest entry, at scale 2: float32 rounds products of some hundred features.
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


def samples(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def assert_close(found, X, Y=None, call=tree_ntk, **parameters):
    """Against float64 on the processor."""
    exact = call(X.astype(float), None if Y is None else Y.astype(float), n_jobs=-1, **parameters)
    assert found.dtype == X.dtype and found.shape == exact.shape
    worst = np.abs(found - exact).max() / np.abs(exact).max()
    assert worst < TOLERANCE[X.dtype.type]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 95, 96, 97, 127, 128, 129, 1000, 2049])
@pytest.mark.parametrize("d", [1, 3, 20, 784])
def test_symmetric(dtype, n, d):
    X = samples((n, d), dtype)
    K = tree_ntk(X, device="cuda")
    assert_close(K, X)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_x, n_y", [(1, 1), (1, 3001), (3001, 1), (700, 333), (129, 4096)])
@pytest.mark.parametrize("d", [1, 13, 100])
def test_rectangular(dtype, n_x, n_y, d):
    X, Y = samples((n_x, d), dtype), samples((n_y, d), dtype, 1)
    assert_close(tree_ntk(X, Y, device="cuda"), X, Y)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("architecture, depth", [
    ("perfect", 1), ("perfect", 29), ("oblivious", 3), ("rule_set", 4), ("decision_list", 1),
    ("decision_list", 6), ("decision_list", np.inf), ({1: 1, 2: 1, 5: 8}, 3)])
def test_architectures(dtype, architecture, depth):
    X, Y = samples((300, 11), dtype), samples((200, 11), dtype, 1)
    for other in (None, Y):
        found = tree_ntk(X, other, architecture=architecture, depth=depth, device="cuda")
        assert_close(found, X, other, architecture=architecture, depth=depth)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("depth", [1, 2, 8])
def test_rectifier_and_rules(dtype, depth):
    X, Y = samples((300, 11), dtype), samples((200, 11), dtype, 1)
    X[7] = 0
    for other in (None, Y):
        assert_close(relu_ntk(X, other, depth=depth, device="cuda"), X, other, relu_ntk, depth=depth)
        assert_close(rule_ntk(X, other, depth=depth, device="cuda"), X, other, rule_ntk, depth=depth)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("scale", [0.2, 2.0])
def test_exponential_kernel(dtype, scale):
    X, Y = samples((300, 11), dtype), samples((200, 11), dtype, 1)
    for other in (None, Y):
        assert_close(exponential_kernel(X, other, scale=scale, device="cuda"), X, other, exponential_kernel, scale=scale)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n, m", [(500, None), (301, 222)])
def test_paths(dtype, n, m):
    X, Y = samples((n, 9), dtype), None if m is None else samples((m, 9), dtype, 1)
    for architecture in ("perfect", "decision_list"):
        K = tree_ntk_path(X, Y, depths=range(1, 30), architecture=architecture, device="cuda")
        assert_close(K, X, Y, tree_ntk_path, depths=range(1, 30), architecture=architecture)
        if Y is None:
            assert np.array_equal(K, K.swapaxes(1, 2))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 64, 128, 130])
def test_batches(dtype, n):
    X, Y = samples((37, n, 20), dtype), samples((37, 50, 20), dtype, 1)
    for other in (None, Y):
        assert_close(tree_ntk(X, other, device="cuda"), X, other)
        assert_close(tree_ntk_path(X, other, depths=[1, 3], device="cuda"), X, other,
                     tree_ntk_path, depths=[1, 3])
    single = np.stack([tree_ntk(x, device="cuda") for x in X])
    assert np.array_equal(tree_ntk(X, device="cuda"), single)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape, n_y, k", [((700, 9), 5000, 1), ((3, 129, 4), 97, 5),
                                           ((1000, 6), None, 3)])
def test_products(dtype, shape, n_y, k):
    X = samples(shape, dtype)
    Y = None if n_y is None else samples((*shape[:-2], n_y, shape[-1]), dtype, 1)
    v = samples((*shape[:-2], n_y or shape[-2], k), dtype, 2)
    found = tree_ntk_matvec(X, Y, v, device="cuda")
    exact = tree_ntk(X.astype(float), None if Y is None else Y.astype(float))
    size = (exact @ np.abs(v)).max()
    assert np.abs(found - exact @ v.astype(float)).max() < TOLERANCE[dtype] * size
    assert np.array_equal(found, tree_ntk_matvec(X, Y, v, device="cuda"))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_problems, n_specs", [(1, 1), (5, 1), (1, 3), (2, 3)])
def test_slabs(dtype, n_problems, n_specs, symmetric):
    """Cut to any size, the matrix is the same to the last bit, and symmetric."""
    X = samples((n_problems, 500, 7), dtype)
    Y = None if symmetric else samples((n_problems, 411, 7), dtype, 1)
    specs = [kernel_spec(d, "perfect") for d in range(1, n_specs + 1)]
    shape = (n_problems, n_specs, 500, 500 if symmetric else 411)

    def compute(max_bytes):
        out = np.full(shape, np.nan, dtype)
        address = [None if a is None else native.ArrayAddress(a.ctypes.data, a.shape, a.dtype.name,
                                                              False) for a in (X, Y, out)]
        native.device_gram(specs, *address[:2], 2.0, address[2],
                           native.DevicePlace(max_bytes=max_bytes))
        return out

    whole = compute(2**30)
    assert not np.isnan(whole).any()
    for max_bytes in (1, 300_000, 3_000_000):
        assert np.array_equal(compute(max_bytes), whole)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_problems, n_y", [(1, 2100), (3, None)])
def test_products_in_slabs(dtype, n_problems, n_y):
    """Cut to any size, the product is the same to the last bit."""
    X = samples((n_problems, 500, 7), dtype)
    Y = None if n_y is None else samples((n_problems, n_y, 7), dtype, 1)
    v = samples((n_problems, n_y or 500, 5), dtype, 2)

    def compute(max_bytes):
        out = np.full((n_problems, 500, 5), np.nan, dtype)
        x, y, vectors, to = [None if a is None else native.ArrayAddress(
            a.ctypes.data, a.shape, a.dtype.name, False) for a in (X, Y, v, out)]
        native.device_product(kernel_spec(3, "perfect"), x, y, 2.0, vectors, to,
                              native.DevicePlace(max_bytes=max_bytes))
        return out

    whole = compute(2**30)
    assert np.isfinite(whole).all()
    for max_bytes in (1, 30_000, 3_000_000):
        assert np.array_equal(compute(max_bytes), whole)


def test_a_memory_map_as_output(tmp_path):
    X = samples((1500, 5), np.float32)
    out = np.memmap(tmp_path / "gram", dtype=np.float32, mode="w+", shape=(1500, 1500))
    assert tree_ntk(X, out=out, device="cuda") is out
    assert_close(np.asarray(out), X)


@pytest.mark.parametrize("dtype", TYPES)
def test_equal_and_opposite_rows(dtype):
    X = samples((300, 40), dtype)
    X[250], X[251], X[9] = X[3], -X[4], 0
    for scale in (2.0, 50.0):
        K = tree_ntk(X, scale=scale, device="cuda")
        assert K[3, 250] == K[3, 3] == K[250, 250]
        exact = tree_ntk(X.astype(float), scale=scale)
        assert abs(K[4, 251] - exact[4, 251]) < TOLERANCE[dtype] * exact.max()


def test_bad_samples_are_refused_and_good_ones_served_afterwards():
    free = []
    for _ in range(20):
        for bad in (np.nan, np.inf, 1e160):
            there = DeviceArray.of(np.where(np.eye(200, 3) > 0, bad, 1.0))
            with pytest.raises(ValueError, match="NaN|above 1e150"):
                tree_ntk(there, device="cuda")
            del there
        gc.collect()
        free.append(free_memory())
    assert free[-1] >= free[0] - 2**20
    X = samples((50, 3), np.float64)
    assert_close(tree_ntk(X, device="cuda"), X)


def free_memory():
    runtime = pytest.importorskip("torch")
    return runtime.cuda.mem_get_info()[0]


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_other_libraries(library, dtype):
    module = pytest.importorskip(library)
    X, Y, v = samples((300, 9), dtype), samples((128, 9), dtype, 1), samples((128,), dtype, 2)

    def there(array):
        return module.as_tensor(array, device="cuda") if library == "torch" else module.asarray(array)

    def here(array):
        return array.cpu().numpy() if library == "torch" else array.get()

    K = tree_ntk(there(X), there(Y), device="cuda")
    assert type(K) is type(there(X))
    assert_close(here(K), X, Y)
    assert_close(here(tree_ntk(there(X.T.copy()).T, device="cuda")), X)
    product = here(tree_ntk_matvec(there(X), there(Y), there(v), device="cuda"))
    exact = tree_ntk(X.astype(float), Y.astype(float))
    assert np.abs(product - exact @ v).max() < TOLERANCE[dtype] * (exact @ np.abs(v)).max()
    out = there(np.empty((300, 300), dtype))
    assert tree_ntk(there(X), out=out, device="auto") is out
    assert_close(here(out), X)


def test_work_waits_for_the_stream_of_its_input():
    """The input is written late, in a stream of its own."""
    torch = pytest.importorskip("torch")
    X = samples((2000, 16), np.float32)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        large = torch.randn(6000, 6000, device="cuda")
        for _ in range(20):
            large = large @ large.clamp(-1, 1)
        late = torch.as_tensor(X, device="cuda") + 0 * large[0, 0].nan_to_num(0, 0, 0)
        K = tree_ntk(late, device="cuda")
    assert_close(K.cpu().numpy(), X)


def test_an_array_with_dlpack_alone():
    torch = pytest.importorskip("torch")

    class Wrapped:
        def __init__(self, tensor):
            self.tensor, self.ndim = tensor, tensor.ndim

        def __dlpack__(self, **keywords):
            return self.tensor.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    X = samples((100, 4), np.float64)
    K = tree_ntk(Wrapped(torch.as_tensor(X, device="cuda")), device="cuda")
    assert_close(np.asarray(K.get() if hasattr(K, "get") else K.cpu()), X)


@pytest.mark.parametrize("solver", ["cholesky", "nystrom", "cg"])
def test_estimators(solver):
    X = samples((400, 6), np.float64)
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])
    parameters = {"solver": solver, "n_components": 100, "alpha": 0.1, "random_state": 0}
    here = TreeNTKRegressor(**parameters).fit(X, y)
    there = TreeNTKRegressor(device="cuda", **parameters).fit(X, y)
    # Conjugate gradients stop at a relative residual of 1e-6; rounding moves where.
    np.testing.assert_allclose(there.predict(X), here.predict(X), atol=1e-4 * np.abs(y).max())
    here, there = (TreeNTKClassifier(device=device, **parameters).fit(X, y > 0) for device in ("cpu", "cuda"))
    assert np.mean(there.predict(X) == here.predict(X)) > 0.99
    assert np.mean(there.predict(X) == (y > 0)) > 0.9


def test_the_search():
    X = samples((150, 4), np.float64)
    grid = {"alphas": (0.1, 1.0), "depths": (1, 3), "scales": (0.5, 2.0)}
    here = TreeNTKRegressorCV(**grid).fit(X, X[:, 0])
    there = TreeNTKRegressorCV(device="cuda", **grid).fit(X, X[:, 0])
    assert (here.alpha_, here.depth_, here.scale_) == (there.alpha_, there.depth_, there.scale_)


def test_more_than_two_to_the_31_elements():
    """The last rows of a matrix of 2.3e9 entries, on the device all the time."""
    torch = pytest.importorskip("torch")
    n = 48_000
    if torch.cuda.mem_get_info()[0] < 4 * n * n * 1.2:
        pytest.skip("the matrix does not fit this device")
    X = samples((n, 3), np.float32)
    K = tree_ntk(torch.as_tensor(X, device="cuda"), device="cuda")
    exact = tree_ntk(X[-300:].astype(float), X.astype(float), n_jobs=-1)
    assert np.abs(K[-300:].cpu().numpy() - exact).max() < 1e-5 * exact.max()
    assert torch.equal(K[-300:], K[:, -300:].T)


def test_addresses_of_the_host_are_nobodys():
    memory = ctypes.create_string_buffer(100)
    assert native.device_of(ctypes.addressof(memory)) == -1
