"""Kernels on GPU arrays, simulated with host memory.

The native calls are replaced by ones that read and write the addresses they are given, so that
everything in Python around a device runs on any machine: shapes, types, streams, where results
go. tests/optional/test_gpu.py asks the same of a real one.
"""

import ctypes
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from fctree import TreeNTKClassifier, TreeNTKRegressor
from fctree._native import matrix as native
from fctree.kernels import device as _device
from fctree.kernels import relu_ntk, rule_ntk, tree_ntk, tree_ntk_matvec, tree_ntk_path

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 3)), RNG.standard_normal((11, 3))
BATCH, OTHERS = RNG.standard_normal((4, 9, 3)), RNG.standard_normal((4, 5, 3))


class OnDevice:
    """An array that says that it lies on a device."""

    def __init__(self, array, stream=None, interface=True):
        self.array = array
        self.shape, self.ndim, self.stream = array.shape, array.ndim, stream
        self.has_interface = interface

    def __len__(self):
        return len(self.array)

    @property
    def __cuda_array_interface__(self):
        if not self.has_interface:
            raise AttributeError
        return {**self.array.__array_interface__, "stream": self.stream,
                "strides": self.array.strides}


class HostBuffer:
    """A device's memory."""

    def __init__(self, n_bytes, device=-1):
        self.device = device
        self.memory = np.empty(n_bytes, np.uint8)
        self.address = self.memory.ctypes.data

    def fill(self, array):
        self.memory[:] = array.reshape(-1).view(np.uint8)

    def read(self, array):
        array.reshape(-1).view(np.uint8)[:] = self.memory


def at(place):
    """The array behind an address."""
    if place is None:
        return None
    size = int(np.prod(place.shape)) * np.dtype(place.dtype).itemsize
    memory = (ctypes.c_char * size).from_address(place.address)
    return np.frombuffer(memory, place.dtype).reshape(place.shape)


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a device; the places of all calls."""
    places = []

    def gram(specs, X, Y, scale, out, place):
        places.append((place, X.on_device, out.on_device))
        native.gram(specs, at(X), at(Y), scale, at(out), 1)

    def product(spec, X, Y, scale, vectors, out, place):
        places.append((place, X.on_device, out.on_device))
        native.gram_product(spec, at(X), at(Y), scale, at(vectors), at(out), 1)

    monkeypatch.setattr(native, "device_gram", gram)
    monkeypatch.setattr(native, "device_product", product)
    monkeypatch.setattr(native, "why_no_device", lambda: "")
    monkeypatch.setattr(native, "device_name", lambda: "a device of cardboard")
    monkeypatch.setattr(native, "device_of", lambda address: 0)
    monkeypatch.setattr(native, "DeviceBuffer", HostBuffer)
    monkeypatch.setattr(native, "wait_for_stream", lambda *stream: places.append(stream))
    return places


@pytest.mark.parametrize("a, b", [(X, None), (X, Y), (BATCH, None), (BATCH, OTHERS)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("call", [tree_ntk, rule_ntk, relu_ntk, lambda *a, **k: tree_ntk_path(
    *a, depths=[1, 4], **k)])
def test_samples_of_the_host_give_results_on_the_host(gpu, call, dtype, a, b):
    a, b = a.astype(dtype), None if b is None else b.astype(dtype)
    found = call(a, b, device="cuda")
    assert isinstance(found, np.ndarray) and found.dtype == dtype
    assert np.array_equal(found, call(a, b))
    assert len(gpu) == 1 and gpu[0][1:] == (False, False)


@pytest.mark.parametrize("a, b", [(X, None), (X, Y), (BATCH, None), (BATCH, OTHERS)])
def test_samples_of_a_device_give_results_there(gpu, a, b):
    there = OnDevice(a), None if b is None else OnDevice(b)
    found = tree_ntk(*there, depth=2, device="cuda")
    assert isinstance(found, _device.DeviceArray) and len(found) == len(a) and found.ndim == a.ndim
    assert np.array_equal(found.numpy(), tree_ntk(a, b, depth=2))
    assert gpu[0][1:] == (True, True)
    path = tree_ntk_path(*there, depths=[2, 3], device="cuda")
    assert np.array_equal(path.numpy(), tree_ntk_path(a, b, depths=[2, 3]))


@pytest.mark.parametrize("a, b, shape", [(X, None, (20,)), (X, Y, (11, 3)), (BATCH, None, (4, 9)),
                                         (BATCH, OTHERS, (4, 5, 2))])
def test_products(gpu, a, b, shape):
    v = RNG.standard_normal(shape)
    expected = tree_ntk_matvec(a, b, v)
    assert np.array_equal(tree_ntk_matvec(a, b, v, device="cuda"), expected)
    there = OnDevice(a), None if b is None else OnDevice(b)
    for vectors in (v, OnDevice(v)):
        found = tree_ntk_matvec(*there, vectors, device="cuda")
        assert found.shape == expected.shape and np.array_equal(found.numpy(), expected)


def test_outputs(gpu):
    out = np.empty((20, 20))
    assert tree_ntk(OnDevice(X), device="cuda", out=out) is out
    assert np.array_equal(out, tree_ntk(X))
    there = OnDevice(np.empty((20, 20)))
    assert tree_ntk(X, device="cuda", out=there) is there
    assert np.array_equal(there.array, tree_ntk(X))
    square = np.random.default_rng(1).standard_normal((5, 5))
    for bad, words in ((np.empty((20, 19)), "shape"), (np.empty((20, 20), np.float32), "type"),
                       (np.empty((20, 20), order="F"), "contiguous")):
        with pytest.raises(ValueError, match=words):
            tree_ntk(X, device="cuda", out=OnDevice(bad))
    shared = OnDevice(square)
    with pytest.raises(ValueError, match="share"):
        tree_ntk(shared, device="cuda", out=shared)


def test_an_output_that_is_not_to_be_written_is_refused(gpu):
    """JAX's arrays say so, and never change."""
    array = np.zeros((20, 20))
    array.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        tree_ntk(X, device="cuda", out=OnDevice(array))
    assert not array.any() and not gpu


def test_an_output_with_dlpack_alone(gpu, monkeypatch):
    class OnlyDlpack:
        array, shape = np.empty((20, 20)), (20, 20)

        def __dlpack_device__(self):
            return 2, 0

    library = SimpleNamespace(from_dlpack=lambda wrapped: OnDevice(wrapped.array))
    monkeypatch.setitem(sys.modules, "cupy", library)
    out = OnlyDlpack()
    assert tree_ntk(X, device="cuda", out=out) is out
    assert np.array_equal(out.array, tree_ntk(X))


def test_results_lie_on_the_device_of_the_samples(gpu, monkeypatch):
    monkeypatch.setattr(native, "device_of", lambda address: 1)
    assert tree_ntk(OnDevice(X), device="cuda")._buffer.device == 1
    assert gpu[0][0].device == 1
    assert tree_ntk_matvec(OnDevice(X), None, np.ones(20), device="cuda")._buffer.device == 1


def test_samples_that_are_still_computed_are_waited_for(gpu):
    class Late(OnDevice):
        waited = 0

        def block_until_ready(self):
            self.waited += 1

    samples = Late(X)
    tree_ntk(samples, device="cuda")
    assert samples.waited == 1


def test_what_cannot_be_read_is_refused(gpu):
    for bad, error, words in (
        (OnDevice(X[:, ::2]), ValueError, "contiguous"),
        (OnDevice(X.astype(np.float16)), ValueError, "float32 or float64"),
        (OnDevice(X[0]), ValueError, "dimensions"),
        (OnDevice(X[:0]), ValueError, "0 sample"),
    ):
        with pytest.raises(error, match=words):
            tree_ntk(bad, device="cuda")
    with pytest.raises(ValueError, match="of type float64"):
        tree_ntk(OnDevice(X.astype(np.float32)), Y, device="cuda")
    with pytest.raises(ValueError, match="features"):
        tree_ntk(OnDevice(X), Y[:, :2], device="cuda")
    with pytest.raises(ValueError, match="rows"):
        tree_ntk_matvec(OnDevice(X), None, OnDevice(Y), device="cuda")
    with pytest.raises(ValueError, match="0 vectors"):
        tree_ntk_matvec(OnDevice(X), None, OnDevice(X[:, :0]), device="cuda")


def test_complex_tensors_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="Complex"):
        _device.as_readable(torch.ones(3, 2, dtype=torch.complex64), "X")


def test_arrays_of_derived_classes_are_their_librarys():
    torch = pytest.importorskip("torch")

    class Image(torch.Tensor):
        pass

    image = torch.ones(3, 2).as_subclass(Image)
    assert _device._library(image) == "torch" and not _device.on_device(image)


def test_a_product_that_overflows_is_warned_of(gpu):
    with pytest.warns(RuntimeWarning, match="not finite"):
        tree_ntk_matvec(X, None, np.full(20, 1e308), device="cuda")


def test_an_array_on_a_device_is_not_copied_behind_the_back(gpu):
    with pytest.raises(TypeError, match="device='cuda'"):
        tree_ntk(OnDevice(X))


def test_streams(gpu):
    tree_ntk(OnDevice(X, stream=7), OnDevice(Y, stream=9), device="cuda")
    other, (place, *_) = gpu
    assert place.stream == 7 and place.device == 0 and other == (9, 0)
    tree_ntk(X, device="cuda")
    assert gpu[-1][0].stream == 0 and gpu[-1][0].device == -1


def test_the_stream_is_that_of_the_arrays_device(monkeypatch):
    """CuPy has a current stream for each device."""
    entered = []

    class Device:
        def __enter__(self):
            entered.append(1)

        def __exit__(self, *error):
            entered.pop()

    class Array:
        device = Device()

    stream = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=10 + sum(entered)))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=Array, cuda=stream))
    assert _device.stream_of(Array()) == 11 and not entered


def test_several_devices_are_refused(gpu, monkeypatch):
    a, b = OnDevice(X), OnDevice(Y)
    monkeypatch.setattr(native, "device_of", lambda address: int(address == X.ctypes.data))
    with pytest.raises(ValueError, match="several devices"):
        tree_ntk(a, b, device="cuda")


def test_auto_says_once_what_it_takes(gpu):
    _device._announced.clear()
    with pytest.warns(UserWarning, match="cardboard"):
        tree_ntk(X, device="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree_ntk(X, device="auto")
    assert len(gpu) == 2


@pytest.mark.parametrize("solver", ["cholesky", "nystrom", "cg"])
def test_estimators(gpu, solver):
    parameters = {"solver": solver, "n_components": 12, "alpha": 0.1, "random_state": 0}
    y = X[:, 0] * X[:, 1]
    for model, target in ((TreeNTKRegressor, y), (TreeNTKClassifier, y > 0)):
        there = model(device="cuda", **parameters).fit(X, target)
        here = model(**parameters).fit(X, target)
        assert type(there.X_fit_) is np.ndarray and type(there.dual_coef_) is np.ndarray
        # The product of landmarks adds up in another order on a device.
        rounding = 1e-7 if solver == "nystrom" else 0.0
        np.testing.assert_allclose(there.dual_coef_, here.dual_coef_, rtol=rounding)
        np.testing.assert_allclose(there.predict(Y), here.predict(Y), rtol=rounding)
    assert len(gpu) > 2
