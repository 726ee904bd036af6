"""
Training on partitions with Dask
================================

`fctree.dask` fits on data whose rows stay with the workers that hold them. In symmetric boosting the model is the one
that the plain estimator grows on all rows, byte for byte, however the rows are divided.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import make_friedman1

from fctree import SymmetricBoostingRegressor
from fctree.dask import DaskSymmetricBoostingRegressor

X, y = make_friedman1(n_samples=6000, noise=1.0, random_state=0)
settings = {"max_iter": 60, "max_depth": 4, "random_state": 0}

# %%
# Two workers in this process stand in for machines of a cluster; elsewhere ``Client("scheduler:8786")`` connects to
# one. ``fit`` takes Dask arrays and data frames, and evaluation sets of either kind.

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)

models = {}
for rows in (800, 2000):
    partitions = da.from_array(X[:4000], chunks=(rows, 10)), da.from_array(y[:4000], chunks=rows)
    evaluation = da.from_array(X[4000:], chunks=(rows, 10)), da.from_array(y[4000:], chunks=rows)
    models[rows] = DaskSymmetricBoostingRegressor(**settings).fit(*partitions, eval_set=evaluation)

local = SymmetricBoostingRegressor(**settings).fit(X[:4000], y[:4000], eval_set=(X[4000:], y[4000:]))
for rows, model in models.items():
    same = model.to_local().trees_.leaf_values.tobytes() == local.trees_.leaf_values.tobytes()
    print(f"partitions of {rows} rows: the same trees as in one place? {same}")

# %%
# Predictions are Dask arrays, computed by the workers when they are needed.

predictions = models[800].predict(partitions[0])
print(predictions)
error = float(np.sqrt(((predictions - partitions[1]) ** 2).mean().compute()))
print(f"RMSE on the training rows: {error:.3f}")

# %%
# ``to_local()`` is the plain estimator, which is saved, explained and served without Dask.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(-local.validation_score_, color="lightgray", linewidth=6, label="in one place")
for (rows, model), style in zip(models.items(), ("-", ":")):
    ax.plot(-model.to_local().validation_score_, style, label=f"partitions of {rows} rows")
ax.set(xlabel="rounds", ylabel="mean squared error on the evaluation set")
ax.legend()

client.close()
cluster.close()
