"""The tree ensemble layer as a module of PyTorch (Hazimeh et al. 2020).

``pip install ".[torch]"`` in the source tree. Nothing else in fctree imports PyTorch.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError(
        'fctree.torch needs PyTorch, which the extra "torch" installs: pip install ".[torch]"'
    ) from error

from fctree._native import soft as _native

__all__ = ["TreeEnsembleLayer"]

_NATIVE_TYPES = (torch.float32, torch.float64)


class _NativeTrees(torch.autograd.Function):
    """The compiled passes on the memory of CPU tensors; only the samples are copied."""

    @staticmethod
    def forward(ctx, x, split_weights, leaf_weights, shape):
        x = x.detach().contiguous()
        splits, leaves = split_weights.detach().contiguous(), leaf_weights.detach().contiguous()
        out = x.new_empty((len(x), leaves.shape[2]))
        ctx.layer_pass = _native.new_pass(str(x.dtype).removeprefix("torch."))
        _native.forward(
            ctx.layer_pass,
            x.numpy(),
            splits.numpy(),
            leaves.numpy(),
            out.numpy(),
            shape,
            torch.get_num_threads(),
        )
        ctx.save_for_backward(split_weights, leaf_weights)
        ctx.shape, ctx.x_shape = shape, x.shape
        return out

    @staticmethod
    def backward(ctx, out_gradient):
        if torch.is_grad_enabled():  # once_differentiable misses gradients that have no graph
            raise RuntimeError(
                "gradients of trees on the CPU cannot be differentiated again: create_graph=True is "
                "for the layer on a GPU"
            )
        splits, leaves = (weights.detach().contiguous() for weights in ctx.saved_tensors)
        by_splits, by_leaves = torch.zeros_like(splits), torch.zeros_like(leaves)
        by_x = splits.new_empty(ctx.x_shape) if ctx.needs_input_grad[0] else None
        if ctx.x_shape[0] > 0:
            _native.backward(
                ctx.layer_pass,
                splits.numpy(),
                leaves.numpy(),
                out_gradient.contiguous().numpy(),
                by_splits.numpy(),
                by_leaves.numpy(),
                None if by_x is None else by_x.numpy(),
                ctx.shape,
                torch.get_num_threads(),
            )
        return by_x, by_splits, by_leaves, None


@torch.compiler.disable
def _on_cpu(x, split_weights, leaf_weights, shape):
    return _NativeTrees.apply(x, split_weights, leaf_weights, shape)


def _is_exported():
    """Whether this call is recorded as operations of torch, by `torch.jit.trace`, `torch.export` or `torch.onnx`."""
    exporting = getattr(torch.compiler, "is_exporting", torch.jit.is_tracing)  # since torch 2.7
    return torch.jit.is_tracing() or exporting()


def _share_of_left(t, routing, gamma):
    if routing == "logistic":
        return torch.sigmoid(t * (6.0 / gamma))
    v = (t / gamma + 0.5).clamp(0.0, 1.0)
    return v * v * (3.0 - 2.0 * v)


def _in_torch(x, split_weights, leaf_weights, routing, gamma):
    """The sum of the trees with torch operations: every node of every sample."""
    n_trees, n_nodes, _ = split_weights.shape
    t = torch.matmul(x, split_weights.flatten(0, 1).T)
    share = _share_of_left(t, routing, gamma).unflatten(1, (n_trees, n_nodes))
    reach = torch.cat([share[:, :, :1], 1.0 - share[:, :, :1]], dim=2)
    width = 2
    while width <= n_nodes:
        left = reach * share[:, :, width - 1 : 2 * width - 1]
        reach = torch.stack([left, reach - left], dim=3).flatten(2)
        width *= 2
    return torch.einsum("ntl,tlk->nk", reach, leaf_weights)


class TreeEnsembleLayer(torch.nn.Module):
    """Layer with conditional computation: a sum of soft oblique trees.

    Maps (..., in_features) to (..., out_features), like `torch.nn.Linear`. A node sends a sample left with
    probability ``S(<w, x>)``, which is 0 or 1 outside a band of width `gamma`; subtrees that a sample does
    not reach are computed neither forward nor backward. Standardise the inputs, for example with a
    `torch.nn.BatchNorm1d`.

    On the CPU, float32 and float64 tensors use the compiled core with ``torch.get_num_threads()`` threads.
    On other devices the same function is computed densely with torch operations, without conditional
    computation.

    Parameters
    ----------
    in_features : int
    out_features : int
    n_trees : int, default=10
    depth : int, default=4
        Levels of splits, from 1 to 15.
    gamma : float, default=1.0
        Width of the band, positive; smaller values give harder and faster trees.
    routing : {"smooth_step", "logistic"}, default="smooth_step"
        ``"logistic"``, ``1 / (1 + exp(-6 t / gamma))``, reaches every leaf.
    device, dtype : default=None
        Device and type of the parameters, as for modules of torch.

    Attributes
    ----------
    split_weights : torch.nn.Parameter of shape (n_trees, 2**depth - 1, in_features)
        Breadth-first, left first; no bias.
    leaf_weights : torch.nn.Parameter of shape (n_trees, 2**depth, out_features)

    Raises
    ------
    ValueError
        For sizes below 1, a depth above 15, a non-positive gamma, an unknown routing, or (in `forward`)
        samples with another number of features.
    TypeError
        For samples of another type than the weights, unless `torch.autocast` is on.

    Examples
    --------
    >>> import torch
    >>> from fctree.torch import TreeEnsembleLayer
    >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(8), TreeEnsembleLayer(8, 3, depth=5))
    >>> model(torch.randn(64, 8)).shape
    torch.Size([64, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        n_trees: int = 10,
        depth: int = 4,
        gamma: float = 1.0,
        *,
        routing: str = "smooth_step",
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        sizes = {"in_features": in_features, "out_features": out_features, "n_trees": n_trees}
        for name, size in {**sizes, "depth": depth}.items():
            if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {size!r}")
        if depth > 15:
            raise ValueError(f"depth must be at most 15, got {depth}")
        if not isinstance(gamma, (float, Real)) or not gamma > 0.0:
            raise ValueError(f"gamma must be positive, got {gamma!r}")
        if routing not in ("smooth_step", "logistic"):
            raise ValueError(f"routing must be 'smooth_step' or 'logistic', got {routing!r}")
        self.in_features = in_features
        self.out_features = out_features
        self.n_trees = n_trees
        self.depth = depth
        self.gamma = float(gamma)
        self.routing = routing
        factory = {"device": device, "dtype": dtype}
        self.split_weights = torch.nn.Parameter(
            torch.empty((n_trees, 2**depth - 1, in_features), **factory)
        )
        self.leaf_weights = torch.nn.Parameter(
            torch.empty((n_trees, 2**depth, out_features), **factory)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights: products of standardised inputs then have a deviation of 1."""
        torch.nn.init.normal_(self.split_weights, std=self.in_features**-0.5)
        torch.nn.init.normal_(self.leaf_weights, std=0.1 * self.n_trees**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of the trees.

        Parameters
        ----------
        x : Tensor of shape (..., in_features)

        Returns
        -------
        out : Tensor of shape (..., out_features)

        Raises
        ------
        ValueError
            If `x` has another number of features.
        TypeError
            If `x` is no tensor, or of another type than the weights.
        """
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"x must be a tensor of torch, got {type(x)}")
        if x.shape[-1:] != (self.in_features,):
            raise ValueError(
                f"x has {x.shape[-1] if x.ndim else 'no'} features, but the layer has in_features={self.in_features}"
            )
        rows = x.reshape(-1, self.in_features)
        if rows.device.type == "cpu" and rows.dtype in _NATIVE_TYPES and not _is_exported():
            if rows.dtype != self.split_weights.dtype:
                raise self._wrong_type(rows)
            shape = {
                "routing": _native.Routing[self.routing].value,
                "gamma": self.gamma,
                "scale": 1.0,
            }
            out = _on_cpu(rows, self.split_weights, self.leaf_weights, shape)
        elif rows.dtype == self.split_weights.dtype:
            out = self._dense(rows)
        else:
            try:  # autocast makes one type of two
                out = self._dense(rows)
            except RuntimeError as error:
                raise self._wrong_type(rows) from error
        return out.reshape(*x.shape[:-1], self.out_features)

    def _dense(self, rows):
        return _in_torch(rows, self.split_weights, self.leaf_weights, self.routing, self.gamma)

    def _wrong_type(self, rows):
        own = self.split_weights.dtype
        return TypeError(
            f"x is {rows.dtype}, but the layer takes {own}, the type of its weights: x.to({own}) is such a tensor, "
            "layer.to(torch.float32) or torch.float64 a layer of another type"
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"n_trees={self.n_trees}, depth={self.depth}, gamma={self.gamma}, "
            f"routing={self.routing!r}"
        )
