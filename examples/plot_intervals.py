"""
Prediction intervals
====================

``predict_interval`` gives a range for a new target instead of one number, from the errors that the model
would have made without each sample. Trees, forests and tree kernels need no second fit for it.
"""

import matplotlib.pyplot as plt
import numpy as np

from fctree import CurvatureForestRegressor, CurvatureTreeRegressor, SymmetricBoostingRegressor

# %%
# A bent curve whose noise grows from left to right.


def sample(n_samples, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4, size=n_samples)
    return x[:, None], np.abs(x - 1.5) + np.sin(3 * x) / 2 + (0.05 + 0.15 * x) * rng.normal(size=n_samples)


X, y = sample(800, seed=0)
X_test, y_test = sample(5000, seed=1)

# %%
# Boosting holds out a share of the samples, ``calibration_fraction``, to measure its errors.

models = {
    "curvature tree": CurvatureTreeRegressor(max_depth=4),
    "curvature forest": CurvatureForestRegressor(random_state=0),
    "symmetric boosting": SymmetricBoostingRegressor(max_depth=3, calibration_fraction=0.3, random_state=0),
}
grid = np.linspace(0, 4, 400)[:, None]
figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    model.fit(X, y)
    lower, upper = model.predict_interval(X_test, confidence_level=0.9).T
    coverage = np.mean((lower <= y_test) & (y_test <= upper))
    ax.plot(X[:, 0], y, ".", color="0.7", markersize=3)
    ax.fill_between(grid[:, 0], *model.predict_interval(grid, confidence_level=0.9).T, alpha=0.3)
    ax.plot(grid[:, 0], model.predict(grid))
    ax.set(title=f"{name}\n{coverage:.1%} of new samples inside", xlabel="x")
axes[0].set_ylabel("y")

# %%
# The level asked for, 90 %, is kept on average over new samples. How well the width follows the noise
# differs: a tree has one width for each leaf, a forest averages over many trees, boosting models two
# quantiles of the errors.
