"""
Categories and missing values
=============================

Every estimator takes a data frame as it is: columns of text, categorical columns, missing values. Few
categories become indicators; many become target statistics, which are cross-fitted so that no sample sees its
own target.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor, SymmetricBoostingRegressor

# %%
# Prices of flats in a hundred districts. Districts have a price per square metre of their own, some areas are
# unknown, and one column, the agent's name, means nothing although it has 300 values.

rng = np.random.default_rng(0)
n_samples = 4000
district = rng.integers(100, size=n_samples)
area = rng.uniform(30, 150, size=n_samples)
balcony = rng.random(n_samples) < 0.4
price_per_metre = rng.normal(5.0, 1.5, size=100)
price = price_per_metre[district] * area + 30.0 * balcony + rng.normal(0, 30.0, size=n_samples)

table = pd.DataFrame(
    {
        "area": np.where(rng.random(n_samples) < 0.1, np.nan, area),
        "district": [f"district {number}" for number in district],
        "balcony": np.where(balcony, "yes", "no"),
        "agent": [f"agent {number}" for number in rng.integers(300, size=n_samples)],
    }
)
print(table.head())

# %%
# The table goes into ``fit`` as it is. scikit-learn's boosting also takes categories, of at most 255 values:
# here it gets the columns that it can take.

X_train, X_test, y_train, y_test = train_test_split(table, price, random_state=0)
as_categories = {"district": "category", "balcony": "category"}
models = {
    "curvature boosting": CurvatureBoostingRegressor(random_state=0),
    "symmetric boosting": SymmetricBoostingRegressor(random_state=0),
    "one curvature tree": CurvatureTreeRegressor(),
}
scores = {name: model.fit(X_train, y_train).score(X_test, y_test) for name, model in models.items()}
peer = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0)
peer.fit(X_train.drop(columns="agent").astype(as_categories), y_train)
scores["HistGradientBoosting"] = peer.score(X_test.drop(columns="agent").astype(as_categories), y_test)
for name, score in scores.items():
    print(f"{name:<22} R² {score:.3f}")

# %%
# Importances speak of the table's columns, whatever they have become inside. The agents' share is nearly
# zero: by its strength, which is estimated, the statistic of a column without meaning shrinks to a constant.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(table.columns, models["curvature boosting"].feature_importances_)
ax.invert_yaxis()
ax.set(title="curvature boosting", xlabel="share of the explained error")

# %%
# The columns that the trees see:

print("\n".join(models["one curvature tree"].encoder_.feature_names(table.columns)))
