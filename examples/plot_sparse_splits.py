"""
Splits that are short to read
=============================

``max_coef`` limits every split of a curvature tree to a few features. On many data sets that costs almost no
accuracy, and a split on two or three features can be said in a sentence.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from fctree import CurvatureTreeClassifier, CurvatureTreeRegressor, export_text, plot_tree
from fctree.datasets import make_ridge_relu

# %%
# The truth has bends along ``x0``, ``x1 + x2``, ``x3 + x4 + x5`` and two longer sums.

X, y = make_ridge_relu(n_samples=2000, random_state=0)
limits = (1, 2, 3, 5, 10)
scores = [
    cross_val_score(CurvatureTreeRegressor(max_depth=4, max_coef=limit), X, y, cv=5).mean() for limit in limits
]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(limits, scores, "o-")
ax.set(xlabel="most features of a split", ylabel="R², five folds", xticks=limits)

# %%
# With three, the first splits are the bends of the truth:

print(export_text(CurvatureTreeRegressor(max_depth=2, max_coef=3).fit(X, y), decimals=2, max_coef=3))

# %%
# A classifier of 30 features in two-feature splits, with shares of the classes in its leaves (with models in the
# leaves the tree would be one logistic regression, without a split):

cancer = load_breast_cancer()
tree = CurvatureTreeClassifier(max_depth=2, max_coef=2, leaf_model="constant")
print(f"accuracy, five folds: {np.mean(cross_val_score(tree, cancer.data, cancer.target, cv=5)):.3f}")
plot_tree(tree.fit(cancer.data, cancer.target), feature_names=cancer.feature_names, class_names=cancer.target_names)
