"""Shapley values and path attributions by their definitions: all coalitions, fine steps on a line."""

from math import factorial

import numpy as np


def coalitions(n_players):
    """All subsets as a bool array (2**n_players, n_players); row numbers are their bits."""
    return (np.arange(2**n_players)[:, np.newaxis] >> np.arange(n_players) & 1).astype(bool)


def shapley_of_game(worth):
    """Shapley values (n_players, ..) of a game given by the worth of each coalition."""
    n_players = int(np.log2(len(worth)))
    members = coalitions(n_players)
    values = []
    for j in range(n_players):
        value = 0.0
        for coalition in np.flatnonzero(~members[:, j]):
            size = members[coalition].sum()
            weight = factorial(size) * factorial(n_players - size - 1) / factorial(n_players)
            value = value + weight * (worth[coalition | 1 << j] - worth[coalition])
        values.append(value)
    return np.array(values)


def interventional_values(score, X, background):
    """Values (n_samples, n_features, ..) of the mean score over the background."""
    members = coalitions(X.shape[1])
    return np.array([
        shapley_of_game(np.array([
            score(np.where(member, x, background)).mean(axis=0) for member in members
        ]))
        for x in X
    ])  # fmt: skip


def path_dependent_values(trees, X, background):
    """Values of symmetric trees whose unknown splits follow both children, by their numbers of
    background samples."""
    values = 0.0
    for tree in trees:
        counts = np.bincount(tree.apply(background)[:, 0], minlength=2**tree.depth)
        features = tree.split_feature[0][tree.split_feature[0] >= 0]
        right = [_above(tree, X, level) for level in range(len(features))]
        worth = [
            np.array([
                _path_mean(tree, counts, [(f in member, r[i]) for f, r in zip(features, right)])
                for i in range(len(X))
            ])
            for member in map(np.flatnonzero, coalitions(X.shape[1]))
        ]  # fmt: skip
        values = values + np.swapaxes(shapley_of_game(np.array(worth)), 0, 1)
    return values


def _above(tree, X, level):
    x = X[:, tree.split_feature[0, level]]
    return np.where(np.isnan(x), tree.missing_right[0, level], x > tree.split_threshold[0, level])


def _path_mean(tree, counts, levels, leaf=0, first=0):
    if first == len(levels):
        return tree.leaf_values[0, leaf]
    size = 2 ** (tree.depth - 1 - first)
    known, is_right = levels[first]
    children = [leaf, leaf + size]
    if known:
        return _path_mean(tree, counts, levels, children[int(is_right)], first + 1)
    weights = [counts[child : child + size].sum() for child in children]
    weights = [1, 1] if sum(weights) == 0 else weights
    means = [_path_mean(tree, counts, levels, child, first + 1) for child in children]
    return (weights[0] * means[0] + weights[1] * means[1]) / sum(weights)


def line_values(tree, x, b):
    """Path attributions of one `ObliqueTree` from b to x, between sorted crossings of all splits."""
    internal = np.flatnonzero(tree.children_left >= 0)
    moved = tree.coef[internal] * (x - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = (tree.threshold[internal] - tree.coef[internal] @ b) / moved.sum(axis=1)
    order = np.argsort(at)
    order = order[(at[order] > 0.0) & (at[order] < 1.0)]
    ends = np.concatenate([[0.0], at[order], [1.0]])
    values, last = np.zeros((len(x), tree.n_outputs)), None
    for piece, (start, end) in enumerate(zip(ends[:-1], ends[1:])):
        middle = b + (start + end) / 2 * (x - b)
        leaf = tree.leaf_index[tree.apply(middle[np.newaxis])[0]]
        coef = tree.leaf_coef[leaf] if len(tree.leaf_coef) else np.zeros((tree.n_outputs, len(x)))
        value = coef @ (b + start * (x - b)) + tree.leaf_intercept[leaf]
        if last is not None:
            share = moved[order[piece - 1]] / moved[order[piece - 1]].sum()
            values += np.outer(share, value - last)
        values += (coef * (x - b)).T * (end - start)
        last = value + coef @ (x - b) * (end - start)
    return values
