"""The ways to compute the tree kernel's Gram matrix on a GPU that `bench_gram_cuda.py` compares.

Each is a function of a torch tensor that returns a function without arguments; its result stays on
the device. What a library needs to compile is compiled at its first call. Libraries that are not
installed are left out.
"""

import importlib.util
import math
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

SCALE = 2.0


def installed(name):
    return importlib.util.find_spec(name) is not None


def normalised(x):
    """Rows u with <u, u'> = c, the argument of the arcsine."""
    import torch

    square = torch.einsum("ij,ij->i", x, x)
    return x * (SCALE / torch.sqrt(SCALE**2 * square + 0.5))[:, None]


def ours(x, depth):
    import torch
    from fctree.kernels import tree_ntk

    out = torch.empty((len(x), len(x)), dtype=x.dtype, device=x.device)
    return lambda: tree_ntk(x, depth=depth, scale=SCALE, device="cuda", out=out)


def product(x):
    """The product alone, into memory it has used before."""
    import torch

    u = normalised(x)
    out = torch.empty((len(x), len(x)), dtype=x.dtype, device=x.device)
    return lambda: torch.mm(u, u.T, out=out)


def torch_eager(x, depth):
    """In place, in three matrices: as one would write it who knows the cosine form."""
    import torch

    out = torch.empty((len(x), len(x)), dtype=x.dtype, device=x.device)

    def call():
        u = normalised(x)
        c = torch.mm(u, u.T, out=out)
        g = torch.rsqrt((1 - c * c).clamp_min_(1e-12)).mul_(c).mul_(depth / math.pi)
        t = c.asin_().mul_(1 / math.pi).add_(0.5)
        power = g.add_(t)
        for _ in range(depth - 1):
            power.mul_(t)
        return power

    return call


def torch_compiled(x, depth):
    import torch

    @torch.compile
    def formula(x):
        u = normalised(x)
        c = u @ u.T
        t = torch.asin(c) / math.pi + 0.5
        g = c * torch.rsqrt((1 - c * c).clamp_min(1e-12)) * (depth / math.pi)
        return t ** (depth - 1) * (g + t)

    return lambda: formula(x)


def cupy_elementwise(x, depth):
    """cuBLAS and one fused elementwise kernel."""
    import cupy

    u = cupy.from_dlpack(normalised(x))
    kernel = cupy.ElementwiseKernel(
        "T c, int32 depth", "T k",
        """T t = asin(c) * T(0.3183098861837907) + T(0.5);
           T s = T(1) - c * c;
           T g = c * rsqrt(s > T(1e-12) ? s : T(1e-12)) * T(0.3183098861837907) * depth;
           k = t + g;
           for (int i = 1; i < depth; ++i) k *= t;""",
        "tree_kernel")
    out = cupy.empty((len(x), len(x)), u.dtype)

    def call():
        cupy.matmul(u, u.T, out=out)
        return kernel(out, depth, out)

    return call


def jax_formula(x, depth):
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    import jax.numpy as jnp

    array = jnp.asarray(x.cpu().numpy())

    @jax.jit
    def formula(x):
        u = x * (SCALE / jnp.sqrt(SCALE**2 * jnp.sum(x * x, axis=1) + 0.5))[:, None]
        c = u @ u.T
        t = jnp.arcsin(c) / jnp.pi + 0.5
        g = c * jax.lax.rsqrt(jnp.maximum(1 - c * c, 1e-12)) * (depth / jnp.pi)
        return t ** (depth - 1) * (g + t)

    return lambda: formula(array).block_until_ready()


PEERS = {"torch": ("torch", torch_eager), "torch.compile": ("torch", torch_compiled),
         "cupy": ("cupy", cupy_elementwise), "jax": ("jax", jax_formula)}


def forget():
    """Gives memory back that nobody refers to, so that the next method finds it free."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if installed("cupy"):
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
