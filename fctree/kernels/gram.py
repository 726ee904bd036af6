"""Gram matrices of the tree kernels, and of the ReLU network's and the exponential kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fctree._native import matrix as _native
from fctree._parameters import shares_documentation
from fctree._typing import ArrayLike
from fctree.kernels.architecture import check_depth, check_scale, kernel_spec
from fctree.kernels.compute import compute_gram, compute_product


def tree_ntk(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    depth: float = 3,
    scale: float = 2.0,
    architecture: str | Mapping[int, int] = "perfect",
    device: str = "cpu",
    out: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Tree neural tangent kernel: the kernel of infinitely many soft trees.

    Parameters
    ----------
    X : array-like of shape (n_x, n_features) or (n_problems, n_x, n_features)
        Samples; with three dimensions a batch of problems, with one matrix each. Arrays on a GPU (CuPy,
        torch and others with ``__cuda_array_interface__`` or DLPack) are read in place.
    Y : array-like of shape (n_y, n_features), default=None
        Second set of samples, in a batch (n_problems, n_y, n_features). ``X`` itself if None; then only
        half of the matrix is computed.
    depth : int or inf, default=3
        Depth of the trees; ``inf`` for decision lists only. Unused if `architecture` is a mapping.
    scale : float, default=2.0
        Hardness of the splits: the decision function is ``erf(scale * w @ x) / 2 + 1 / 2``.
        The papers' alpha.
    architecture : str or mapping, default="perfect"
        ``"perfect"``; ``"oblivious"`` (the same kernel in the limit); ``"decision_list"``; ``"rule_set"``
        (one rule of this depth); or, for any tree, ``{depth: number of leaves}`` as returned by
        `leaf_counts`. A mapping costs O(largest depth) per entry; the cost of the named ones does not
        depend on the depth.
    device : {"cpu", "auto", "cuda"}, default="cpu"
        ``"cuda"`` is the current GPU, or that of X. ``"auto"`` is the GPU if it can be used, with one
        warning that names it, else the CPU.
    out : array of shape (n_x, n_y), default=None
        Output array, C-contiguous and of the type of the result; a `numpy.memmap` if memory is too small. A
        GPU copies into it slab by slab.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.

    Returns
    -------
    K : array of shape (n_x, n_y), in a batch (n_problems, n_x, n_y)
        float32 if X and Y are, else float64; exactly symmetric if ``Y`` is None. A NumPy array, or an array
        of the library of X or Y on its device if one of them is on a GPU.

    Raises
    ------
    ValueError, TypeError
        For samples that are not a finite numeric table, parameters out of range, and rows
        longer than 1e150 (float32: 1e18), divided by ``scale`` where there is one.
    MemoryError
        If the matrix cannot fit in memory.
    RuntimeError
        For ``device="cuda"`` if the build, the driver or the device is missing; the message says
        which.

    Notes
    -----
    The formulas are equations 7 to 9 of Kanoh and Sugiyama (2022), and theorem 3 and propositions 1 and 2
    of Kanoh and Sugiyama (2023). There is no bias and no normalisation: add a constant column and
    standardise if needed.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import tree_ntk
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> tree_ntk(X, depth=2).round(3)
    array([[1.768, 0.25 , 0.915],
           [0.25 , 1.768, 0.915],
           [0.915, 0.915, 2.371]])
    >>> tree_ntk(np.stack([X, 2 * X]), depth=2).shape
    (2, 3, 3)
    """
    spec = kernel_spec(depth, architecture)
    scale = check_scale(scale)
    return compute_gram(spec, X, Y, scale=scale, device=device, out=out, n_jobs=n_jobs)


@shares_documentation(tree_ntk)
def tree_ntk_path(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    depths: Iterable[float],
    scale: float = 2.0,
    architecture: str | Mapping[int, int] = "perfect",
    device: str = "cpu",
    out: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Tree neural tangent kernels of several depths, for little more than the cost of one.

    All depths share the products of the samples and the arcsine, which are nearly all of the work.

    Parameters
    ----------
    X, Y, scale, device, n_jobs
        As in `tree_ntk`.
    depths : sequence of int (or inf)
        Depths of the trees, at least one.
    architecture : {"perfect", "oblivious", "decision_list", "rule_set"}, default="perfect"
    out : array of shape (n_depths, n_x, n_y), default=None
        Output array, as in `tree_ntk`.

    Returns
    -------
    K : array of shape (n_depths, n_x, n_y), in a batch (n_problems, n_depths, n_x, n_y)
        ``K[..., i, :, :]`` is the Gram matrix of ``depths[i]``.

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As in `tree_ntk`.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import tree_ntk_path
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> tree_ntk_path(X, depths=[1, 2, 3])[:, 0, 1]
    array([0.5  , 0.25 , 0.125])
    """
    if not isinstance(architecture, str):
        raise TypeError("architecture must be a name: a mapping has no depth to vary")
    try:
        depths = list(depths)
    except TypeError:
        raise TypeError(f"depths must be a sequence such as range(1, 4), got {depths!r}") from None
    if not depths:
        raise ValueError("depths is empty")
    specs = [kernel_spec(depth, architecture) for depth in depths]
    scale = check_scale(scale)
    return compute_gram(specs, X, Y, scale=scale, device=device, out=out, n_jobs=n_jobs)


@shares_documentation(tree_ntk)
def rule_ntk(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    depth: float = 3,
    scale: float = 2.0,
    device: str = "cpu",
    out: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Tangent kernel of infinitely many soft rules with `depth` conditions.

    The kernel of a tree is the sum over its leaves of the rule kernel of the leaf's depth (Kanoh and
    Sugiyama 2023, theorems 2 and 3).

    Parameters
    ----------
    X, Y, scale, device, out, n_jobs
        As in `tree_ntk`.
    depth : int, default=3
        Number of conditions.

    Returns
    -------
    K : array of shape (n_x, n_y)

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As in `tree_ntk`.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import rule_ntk, tree_ntk
    >>> X = np.array([[1.0, 0.5], [-1.0, 2.0]])
    >>> np.allclose(tree_ntk(X, depth=4), 2**4 * rule_ntk(X, depth=4))
    True
    """
    return tree_ntk(
        X, Y, depth=depth, scale=scale, architecture="rule_set", device=device, out=out,
        n_jobs=n_jobs,
    )


@shares_documentation(tree_ntk)
def relu_ntk(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    depth: float = 3,
    device: str = "cpu",
    out: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Neural tangent kernel of an infinitely wide ReLU network, without biases.

    The papers compare tree kernels with it (Arora et al., "On exact computation with an infinitely wide
    neural net", 2019). The time grows linearly with the depth.

    Parameters
    ----------
    X, Y, device, out, n_jobs
        As in `tree_ntk`.
    depth : int, default=3
        Number of layers of weights; 1 is the linear kernel.

    Returns
    -------
    K : array of shape (n_x, n_y)

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As in `tree_ntk`.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import relu_ntk
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> relu_ntk(X, depth=2).round(3)
    array([[2.   , 0.318],
           [0.318, 2.   ]])
    """
    spec = _native.KernelSpec("relu", depth=check_depth(depth, architecture="relu"))
    return compute_gram(spec, X, Y, scale=1.0, device=device, out=out, n_jobs=n_jobs)


@shares_documentation(tree_ntk)
def exponential_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    scale: float = 1.0,
    device: str = "cpu",
    out: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Exponential (Laplace) kernel ``exp(-scale * |x - y|)``, for comparison with tree kernels.

    Radhakrishnan et al. (Science, 2024) use it in recursive feature machines.

    Parameters
    ----------
    X, Y, device, out, n_jobs
        As in `tree_ntk`.
    scale : float, default=1.0
        Inverse of the distance at which the kernel is 1 / e.

    Returns
    -------
    K : array of shape (n_x, n_y)

    Raises
    ------
    ValueError, TypeError, MemoryError, RuntimeError
        As in `tree_ntk`.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import exponential_kernel
    >>> exponential_kernel(np.array([[0.0, 0.0], [3.0, 4.0]]), scale=0.2).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    spec = _native.KernelSpec("exponential")
    return compute_gram(spec, X, Y, scale=check_scale(scale), device=device, out=out, n_jobs=n_jobs)


@shares_documentation(tree_ntk)
def tree_ntk_matvec(
    X: ArrayLike,
    Y: ArrayLike | None,
    v: ArrayLike,
    *,
    depth: float = 3,
    scale: float = 2.0,
    architecture: str | Mapping[int, int] = "perfect",
    device: str = "cpu",
    n_jobs: int | None = None,
) -> Any:
    """Compute ``tree_ntk(X, Y) @ v`` in tiles, without storing the matrix.

    Parameters
    ----------
    X : array-like of shape (n_x, n_features)
    Y : array-like of shape (n_y, n_features), or None for ``X``
    v : array-like of shape (n_y,) or (n_y, n_vectors)
        Vectors to multiply with. In a batch X, Y and v have a leading axis of n_problems.
    depth, scale, architecture, device, n_jobs
        As in `tree_ntk`.

    Returns
    -------
    product : array of shape (n_x,) or (n_x, n_vectors), in a batch with a leading axis of n_problems

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As in `tree_ntk`.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import tree_ntk, tree_ntk_matvec
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> np.allclose(tree_ntk_matvec(X, None, np.ones(50)), tree_ntk(X).sum(axis=1))
    True
    """
    spec = kernel_spec(depth, architecture)
    scale = check_scale(scale)
    return compute_product(spec, X, Y, v, scale=scale, device=device, n_jobs=n_jobs)
