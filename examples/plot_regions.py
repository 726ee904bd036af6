"""
Regions of two features
=======================

``plot_regions`` draws the exact regions of a tree of two features, coloured by the linear models inside. It
shows at a glance what the curvature search adds to the tree that it started from.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_iris

from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    plot_regions,
)

# %%
# A valley. FC-ODT as published cuts along the direction of its linear fit, here across the valley; the
# curvature search finds where two linear models differ, and one cut is enough.

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(600, 2))
y = np.abs(X @ [1.0, 0.5]) + 0.2 * X[:, 1] + 0.05 * rng.normal(size=600)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
trees = {"FC-ODT as published": FCODTRegressor(max_depth=1), "curvature tree": CurvatureTreeRegressor(max_depth=1)}
for ax, (name, tree) in zip(axes, trees.items()):
    plot_regions(tree.fit(X, y), X=X, y=y, ax=ax)
    ax.set_title(f"{name}: R² {tree.score(X, y):.3f}")

# %%
# A classifier: regions are where ``predict`` returns each class.

iris = load_iris()
classifier = CurvatureTreeClassifier(max_depth=2).fit(iris.data[:, 2:], iris.target)
figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
plot_regions(classifier, X=iris.data[:, 2:], y=iris.target, feature_names=iris.feature_names[2:],
             class_names=iris.target_names, ax=ax)

# %%
# An ensemble: the partial effect of two of its features, any interaction of the two included.

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = CurvatureBoostingRegressor(max_iter=50, random_state=0).fit(X, y)
figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
plot_regions(model, X=X, features=("bmi", "s5"), ax=ax)
