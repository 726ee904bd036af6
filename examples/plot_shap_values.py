"""
Shapley values of predictions
=============================

``shap_values`` shares the difference between a prediction and the mean prediction out among the features. The
values are exact, not sampled, and sum to the prediction.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from fctree import SymmetricBoostingRegressor
from fctree.inspection import ShapDisplay, shap_values

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = SymmetricBoostingRegressor(max_depth=3, learning_rate=0.05, random_state=0).fit(X_train, y_train)
print(f"R² on new samples: {model.score(X_test, y_test):.2f}")

# %%
# The training samples are the background, which says what "without this feature" means.

result = shap_values(model, X_test, X_train)
left_over = result.base_values + result.values.sum(axis=1) - model.predict(X_test)
print(f"largest difference between the sums and the predictions: {abs(left_over).max():.1e}")

# %%
# One prediction: from the mean, at the bottom, to the predicted progression of the disease.

predictions = model.predict(X_test)
figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
for ax, sample in zip(axes, (predictions.argmax(), predictions.argmin())):
    ShapDisplay.from_result(result, sample=int(sample), max_features=6, ax=ax)
axes[0].set_title("the highest prediction")
axes[1].set_title("the lowest prediction")

# %%
# All predictions: the mean absolute values, and how the value of a feature depends on the feature.

figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
ShapDisplay.from_result(result, ax=axes[0])
column = list(X.columns).index("bmi")
axes[1].scatter(X_test["bmi"], result.values[:, column], c=X_test["s5"], cmap="viridis", s=18)
axes[1].set(xlabel="body mass index", ylabel="Shapley value of bmi", title="colour: s5")

# %%
# ``result.to_shap()`` hands the values to the plots of the shap package.
