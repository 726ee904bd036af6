"""Soft trees of any shape, leaf by leaf: P(x -> leaf) is the product along the path to it."""

import numpy as np
from reference import literal_soft_trees as literal
from scipy.special import erf, expit


def numbered(parents):
    """Paths [(split, side), ..] to the leaves of a parent array; numbers go by depth, then from
    left to right."""
    places = {0: ()}
    for node, parent in enumerate(parents[1:], 1):
        side = sum(p == parent for p in parents[1:node])
        places[node] = (*places[parent], side)
    inner = {places[parent] for parent in parents[1:]}

    def order(place):
        return len(place), place

    splits = {place: i for i, place in enumerate(sorted(inner, key=order))}
    leaves = sorted(set(places.values()) - inner, key=order)
    return [[(splits[leaf[:k]], side) for k, side in enumerate(leaf)] for leaf in leaves]


def children(parents):
    """Children by those numbers, (n_splits, 2)."""
    paths = numbered(parents)
    n_splits = len(paths) - 1
    table = np.zeros((n_splits, 2), dtype=np.int32)
    for leaf, path in enumerate(paths):
        below = [split for split, _ in path[1:]] + [n_splits + leaf]
        for (split, side), child in zip(path, below, strict=True):
            table[split, side] = child
    return table


def share_and_slope(t, routing, gamma, scale):
    """S(t) and S'(t)."""
    if routing == "smooth_step":
        return literal.smooth_step(t, gamma), literal.smooth_step_slope(t, gamma)
    if routing == "logistic":
        share = expit(6 * t / gamma)
        return share, 6 / gamma * share * (1 - share)
    return 0.5 * (1 + erf(scale * t)), scale / np.sqrt(np.pi) * np.exp(-((scale * t) ** 2))


def passes(parents, X, splits, leaves, gradient, *, routing="smooth_step", gamma=1.0, scale=1.0):
    """The output, the gradients by splits, leaves and X, and the number of reached leaves."""
    paths = numbered(parents)
    out = np.zeros((len(X), leaves.shape[2]))
    by_split, by_leaf, by_x = np.zeros_like(splits), np.zeros_like(leaves), np.zeros_like(X)
    n_reached = 0
    for tree in range(len(splits)):
        for i, x in enumerate(X):
            routed = [share_and_slope(float(w @ x), routing, gamma, scale) for w in splits[tree]]
            for leaf, path in enumerate(paths):
                factors = [routed[s][0] if side == 0 else 1 - routed[s][0] for s, side in path]
                value = leaves[tree, leaf]
                out[i] += np.prod(factors) * value
                n_reached += np.prod(factors) > 0
                by_leaf[tree, leaf] += np.prod(factors) * gradient[i]
                for k, (s, side) in enumerate(path):
                    others = np.prod(factors[:k]) * np.prod(factors[k + 1 :])
                    slope = (1 - 2 * side) * routed[s][1] * others * float(value @ gradient[i])
                    by_split[tree, s] += slope * x
                    by_x[i] += slope * splits[tree, s]
    return (out, by_split, by_leaf, by_x), n_reached


def descend(parents, Z, Y, splits, leaves, *, learning_rate, n_steps, factor=1.0, **routing):
    """Gradient descent on half the mean squared error, all samples a batch; changes the weights."""
    for _ in range(n_steps):
        none = np.zeros((len(Z), leaves.shape[2]))
        out = passes(parents, Z, splits, leaves, none, **routing)[0][0]
        by_out = factor * (factor * out - Y) / len(Z)
        _, by_split, by_leaf, _ = passes(parents, Z, splits, leaves, by_out, **routing)[0]
        splits -= learning_rate * by_split
        leaves -= learning_rate * by_leaf
