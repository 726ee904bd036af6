"""
A curvature tree to read
========================

A curvature tree splits on weighted sums of features and predicts with a small linear model in each leaf.
Eight such leaves describe a function for which ordinary boosting needs thousands of parameters, and one
picture shows all of it.
"""

# %%
# The target is a sum of five bent planes, along ``x0``, ``x1 + x2`` and longer sums, plus noise. Errors are
# measured against the function itself, on new samples.

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from fctree import CurvatureTreeRegressor, export_text, plot_tree
from fctree.datasets import make_ridge_relu

X, y = make_ridge_relu(n_samples=2000, random_state=0)
X_test, _, truth = make_ridge_relu(n_samples=10_000, random_state=1, return_truth=True)

tree = CurvatureTreeRegressor().fit(X, y)
plot_tree(tree)

# %%
# A square box is a split, with bars for its largest coefficients: rows for which the weighted sum is at most
# the threshold go left. A round box is a leaf with the coefficients of its linear model. The tree has one
# parameter that is worth a thought, ``max_depth``, and too much of it costs little: a split has to pass a
# leave-one-out test.
#
# How it compares:

models = {
    "curvature tree": tree,
    "decision tree of as many leaves": DecisionTreeRegressor(max_leaf_nodes=tree.get_n_leaves()).fit(X, y),
    "gradient boosting, 100 trees": HistGradientBoostingRegressor(random_state=0).fit(X, y),
    "ridge regression": Ridge().fit(X, y),
}
for name, model in models.items():
    print(f"{name:<33} mean squared error {np.mean((model.predict(X_test) - truth) ** 2):.4f}")

# %%
# The same tree as text, with the three largest terms of each sum:

print(export_text(tree, max_coef=3, decimals=2))
