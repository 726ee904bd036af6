"""Training of soft trees in NumPy, a batch a step, for the compiled one to be compared with."""

import numpy as np
from reference import literal_soft_trees as literal


def standardized(X, weight, intercept):
    mean = np.average(X, axis=0, weights=weight)
    variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    factor = np.where(variance > 0, 1 / np.sqrt(np.where(variance > 0, variance, 1)), 0)
    Z = (X - mean) * factor
    return (np.column_stack([Z, np.ones(len(Z))]) if intercept else Z), mean, variance


def gradients(Z, splits, leaves, gamma, by_out):
    """Algorithm 2, summed over samples, tree by tree."""
    by_split, by_leaf = np.zeros_like(splits), np.zeros_like(leaves)
    for tree in range(len(splits)):
        for z, g in zip(Z, by_out, strict=True):
            parts = literal.backward(z, splits[tree], leaves[tree], gamma, g)
            by_split[tree] += parts[0]
            by_leaf[tree] += parts[1]
    return by_split, by_leaf


class Adam:
    """Kingma and Ba (2015), with the step size that holds the corrections; rows can rest."""

    def __init__(self, values, learning_rate):
        self.values, self.learning_rate = values, learning_rate
        self.first, self.second = np.zeros_like(values), np.zeros_like(values)

    def step(self, t, gradient, rows=slice(None)):
        g = gradient[rows]
        self.first[rows] = 0.9 * self.first[rows] + 0.1 * g
        self.second[rows] = 0.999 * self.second[rows] + 0.001 * g**2
        size = self.learning_rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        self.values[rows] -= size * self.first[rows] / (np.sqrt(self.second[rows]) + 1e-8)


def train(X, Y, weight, splits, leaves, *, gamma, learning_rate, penalties, n_steps,
          intercept=True):
    """Squared error, all samples a batch; changes splits and leaves, returns the losses.

    `penalties` are those of splits and of leaves, beside the mean loss.
    """
    of_splits, of_leaves = penalties
    adam = Adam(splits, learning_rate), Adam(leaves, learning_rate)
    total = weight.sum()
    losses = []
    for t in range(1, n_steps + 1):
        Z, _, _ = standardized(X, weight, intercept)
        out = literal.dense_forward(Z, splits, leaves, "smooth_step", gamma)
        losses.append(float(np.sum(weight[:, None] * (out - Y) ** 2) / total))
        by_out = weight[:, None] * (out - Y) / total
        by_split, by_leaf = gradients(Z, splits, leaves, gamma, by_out)
        pulled = splits.copy()
        if intercept:
            pulled[:, :, -1] = 0.0
        t_splits = Z @ splits.reshape(-1, Z.shape[1]).T
        soft = (np.abs(t_splits) < gamma / 2).any(axis=0).reshape(splits.shape[:2])
        reached = soft & reached_nodes(Z, splits, gamma)
        rows = np.ones_like(reached) if of_splits > 0 else reached
        adam[0].step(t, by_split + 2 * of_splits * pulled, rows)
        adam[1].step(t, by_leaf + 2 * of_leaves * leaves)
    return losses


def reached_nodes(Z, splits, gamma):
    """Nodes at which some sample that reaches them is fractional."""
    found = np.zeros(splits.shape[:2], dtype=bool)
    for tree in range(len(splits)):
        for z in Z:
            no_leaves = np.zeros((splits.shape[1] + 1, 1))
            _, _, products = literal.forward(z, splits[tree], no_leaves, gamma)
            for node, t in products.items():
                found[tree, node] |= abs(t) < gamma / 2
    return found
