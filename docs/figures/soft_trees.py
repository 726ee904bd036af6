"""Draws docs/images/soft_trees.png: python docs/figures/soft_trees.py

Left, how many leaves of a tree of depth 10 samples reach while it is trained, by gamma (figure 2 of Hazimeh et
al. 2020); right, how far gradient descent of n trees is from the flow of the tree kernel (after figure 4 of Kanoh
and Sugiyama 2022).
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from fctree import SoftTreeClassifier, SoftTreeRegressor
from fctree.kernels import gradient_flow, tree_ntk
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize

IMAGE = Path(__file__).resolve().parent.parent / "images" / "soft_trees.png"
LEARNING_RATE = 0.05


def draw_reached_leaves(axes):
    X, y = load_breast_cancer(return_X_y=True)
    for gamma in (0.01, 0.1, 1.0, 10.0):
        model = SoftTreeClassifier(n_trees=1, depth=10, gamma=gamma, learning_rate=0.1,
                                   max_epochs=50, random_state=0).fit(X, y)
        axes.semilogy(np.arange(1, 51), model.reachable_leaves_curve_, label=f"γ = {gamma:g}")
    axes.set(xlabel="epoch", ylabel="leaves that a sample reaches", title="one tree of 1,024 leaves")
    axes.legend()


def trajectories(n_trees, points, y, epochs):
    """Predictions after each epoch less those at the start, and the kernel's flow."""
    train = points[: len(y)]
    model = SoftTreeRegressor(
        n_trees=n_trees, depth=2, routing="erf", scale=2.0, initialization="ntk",
        optimizer="gradient_descent", batch_norm=False, fit_intercept=False,
        l2_leaf_reg=0.0,
        learning_rate=1e-300, random_state=0,
    ).partial_fit(train, y)
    at_start = model.predict(points)
    model.set_params(learning_rate=LEARNING_RATE * len(y))  # of the mean loss
    moved = []
    for _ in range(epochs):
        moved.append(model.partial_fit(train, y).predict(points) - at_start)
    kernel = tree_ntk(points, depth=2, scale=2.0)
    flow = gradient_flow(kernel[: len(y), : len(y)], kernel[:, : len(y)], y - at_start[: len(y)],
                         learning_rate=LEARNING_RATE, times=np.arange(1, epochs + 1))
    return np.array(moved), flow


def draw_flow(axes):
    points = normalize(np.random.default_rng(0).standard_normal((15, 4)))
    y = np.sin(3 * points[:10, 0])
    for n_trees in (16, 64, 256, 1024, 4096):
        moved, flow = trajectories(n_trees, points, y, 400)
        distance = np.linalg.norm(moved - flow, axis=1) / np.linalg.norm(flow, axis=1)
        axes.semilogy(np.arange(1, 401), distance, label=f"{n_trees} trees")
        print(n_trees, f"{distance[-1]:.4f}")
    axes.set(xlabel="steps of gradient descent", ylabel="distance from the kernel's flow, relative",
             title="wide ensembles follow the kernel")
    axes.legend()


def main():
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    draw_reached_leaves(left)
    draw_flow(right)
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
