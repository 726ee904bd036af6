"""The ways to compute the tree kernel's Gram matrix that `bench_gram.py` compares.

Each returns a function without arguments that computes the matrix of perfect trees of a depth
into memory it has used before, where the library allows that. Libraries that are not installed
are left out.
"""

import importlib.util

import numpy as np
from fctree.kernels import tree_ntk
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

SCALE = 2.0


def product_floor(X):
    """The product alone, both ways that NumPy has; the faster one is the floor."""
    Z, out = X.copy(), np.empty((len(X), len(X)), X.dtype)
    return {"product X @ X.T": lambda: np.matmul(X, X.T, out=out),
            "product X @ Z.T": lambda: np.matmul(X, Z.T, out=out)}


def ours(X, depth, n_jobs):
    out = np.empty((len(X), len(X)), X.dtype)
    return lambda: tree_ntk(X, depth=depth, scale=SCALE, out=out, n_jobs=n_jobs)


def plain_numpy(X, depth):
    """The papers' formula, as one would write it."""
    a2 = X.dtype.type(SCALE**2)

    def call():
        S = X @ X.T
        d = np.diag(S)
        T = np.arcsin(a2 * S / np.sqrt(np.outer(a2 * d + 0.5, a2 * d + 0.5))) / (2 * np.pi) + 0.25
        Td = a2 / np.pi / np.sqrt(np.outer(1 + 2 * a2 * d, 1 + 2 * a2 * d) - 4 * a2**2 * S**2)
        return (2 * T) ** (depth - 1) * (2 * depth * S * Td + 2 * T)

    return call


def tuned_numpy(X, depth):
    """NumPy in place, with the cosine form: S Td = c / (2 pi sqrt(1 - c^2))."""
    c = np.empty((len(X), len(X)), X.dtype)
    t, g = np.empty_like(c), np.empty_like(c)
    length = np.sqrt(SCALE**2 * np.einsum("ij,ij->i", X, X) + 0.5)
    U = (X * (SCALE / length)[:, None]).astype(X.dtype)
    V = U.copy()

    def call():
        np.matmul(U, V.T, out=c)
        np.multiply(c, c, out=g)
        np.subtract(1, g, out=g)
        np.sqrt(g, out=g)
        np.divide(c, g, out=g)
        g.__imul__(depth / np.pi)
        np.arcsin(c, out=t)
        t.__imul__(1 / np.pi)
        t.__iadd__(0.5)
        g.__iadd__(t)
        for _ in range(depth - 1):
            g.__imul__(t)
        return g

    return call


def numba_loops(X, depth):
    """Two loops over the entries after NumPy's product, compiled in parallel."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def pointwise(c, out):
        for i in numba.prange(c.shape[0]):
            for j in range(c.shape[1]):
                t = np.arcsin(c[i, j]) / np.pi + 0.5
                g = c[i, j] / (np.pi * np.sqrt(1 - c[i, j] ** 2))
                out[i, j] = t ** (depth - 1) * (depth * g + t)

    c = np.empty((len(X), len(X)), X.dtype)
    out = np.empty_like(c)
    length = np.sqrt(SCALE**2 * np.einsum("ij,ij->i", X, X) + 0.5)
    U = (X * (SCALE / length)[:, None]).astype(X.dtype)

    def call():
        np.matmul(U, U.T, out=c)
        pointwise(c, out)
        return out

    return call


def torch_formula(X, depth, compiled):
    import torch

    tensor = torch.from_numpy(X)

    def formula(x):
        d = torch.einsum("ij,ij->i", x, x)
        u = x * (SCALE / torch.sqrt(SCALE**2 * d + 0.5))[:, None]
        c = u @ u.T
        t = torch.asin(c) / torch.pi + 0.5
        return t ** (depth - 1) * (depth * c / (torch.pi * torch.sqrt(1 - c * c)) + t)

    function = torch.compile(formula) if compiled else formula
    return lambda: function(tensor).numpy()


def jax_formula(X, depth):
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    array = jnp.asarray(X)

    @jax.jit
    def formula(x):
        u = x * (SCALE / jnp.sqrt(SCALE**2 * jnp.sum(x * x, axis=1) + 0.5))[:, None]
        c = u @ u.T
        t = jnp.arcsin(c) / jnp.pi + 0.5
        return t ** (depth - 1) * (depth * c / (jnp.pi * jnp.sqrt(1 - c * c)) + t)

    return lambda: np.asarray(formula(array).block_until_ready())


def neural_tangents_relu(X, depth):
    """The rectifier kernel of neural-tangents with `depth` layers, without biases."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from neural_tangents import stax

    layers = [stax.Dense(1)]
    for _ in range(depth - 1):
        layers += [stax.Relu(), stax.Dense(1)]
    kernel = jax.jit(stax.serial(*layers)[2], static_argnames="get")
    array = jax.numpy.asarray(X)
    return lambda: np.asarray(kernel(array, None, get="ntk").block_until_ready())


def installed(name):
    return importlib.util.find_spec(name) is not None


def all_methods(X, depth, *, n_jobs, with_slow):
    """Name to call, fctree and the floors first."""
    calls = {"fctree": ours(X, depth, n_jobs), **product_floor(X)}
    calls["numpy, tuned"] = tuned_numpy(X, depth)
    if installed("torch"):
        calls["torch"] = torch_formula(X, depth, compiled=False)
        calls["torch.compile"] = torch_formula(X, depth, compiled=True)
    if installed("numba"):
        calls["numba"] = numba_loops(X, depth)
    if installed("jax"):
        calls["jax"] = jax_formula(X, depth)
    for call in list(calls.values()):
        call()  # what is compiled at the first call is compiled here
    calls["numpy, plain"] = plain_numpy(X, depth)
    calls["scikit-learn rbf"] = lambda: rbf_kernel(X, gamma=0.1)
    if with_slow:
        calls["scikit-learn laplacian"] = lambda: laplacian_kernel(X, gamma=0.1)
    return calls
