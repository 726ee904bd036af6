"""Choice of the device, and arrays on a GPU.

CuPy arrays, torch tensors and others with ``__cuda_array_interface__`` are read in place. Arrays
with only DLPack go through CuPy or torch, without a copy. Results for input on a device are arrays
of the input's library, on its device.
"""

import math
import sys

import numpy as np

from fctree._native import matrix as _native
from fctree._warnings import warn

DEVICES = ("cpu", "auto", "cuda")
_FLOATS = {"<f4": np.dtype(np.float32), "<f8": np.dtype(np.float64)}
_DLPACK_CUDA = (2, 13)  # a device's memory, and managed memory
_announced: set[str] = set()


def uses_gpu(device, *arrays):
    """Whether to compute on a GPU: by the device, and by where the arrays of the computation are.

    ValueError for another device than those of `DEVICES`, TypeError for an array on a GPU and
    ``device="cpu"``, RuntimeError for ``device="cuda"`` where the build, the driver or the device is
    missing.
    """
    if device not in DEVICES:
        raise ValueError(f"device must be 'cpu', 'auto' or 'cuda', got {device!r}")
    there = any(on_device(array) for array in arrays)
    if device == "cpu":
        if there:
            raise TypeError("an array lies on a GPU: pass device='cuda', or copy it to the host")
        return False
    reason = _native.why_no_device()
    if reason and (device == "cuda" or there):
        raise RuntimeError(f"device={device!r}: CUDA cannot be used: {reason}")
    if device == "auto" and not reason:
        _announce(_native.device_name())
    return not reason


def _announce(name):
    if name not in _announced:
        _announced.add(name)
        warn(f"device='auto': kernels are computed on {name}")


def _library(array):
    """Name of an array's library, "torch" or "cupy", also for derived classes; None for others."""
    for name, kind in (("torch", "Tensor"), ("cupy", "ndarray")):
        if isinstance(array, getattr(sys.modules.get(name), kind, ())):
            return name
    return None


def on_device(array):
    """Whether an array lies in a GPU's memory."""
    if array is None or isinstance(array, np.ndarray):
        return False
    if _library(array) == "torch":
        return bool(getattr(array, "is_cuda", False))
    if getattr(array, "__cuda_array_interface__", None) is not None:
        return True
    place = getattr(array, "__dlpack_device__", None)
    return place is not None and int(place()[0]) in _DLPACK_CUDA


class DeviceArray:
    """GPU array for results whose input is of an unknown library.

    Readable through ``__cuda_array_interface__``: ``cupy.asarray(a)``,
    ``torch.as_tensor(a, device="cuda")``, numba. `numpy` copies to the host.
    """

    def __init__(self, shape, dtype, device=-1):
        self.shape = tuple(int(length) for length in shape)
        self.dtype = np.dtype(dtype)
        n_bytes = math.prod(self.shape) * self.dtype.itemsize
        self._buffer = _native.DeviceBuffer(n_bytes, device)

    @classmethod
    def of(cls, array):
        """A copy of a C-contiguous NumPy array."""
        there = cls(array.shape, array.dtype)
        there._buffer.fill(array)
        return there

    @property
    def ndim(self):
        """Number of dimensions."""
        return len(self.shape)

    def __len__(self):
        return self.shape[0]

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "strides": None, "version": 3,
                "data": (self._buffer.address, False)}

    def numpy(self):
        """A copy on the host."""
        array = np.empty(self.shape, self.dtype)
        self._buffer.read(array)
        return array


def as_readable(array, name):
    """An array on a device, C-contiguous, of float32 or float64, with a known interface."""
    array = _with_interface(array, name)
    library = _library(array)
    if library == "torch":
        import torch

        if array.dtype not in (torch.float32, torch.float64):
            _refuse_complex(array.dtype.is_complex, name)
            array = array.to(torch.float64)
        return array.contiguous()
    if library == "cupy":
        import cupy

        _refuse_complex(array.dtype.kind == "c", name)
        dtype = array.dtype if array.dtype.str in _FLOATS else np.float64
        with array.device:
            return cupy.ascontiguousarray(array, dtype=dtype)
    interface = array.__cuda_array_interface__
    if interface["typestr"] not in _FLOATS:
        raise ValueError(f"{name} on a device must be float32 or float64, got "
                         f"{interface['typestr']!r}")
    if not _is_contiguous(interface):
        raise ValueError(f"{name} on a device must be C-contiguous")
    return array


def as_writable(array, name):
    """The memory of an array on a device, with a known interface, to write into."""
    array = _with_interface(array, name)
    interface = array.__cuda_array_interface__
    if interface["typestr"] not in _FLOATS or not _is_contiguous(interface) or interface["data"][1]:
        raise ValueError(f"{name} must be C-contiguous, writeable and of type float32 or float64")
    return array


def _with_interface(array, name):
    """The array, or a view of it, with an interface that is known; its contents are complete or will
    be in `stream_of` it."""
    library = _library(array)
    if library == "torch":
        return array.detach()
    if library != "cupy" and not hasattr(array, "__cuda_array_interface__"):
        return _through_dlpack(array, name)
    # JAX computes in streams that its interface does not name.
    wait = getattr(array, "block_until_ready", None)
    if wait is not None:
        wait()
    return array


def _refuse_complex(is_complex, name):
    if is_complex:
        raise ValueError(f"Complex data not supported: {name}")


def _through_dlpack(array, name):
    for library in ("cupy", "torch"):
        module = sys.modules.get(library)
        if module is not None:
            return module.from_dlpack(array)
    raise TypeError(f"{name} is on a device and has only DLPack: import cupy or torch to read it")


def _is_contiguous(interface):
    strides = interface.get("strides")
    if strides is None or 0 in interface["shape"]:
        return True
    expected = np.dtype(interface["typestr"]).itemsize
    for length, stride in zip(reversed(interface["shape"]), reversed(strides), strict=True):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True


def dtype_of(array):
    """NumPy's type of an array of any library."""
    if isinstance(array, (np.ndarray, DeviceArray)):
        return array.dtype
    return _FLOATS[array.__cuda_array_interface__["typestr"]]


def cast(array, dtype, name):
    """The array in another type, by its own library."""
    if dtype_of(array) == dtype:
        return array
    library = _library(array)
    if library == "torch":
        import torch

        return array.to(getattr(torch, np.dtype(dtype).name))
    if isinstance(array, np.ndarray):
        return array.astype(dtype)
    if library == "cupy":
        with array.device:
            return array.astype(dtype)
    raise ValueError(f"{name} on a device must be of type {np.dtype(dtype)}, as the others")


def empty_like(array, shape, dtype):
    """A new array of the library and on the device of `array`."""
    library = _library(array)
    if library == "torch":
        import torch

        try:
            return torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name), device=array.device)
        except torch.cuda.OutOfMemoryError as error:
            raise MemoryError(str(error)) from error
    if library == "cupy":
        import cupy

        with array.device:
            return cupy.empty(shape, dtype)
    return DeviceArray(shape, dtype, _native.device_of(address_of(array)))


def address_of(array):
    """The address of an array's first element."""
    if isinstance(array, np.ndarray):
        return array.__array_interface__["data"][0]
    return array.__cuda_array_interface__["data"][0]


def stream_of(array):
    """The stream in which an array may still be written, as an int; None if there is none."""
    library = _library(array)
    if library == "torch":
        import torch

        return torch.cuda.current_stream(array.device).cuda_stream
    if library == "cupy":
        import cupy

        with array.device:
            return cupy.cuda.get_current_stream().ptr
    return array.__cuda_array_interface__.get("stream")


def place_for(arrays):
    """The device and stream for a call on these arrays: those of the first, after waiting for the
    others."""
    there = [array for array in arrays if array is not None and on_device(array)]
    if not there:
        return _native.DevicePlace()
    devices = {_native.device_of(address_of(array)) for array in there}
    if len(devices) > 1:
        raise ValueError(f"the arrays lie on several devices: {sorted(devices)}")
    device = devices.pop()
    streams = dict.fromkeys(stream_of(array) for array in there)
    streams.pop(None, None)
    first, *others = streams or (0,)
    for stream in others:
        _native.wait_for_stream(stream, device)
    return _native.DevicePlace(device, first)
