"""Soft trees as Hazimeh et al. (2020) state them: one sample at a time, dictionaries and stacks.

Slow and plain; the compiled passes are compared with it. Nodes are numbered breadth-first.
"""

import numpy as np
from scipy.special import erf, expit


def smooth_step(t, gamma):
    """Equation 4."""
    if t <= -gamma / 2:
        return 0.0
    if t >= gamma / 2:
        return 1.0
    return -2 / gamma**3 * t**3 + 3 / (2 * gamma) * t + 0.5


def smooth_step_slope(t, gamma):
    return -6 / gamma**3 * t**2 + 3 / (2 * gamma) if abs(t) < gamma / 2 else 0.0


def forward(x, split_weights, leaf_weights, gamma):
    """Algorithm 1 for one sample and one tree.

    Returns the output, P of each reached leaf, and <w, x> of each internal node whose product was
    taken.
    """
    n_nodes = len(split_weights)
    output = np.zeros(leaf_weights.shape[1])
    leaves, products = {}, {}
    to_traverse = [(0, 1.0)]
    while to_traverse:
        node, probability = to_traverse.pop()
        if node >= n_nodes:
            leaves[node] = probability
            output += probability * leaf_weights[node - n_nodes]
            continue
        products[node] = float(split_weights[node] @ x)
        share = smooth_step(products[node], gamma)
        if share > 0:
            to_traverse.append((2 * node + 1, probability * share))
        if share < 1:
            to_traverse.append((2 * node + 2, probability * (1 - share)))
    return output, leaves, products


def fractional_children(node, products, gamma, n_nodes):
    """Left and right child in the fractional tree: hard-routed nodes below are passed over."""

    def descend(child):
        while child < n_nodes and smooth_step_slope(products[child], gamma) == 0:
            child = 2 * child + (1 if products[child] > 0 else 2)
        return child

    return descend(2 * node + 1), descend(2 * node + 2)


def backward(x, split_weights, leaf_weights, gamma, gradient):
    """Algorithm 2: the gradients by O, W and x from that by the output."""
    _, leaves, products = forward(x, split_weights, leaf_weights, gamma)
    n_nodes = len(split_weights)
    by_leaf, by_split = np.zeros_like(leaf_weights), np.zeros_like(split_weights)
    by_x = np.zeros_like(x)
    sum_g = {}

    def visit(node):
        if node >= n_nodes:
            by_leaf[node - n_nodes] = leaves[node] * gradient
            sum_g[node] = leaves[node] * float(gradient @ leaf_weights[node - n_nodes])
            return
        left, right = fractional_children(node, products, gamma, n_nodes)
        visit(left)
        visit(right)
        share = smooth_step(products[node], gamma)
        slope = smooth_step_slope(products[node], gamma)
        a = slope / share * sum_g[left]
        b = slope / (1 - share) * sum_g[right]
        by_split[node] = x * (a - b)
        by_x[:] += split_weights[node] * (a - b)
        sum_g[node] = sum_g[left] + sum_g[right]

    root = 0
    while root < n_nodes and smooth_step_slope(products[root], gamma) == 0:
        root = 2 * root + (1 if products[root] > 0 else 2)
    visit(root)
    return by_split, by_leaf, by_x


def dense_forward(X, split_weights, leaf_weights, routing, gamma=1.0, scale=1.0):
    """Equations 1 to 3 over all nodes: (n, n_outputs), for any routing."""
    shares = {
        "smooth_step": np.vectorize(lambda t: smooth_step(t, gamma)),
        "logistic": lambda t: expit(6 * t / gamma),
        "erf": lambda t: 0.5 * (1 + erf(scale * t)),
    }[routing]
    output = np.zeros((len(X), leaf_weights.shape[2]))
    for splits, leaves in zip(split_weights, leaf_weights, strict=True):
        share = shares(X @ splits.T)
        probability = [np.ones(len(X))]
        for node in range(len(splits)):
            probability.append(probability[node] * share[:, node])
            probability.append(probability[node] * (1 - share[:, node]))
        for leaf, value in enumerate(leaves):
            output += probability[len(splits) + leaf][:, None] * value
    return output


def numeric_gradient(function, values, step=1e-5):
    """Central differences of a scalar function of an array, entry by entry."""
    gradient = np.zeros_like(values)
    for at in np.ndindex(values.shape):
        kept = values[at]
        values[at] = kept + step
        above = function()
        values[at] = kept - step
        below = function()
        values[at] = kept
        gradient[at] = (above - below) / (2 * step)
    return gradient
