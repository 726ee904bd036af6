"""Checks of public arguments, allocation of outputs and native calls, on the CPU or a GPU.

X and Y are tables, or batches of tables (n_problems, n_samples, n_features); the native calls on
a batch, and all on a GPU, take both as batches.
"""

import numpy as np

from fctree._native import matrix as _native
from fctree._threads import count_threads
from fctree.kernels import device as _device
from fctree.kernels.checks import (
    allocate_gram,
    check_kernel_samples,
    check_same_problems,
    check_samples_shape,
    check_vectors,
    check_vectors_shape,
    warn_if_not_finite,
)


def compute_gram(spec, X, Y, *, scale, device, out, n_jobs):
    """The Gram matrix of a specification, or those of a batch; of a list one per specification, along the axis in front of
    the matrix's axes."""
    specs, axis = (spec, (len(spec),)) if isinstance(spec, list) else ([spec], ())
    if _device.uses_gpu(device, X, Y, out):
        return _gram_on_gpu(specs, axis, X, Y, scale=scale, out=out)
    X, Y = check_kernel_samples(X, Y, batch=True)
    out = allocate_gram(_gram_shape(X, Y, *axis), X.dtype, out, (X, Y))
    X, Y = map(_batch, (X, Y))
    whole = out.reshape(len(X), len(specs), *out.shape[-2:])
    _native.gram(specs, X, Y, scale, whole, count_threads(n_jobs))
    return out


def compute_product(spec, X, Y, v, *, scale, device, n_jobs, to_host=False):
    """K(X, Y) v without the matrix; with `to_host` always a NumPy array."""
    if _device.uses_gpu(device, X, Y, v):
        return _product_on_gpu(spec, X, Y, v, scale=scale, to_host=to_host)
    X, Y = check_kernel_samples(X, Y, batch=True)
    vectors, one = check_vectors(v, X.shape if Y is None else Y.shape, X.dtype)
    out = np.empty((*X.shape[:-1], vectors.shape[-1]), dtype=X.dtype)
    _native.gram_product(spec, *map(_batch, (X, Y)), scale, *map(_batch, (vectors, out)),
                         count_threads(n_jobs))
    warn_if_not_finite("the product is", out)
    return out[..., 0] if one else out


def _batch(array):
    """A table as a batch of one table."""
    return array[np.newaxis] if array is not None and array.ndim == 2 else array


def _gram_shape(X, Y, *axis):
    columns = X if Y is None else Y
    return (*X.shape[:-2], *axis, X.shape[-2], columns.shape[-2])


def _check_for_gpu(X, Y):
    """Samples in place, of one type; those on the host as for the CPU."""
    names = ("X", "Y")
    arrays = [X] if Y is None else [X, Y]
    arrays = [
        _device.as_readable(a, name) if _device.on_device(a)
        else check_kernel_samples(a, None, batch=True)[0]
        for a, name in zip(arrays, names, strict=False)
    ]
    for array, name in zip(arrays, names, strict=False):
        check_samples_shape(tuple(array.shape), name)
    if Y is not None:
        check_same_problems(tuple(arrays[0].shape), tuple(arrays[1].shape))
    dtype = np.result_type(*(_device.dtype_of(a) for a in arrays))
    arrays = [_device.cast(a, dtype, name) for a, name in zip(arrays, names, strict=False)]
    return (*arrays, None)[:2], dtype


def _address(array, shape):
    """Argument of the native side: an address with the shape to read it in."""
    if array is None:
        return None
    return _native.ArrayAddress(
        _device.address_of(array), list(shape), _device.dtype_of(array).name,
        _device.on_device(array),
    )


def _as_batch(array):
    """An array's address in the shape of a batch."""
    if array is None:
        return None
    return _address(array, (1, *array.shape)[-3:])


def _output_for_gpu(out, shape, dtype, samples):
    """The given output, if it fits; else a new one on the samples' device."""
    if out is not None and _device.on_device(out):
        memory = _device.as_writable(out, "out")
        if tuple(memory.shape) != shape:
            raise ValueError(f"out must be a C-contiguous array of shape {shape} and type {dtype}")
        if _device.dtype_of(memory) != dtype:
            raise ValueError(f"out must be of type {dtype}, got {_device.dtype_of(memory)}")
        _refuse_overlap(memory, samples)
        return memory
    there = [a for a in samples if a is not None and _device.on_device(a)]
    if out is None and there:
        return _device.empty_like(there[0], shape, dtype)
    return allocate_gram(shape, dtype, out, [a for a in samples if isinstance(a, np.ndarray)])


def _refuse_overlap(out, samples):
    def ends(array):
        begin = _device.address_of(array)
        return begin, begin + int(np.prod(array.shape)) * _device.dtype_of(array).itemsize

    begin, end = ends(out)
    for array in samples:
        if array is not None and _device.on_device(array):
            first, last = ends(array)
            if first < end and begin < last:
                raise ValueError("out must not share memory with X or Y")


def _gram_on_gpu(specs, axis, X, Y, *, scale, out):
    samples, dtype = _check_for_gpu(X, Y)
    shape = tuple(int(n) for n in _gram_shape(*samples, *axis))
    memory = _output_for_gpu(out, shape, dtype, samples)
    whole = (1 if samples[0].ndim == 2 else shape[0], len(specs), *shape[-2:])
    _native.device_gram(specs, *map(_as_batch, samples), scale, _address(memory, whole),
                        _device.place_for((*samples, memory)))
    return memory if out is None else out


def _product_on_gpu(spec, X, Y, v, *, scale, to_host):
    samples, dtype = _check_for_gpu(X, Y)
    X, columns = samples[0], samples[0] if samples[1] is None else samples[1]
    if _device.on_device(v):
        vectors = _device.cast(_device.as_readable(v, "v"), dtype, "v")
        one = check_vectors_shape(tuple(vectors.shape), tuple(columns.shape))
    else:
        vectors, one = check_vectors(v, tuple(columns.shape), dtype)
    n_vectors = 1 if one else int(vectors.shape[-1])
    shape = (*(int(n) for n in X.shape[:-1]), *(() if one else (n_vectors,)))
    there = None if to_host else next((a for a in (*samples, vectors) if _device.on_device(a)), None)
    out = np.empty(shape, dtype) if there is None else _device.empty_like(there, shape, dtype)
    n_problems = 1 if X.ndim == 2 else int(X.shape[0])
    _native.device_product(
        spec, *map(_as_batch, samples), scale,
        _address(vectors, (n_problems, int(columns.shape[-2]), n_vectors)),
        _address(out, (n_problems, int(X.shape[-2]), n_vectors)),
        _device.place_for((*samples, vectors, out)),
    )
    if there is None:
        warn_if_not_finite("the product is", out)
    return out
