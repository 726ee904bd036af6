"""
Knowledge uncertainty by posterior samples
==========================================

With ``posterior_samples`` symmetric boosting trains several models, samples of the posterior of its kernel,
and ``predict(X, return_std=True)`` returns how much they differ: little where there are data, much where
there are none. Noise of the target, which more data would not remove, is not part of it.
"""

import matplotlib.pyplot as plt
import numpy as np

from fctree import SymmetricBoostingRegressor

# %%
# Two features on a ring, so that there are no data in the middle and in the corners.

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, size=600)
radius = rng.normal(2.0, 0.3, size=600)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
y = np.sin(2 * angle) + 0.1 * rng.normal(size=600)

model = SymmetricBoostingRegressor(max_iter=300, max_depth=4, posterior_samples=10, random_state=0).fit(X, y)

edges = np.linspace(-4, 4, 120)
points = np.column_stack([axis.ravel() for axis in np.meshgrid(edges, edges)])
mean, std = (values.reshape(120, 120) for values in model.predict(points, return_std=True))

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for ax, values, title in zip(axes, (mean, std), ("prediction", "knowledge uncertainty")):
    mesh = ax.pcolormesh(edges, edges, values, cmap="viridis", rasterized=True)
    ax.plot(*X.T, ".", color="white", markersize=1.5)
    ax.set(title=title, aspect="equal")
    figure.colorbar(mesh, ax=ax)

# %%
# In the corners the model says that it does not know. To the left and right of the ring, and above and below,
# it knows too much: its splits are on single features, and continue what they have seen there.
#
# A range that also holds the noise is a prediction interval, which is another example.
