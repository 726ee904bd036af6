"""Draws docs/images/curvature_split.png: one split of a valley, by both rules.

    python docs/figures/curvature_split.py docs/images/curvature_split.png
"""

import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from fctree import CurvatureTreeRegressor, FCODTRegressor, plot_regions

TREES = {
    "FC-ODT as published:\nalong the ridge direction": FCODTRegressor(max_depth=1),
    "curvature tree:\nwhere linear models bend": CurvatureTreeRegressor(
        max_depth=1, directions="curvature"
    ),
}


def main(path):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(600, 2))
    y = np.abs(X @ [1.0, 0.5]) + 0.2 * X[:, 1] + 0.05 * random.standard_normal(600)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for ax, (name, model) in zip(axes, TREES.items()):
        tree = model.fit(X, y)
        plot_regions(tree, X=X, y=y, ax=ax)
        ax.set_title(f"{name}\nR² = {tree.score(X, y):.3f}", fontsize=11)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1])
