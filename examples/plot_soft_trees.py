"""
Soft trees and the leaves that a sample reaches
===============================================

A node of a soft tree sends a sample both ways near its hyperplane and one way far from it. So the trees train
by gradient descent, like a network, and yet a sample visits few leaves: fewer as training goes on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from fctree import SoftTreeClassifier

X, y = make_moons(n_samples=600, noise=0.25, random_state=0)
X_test, y_test = make_moons(n_samples=2000, noise=0.25, random_state=1)

# %%
# ``gamma`` is the width of the band in which a sample goes both ways.

models = {
    gamma: SoftTreeClassifier(depth=5, gamma=gamma, batch_size=64, max_epochs=60, random_state=0).fit(X, y)
    for gamma in (0.1, 1.0, 4.0)
}

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for gamma, model in models.items():
    axes[0].plot(model.loss_curve_, label=f"gamma = {gamma}")
    axes[1].plot(model.reachable_leaves_curve_, label=f"gamma = {gamma}")
axes[0].set(xlabel="epochs", ylabel="mean loss of the batches")
axes[1].set(xlabel="epochs", ylabel="leaves that a sample reaches, of 32", yscale="log")
axes[0].legend()

# %%
# The probabilities: a narrow band gives edges, a wide one a smooth boundary.

edges = np.linspace(-2, 3, 200), np.linspace(-1.5, 2, 160)
points = np.column_stack([axis.ravel() for axis in np.meshgrid(*edges)])
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
for ax, (gamma, model) in zip(axes, models.items()):
    probability = model.predict_proba(points)[:, 1].reshape(160, 200)
    ax.pcolormesh(*edges, probability, cmap="RdBu_r", vmin=0, vmax=1, rasterized=True)
    ax.scatter(*X.T, c=y, cmap="RdBu_r", s=6, edgecolors="k", linewidths=0.2)
    ax.set_title(f"gamma = {gamma}: accuracy {model.score(X_test, y_test):.3f}")
