"""
A tree kernel in a Gaussian process
===================================

``TreeNTK`` is the kernel of infinitely many soft trees, as a kernel of scikit-learn's Gaussian processes:
hyperparameters are found by maximum likelihood, and predictions have standard deviations.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from fctree.kernels import TreeNTK

# %%
# The hyperplanes of the trees go through the origin; a constant column lets them cut anywhere.


def with_constant(x):
    return np.column_stack([x, np.ones_like(x)])


rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(-3, -0.5, 25), rng.uniform(1, 3, 20)]))
y = np.abs(x) - np.maximum(x - 2, 0) * 3 + 0.1 * rng.normal(size=len(x))
grid = np.linspace(-4, 4, 300)

kernels = {
    "tree kernel": (TreeNTK(depth=3), with_constant),
    "RBF": (1.0 * RBF(), lambda x: x[:, None]),
}
figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for ax, (name, (kernel, columns)) in zip(axes, kernels.items()):
    process = GaussianProcessRegressor(kernel + WhiteKernel(0.01, (1e-4, 1.0)), normalize_y=True)
    process.fit(columns(x), y)
    mean, std = process.predict(columns(grid), return_std=True)
    ax.plot(x, y, "k.", markersize=5)
    ax.plot(grid, mean)
    ax.fill_between(grid, mean - 2 * std, mean + 2 * std, alpha=0.25)
    ax.set(title=f"{name}, log-likelihood {process.log_marginal_likelihood_value_:.1f}", xlabel="x")
    print(f"{name}: {process.kernel_}")

# %%
# Functions drawn before there are any data show what a kernel assumes. The larger ``scale``, the harder the
# splits of its trees.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, layout="constrained")
for ax, scale in zip(axes, (0.3, 2.0, 20.0)):
    prior = GaussianProcessRegressor(TreeNTK(depth=3, scale=scale))
    functions = prior.sample_y(with_constant(grid), n_samples=3, random_state=1)
    ax.plot(grid, functions / functions.std())
    ax.set(title=f"scale {scale}", xlabel="x")
