"""
One tree for an ensemble
========================

``distill`` grows one curvature tree on the predictions of any fitted model. The tree can be read and drawn;
how well it stands for the model is measured beside what the same tree would have learned without it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor, plot_tree
from fctree.inspection import distill

X, y = make_friedman1(n_samples=1500, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
ensemble = CurvatureBoostingRegressor(max_iter=100, random_state=0).fit(X_train, y_train)
print(f"the ensemble: {len(ensemble.estimators_)} trees, R² {ensemble.score(X_test, y_test):.3f} on new samples")

# %%
# The tree sees the ensemble's predictions at the training samples and at fifteen points near each of them, so
# that it is not short of data.

tree = distill(ensemble, X_train, CurvatureTreeRegressor(max_depth=4), random_state=0)
plain = CurvatureTreeRegressor(max_depth=4).fit(X_train, y_train)
for name, model in {"distilled": tree, "without the ensemble": plain}.items():
    fidelity = r2_score(ensemble.predict(X_test), model.predict(X_test))
    print(f"{name:<20} {model.get_n_leaves()} leaves, R² {model.score(X_test, y_test):.3f} for the targets, "
          f"{fidelity:.3f} for the predictions of the ensemble")

# %%
# On noisy data the tree alone stops where it cannot tell a bend from noise; the ensemble's predictions have
# no noise. The first three levels of the distilled tree:

plot_tree(tree, max_depth=2)

# %%
# Predictions of the two on new samples:

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.plot(ensemble.predict(X_test), tree.predict(X_test), ".", markersize=4)
ax.axline((15, 15), slope=1, color="gray", linewidth=0.8)
ax.set(xlabel="prediction of the ensemble", ylabel="prediction of the tree", aspect="equal")
