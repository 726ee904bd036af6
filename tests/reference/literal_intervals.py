"""Intervals as their formulas say: leaf models refitted without each sample, sums in loops."""

import numpy as np

PRIOR = 20.0


def ridge_prediction(X, y, weight, alpha, x):
    """Prediction at x of a ridge regression with a free intercept; the mean of few samples."""
    mean, target = np.average(X, axis=0, weights=weight), np.average(y, axis=0, weights=weight)
    Z = (X - mean) * weight[:, None]
    coef = np.linalg.solve(Z.T @ (X - mean) + alpha * np.eye(X.shape[1]), Z.T @ (y - target))
    return target + (x - mean) @ coef


def leave_one_out_errors(leaf, X, y, weight, alpha):
    """Errors of the samples by their leaf's model fitted without them."""
    errors = np.empty(len(y))
    for i in range(len(y)):
        own = (leaf == leaf[i]) & (np.arange(len(y)) != i)
        errors[i] = y[i] - ridge_prediction(X[own], y[own], weight[own], alpha, X[i])
    return errors


def scale_of(errors, weight, inside, unit, mean, without=None):
    """The shrunken weighted mean of |error| of the samples inside, without one of them."""
    weight = weight * inside
    if without is not None:
        weight = weight.copy()
        weight[without] = 0.0
    prior = PRIOR * unit
    return (weight @ np.abs(errors) + prior * mean) / (weight.sum() + prior)


def quantile_of(scores, weight, unit, level):
    """The smallest score that weights of `level` are at or below, one at infinity among them."""
    total = weight.sum() + unit
    for score in np.sort(scores):
        if weight[scores <= score].sum() >= level * total * (1.0 - 1e-12):
            return score
    return np.inf


def tree_reaches(tree, errors, leaf, weight, cost, level, test_leaf):
    """Half widths of the intervals of samples in the nodes `test_leaf` of an ObliqueTree."""
    unit = weight.mean()
    mean = np.average(np.abs(errors), weights=weight)
    scores = np.array([
        abs(errors[i]) / scale_of(errors, weight, leaf == leaf[i], unit, mean, without=i)
        for i in range(len(errors))
    ])
    quantile = quantile_of(scores, weight, unit, level)
    parent = tree.parents()
    reaches = []
    for node in test_leaf:
        share, above = 0.0, parent[node]
        while above >= 0:
            share += cost * unit / tree.weighted_n_node_samples[above]
            above = parent[above]
        scale = scale_of(errors, weight, leaf == node, unit, mean)
        reaches.append(quantile * scale / (1.0 - min(share, 0.5)))
    return np.array(reaches)
