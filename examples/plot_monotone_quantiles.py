"""
Monotone boosting and quantiles
===============================

``monotonic_cst`` makes predictions rise or fall with a feature, as knowledge of the subject may demand, and
``loss="quantile"`` predicts a quantile in place of the mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from fctree import SymmetricBoostingRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, size=300)
y = np.log1p(x) + np.where(x > 6, 0.5, 0.0) + 0.15 * (1 + x / 3) * rng.normal(size=300)
X = x[:, None]
grid = np.linspace(0, 10, 500)[:, None]

# %%
# Without the constraint the model follows the noise up and down.

free = SymmetricBoostingRegressor(random_state=0).fit(X, y)
rising = SymmetricBoostingRegressor(monotonic_cst=[1], random_state=0).fit(X, y)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, y, ".", color="0.75", markersize=4)
ax.plot(grid, free.predict(grid), label="free", linewidth=1)
ax.plot(grid, rising.predict(grid), label="rising")
ax.set(xlabel="x", ylabel="y")
ax.legend()

# %%
# Constraints work with every loss, so that quantiles rise too. Each is a model of its own.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, y, ".", color="0.75", markersize=4)
for quantile in (0.1, 0.5, 0.9):
    model = SymmetricBoostingRegressor(
        loss="quantile", quantile=quantile, max_depth=3, monotonic_cst=[1], random_state=0
    ).fit(X, y)
    below = np.mean(y <= model.predict(X))
    ax.plot(grid, model.predict(grid), label=f"quantile {quantile}: {below:.0%} of the samples below")
ax.set(xlabel="x", ylabel="y")
ax.legend()
