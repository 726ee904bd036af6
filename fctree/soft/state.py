"""State of training: weights, Adam's moments, running means, counters, as NumPy arrays."""

import numpy as np

from fctree._memory import check_memory
from fctree._native import soft as _native
from fctree.kernels.binary_tree import binary_tree

MOST_LEAVES = 2**15

# Deviations at the start, for standardised features: of products <w, x>, and of what is added.
# With gamma = 1 six samples in ten are then routed softly at a node. Harder starts train faster,
# softer ones predict smooth targets better.
_SPLIT_SPREAD = 0.5
_INTERCEPT_SPREAD = 0.25

ARRAYS = (
    "split_weights", "leaf_weights", "split_first_moment", "split_second_moment",
    "leaf_first_moment", "leaf_second_moment", "running_mean", "running_variance",
    "reached_leaves",
)  # fmt: skip
# What predicts. After early stopping these are the best ones; if the last epoch's are others, the state has them too.
WEIGHTS = "split_weights", "leaf_weights", "running_mean", "running_variance"
LAST_WEIGHTS = tuple(f"last_{name}" for name in WEIGHTS)


def tree_shape(estimator):
    """The children of every split, (n_splits, 2) int32: `fctree.kernels.binary_tree`."""
    children = binary_tree(estimator.architecture, estimator.depth, most_leaves=MOST_LEAVES)
    if len(children) == 0:
        raise ValueError("architecture: a single leaf, but a tree needs a split")
    return children


def initial_state(estimator, *, n_features, n_outputs, dtype, seed, n_threads):
    """The state before the first step, a dict with the names of the core's ``SoftState``."""
    children = tree_shape(estimator)
    has_intercept = bool(estimator.fit_intercept)
    width = n_features + has_intercept
    shape = 4, estimator.n_trees, len(children), width + n_outputs
    check_memory("the weights of all trees, their gradients and two moments", shape, dtype, "lower n_trees or depth")
    splits = np.empty((estimator.n_trees, len(children), width), dtype=dtype)
    leaves = np.empty((estimator.n_trees, len(children) + 1, n_outputs), dtype=dtype)
    spread = {"splits": 1.0, "intercepts": 1.0, "leaves": 1.0}
    if estimator.initialization != "ntk":
        split = _SPLIT_SPREAD / np.sqrt(n_features)
        spread = {"splits": split, "intercepts": _INTERCEPT_SPREAD, "leaves": 0.0}
    spread["has_intercept"] = has_intercept
    _native.draw_weights(
        splits, leaves, children=children, spread=spread, seed=seed, n_threads=n_threads
    )
    return {
        "children": children,
        "split_weights": splits,
        "leaf_weights": leaves,
        "split_first_moment": np.zeros_like(splits),
        "split_second_moment": np.zeros_like(splits),
        "leaf_first_moment": np.zeros_like(leaves),
        "leaf_second_moment": np.zeros_like(leaves),
        "running_mean": np.zeros(n_features),
        "running_variance": np.zeros(n_features),
        "reached_leaves": np.full(estimator.n_trees, -1.0),
        "n_batches": 0,
        "n_epochs": 0,
    }


def copied(state):
    """A state to train on, from the last epoch, so that a fit that does not end leaves the model as it was."""
    last = {name: state.get(f"last_{name}", state[name]).copy() for name in ARRAYS}
    return {name: value for name, value in state.items() if name not in LAST_WEIGHTS} | last


def with_best(state, best):
    """The state after training, with these weights to predict with."""
    if all(np.array_equal(best[name], state[name]) for name in WEIGHTS):
        return state
    return state | best | {f"last_{name}": state[name] for name in WEIGHTS}
