"""The compiled passes of soft trees as plain functions of arrays, for the tests."""

import numpy as np
from fctree._native import soft

KINDS = {"conditional": soft.PassKind.conditional, "dense": soft.PassKind.dense,
         "automatic": soft.PassKind.automatic}


def shape_of(routing="smooth_step", gamma=1.0, scale=1.0, children=None):
    return {"routing": soft.Routing[routing].value, "gamma": gamma, "scale": scale,
            "children": children}


def random_ensemble(seed, *, n=37, p=5, trees=3, depth=4, outputs=2, spread=1.0,
                    n_splits=None, dtype=np.float64):
    """Samples, weights and a gradient by the output, standard normal but for the splits."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    n_splits = 2**depth - 1 if n_splits is None else n_splits
    splits = rng.standard_normal((trees, n_splits, p)) * spread / np.sqrt(p)
    leaves = rng.standard_normal((trees, n_splits + 1, outputs))
    gradient = rng.standard_normal((n, outputs))
    return tuple(np.ascontiguousarray(a, dtype=dtype) for a in (X, splits, leaves, gradient))


def run(X, splits, leaves, gradient=None, *, kind="conditional", n_threads=1, **routing):
    """The output, and the gradients by splits, leaves and X where one by the output is given."""
    shape = shape_of(**routing)
    layer_pass = soft.new_pass(X.dtype, KINDS[kind].value)
    out = np.full((len(X), leaves.shape[2]), np.nan, dtype=X.dtype)
    soft.forward(layer_pass, X, splits, leaves, out, shape, n_threads)
    if gradient is None:
        return out
    gradients = np.zeros_like(splits), np.zeros_like(leaves), np.zeros_like(X)
    soft.backward(layer_pass, splits, leaves, gradient, *gradients, shape, n_threads)
    return out, *gradients


def reached(X, splits, leaves, _=None, *, kind="conditional", **routing):
    layer_pass = soft.new_pass(X.dtype, KINDS[kind].value)
    out = np.zeros((len(X), leaves.shape[2]), dtype=X.dtype)
    soft.forward(layer_pass, X, splits, leaves, out, shape_of(**routing), 1)
    return soft.reached_leaves(layer_pass), soft.workspace_bytes(layer_pass)
