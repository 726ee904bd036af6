"""Where there is no GPU, or no CUDA in the build, the message says which is missing."""

import subprocess
import sys

import fctree
import numpy as np
import pytest
from fctree import TreeNTKRegressor, TreeNTKRegressorCV
from fctree._native import matrix as native
from fctree.kernels import relu_ntk, rule_ntk, tree_ntk, tree_ntk_matvec, tree_ntk_path

X = np.random.default_rng(0).standard_normal((12, 3))
CALLS = [
    tree_ntk, rule_ntk, relu_ntk,
    lambda X, **k: tree_ntk_path(X, depths=[1, 2], **k),
    lambda X, **k: tree_ntk_matvec(X, None, np.ones(len(X)), **k),
    lambda X, **k: TreeNTKRegressor(**k).fit(X, X[:, 0]),
    lambda X, **k: TreeNTKRegressorCV(**k).fit(X, X[:, 0]),
]


class OnDevice:
    shape, ndim = (12, 3), 2
    __cuda_array_interface__ = {"shape": (12, 3), "typestr": "<f8", "strides": None, "version": 3,
                                "data": (4096, False)}


@pytest.fixture
def no_device():
    if not native.why_no_device():
        pytest.skip("this machine has a GPU")


def test_the_reason_is_one_of_three(no_device, capsys):
    reason = native.why_no_device()
    if fctree.show_config()["cuda"]:
        assert "driver" in reason or "device" in reason
    else:
        assert "build" in reason
    capsys.readouterr()


@pytest.mark.parametrize("call", CALLS)
def test_cuda_is_refused_with_the_reason(no_device, call):
    with pytest.raises(RuntimeError, match="CUDA.*(build|driver|device)") as error:
        call(X, device="cuda")
    assert native.why_no_device() in str(error.value)


def test_auto_takes_the_processor(no_device):
    assert np.array_equal(tree_ntk(X, device="auto"), tree_ntk(X))
    model = TreeNTKRegressor(device="auto").fit(X, X[:, 0])
    assert np.array_equal(model.dual_coef_, TreeNTKRegressor().fit(X, X[:, 0]).dual_coef_)


def test_arrays_of_a_device_that_cannot_be_used(no_device):
    for device in ("cuda", "auto"):
        with pytest.raises(RuntimeError, match="CUDA"):
            tree_ntk(OnDevice(), device=device)
    with pytest.raises(TypeError, match="GPU"):
        tree_ntk(OnDevice())


def test_native_calls_fail_cleanly_and_repeatedly(no_device):
    place = native.DevicePlace()
    address = native.ArrayAddress(X.ctypes.data, [1, *X.shape], "float64", False)
    out = np.empty((1, 1, 12, 12))
    target = native.ArrayAddress(out.ctypes.data, list(out.shape), "float64", False)
    for _ in range(50):
        with pytest.raises(RuntimeError, match="CUDA|driver"):
            native.device_gram([native.KernelSpec("power", depth=3)], address, None, 2.0, target,
                               place)
        with pytest.raises(RuntimeError, match="CUDA|driver"):
            native.DeviceBuffer(100)


def test_shapes_and_types_are_checked_before_the_device():
    def address(shape, dtype="float64"):
        return native.ArrayAddress(X.ctypes.data, shape, dtype, False)

    specs, place = [native.KernelSpec("power", depth=3)], native.DevicePlace()
    for arguments in (
        (address([1, 12, 3]), None, 2.0, address([1, 1, 12, 13])),
        (address([1, 12, 3]), address([2, 12, 3]), 2.0, address([1, 1, 12, 12])),
        (address([12, 3]), None, 2.0, address([1, 1, 12, 12])),
        (address([1, 12, 3]), None, 2.0, address([1, 1, 12, 12], "float32")),
    ):
        with pytest.raises(ValueError):
            native.device_gram(specs, *arguments, place)


def test_importing_does_not_start_cuda():
    """A process that forks after the import can still use a device."""
    code = ("import fctree, os; "
            "print(any('libcuda.so' in line for line in open('/proc/self/maps')))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
