"""
Variable importance with intervals
==================================

How much worse would the model predict without a feature? ``variable_importance`` answers with a confidence
interval, and in place of a new fit for each feature it continues the training of the full model for a few
rounds.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import make_friedman1

from fctree import SymmetricBoostingRegressor
from fctree.inspection import VariableImportanceDisplay, shapley_importance, variable_importance

# %%
# Of ten features five matter. The sixth is made nearly a copy of ``x3``, so that each can stand in for the
# other.

X, y = make_friedman1(n_samples=1500, noise=1.0, random_state=0)
X[:, 5] = X[:, 3] + 0.1 * (X[:, 5] - 0.5)
X = pd.DataFrame(X).add_prefix("x")
model = SymmetricBoostingRegressor(max_iter=1000, max_depth=3, learning_rate=0.05)

importance = variable_importance(model, X, y, scoring="r2", random_state=0)
print(importance)

# %%
# ``x3`` is the strongest feature of the function, and loses most of its importance to its copy. Shapley
# values, the mean gain of adding a feature to a subset of the others, share what the two have in common.

shares = shapley_importance(model, X, y, scoring="r2", n_subsets=60, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
VariableImportanceDisplay.from_result(importance, sort=False, ax=axes[0])
VariableImportanceDisplay.from_result(shares, sort=False, ax=axes[1])
axes[0].set_title("without the feature")
axes[1].set_title("Shapley values")

# %%
# Or remove both together:

together = variable_importance(model, X, y, groups=[["x3", "x5"], ["x0"]], scoring="r2", random_state=0)
print(together)
