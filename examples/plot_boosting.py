"""
Boosting beside scikit-learn's
==============================

``CurvatureBoostingRegressor`` adds trees with linear leaves, and ordinary trees where those predict better;
``SymmetricBoostingRegressor`` adds trees that ask one question a level, like CatBoost. Which of them suits
the data depends on the shape of the target. Where it is made of steps, the ordinary trees of scikit-learn's
``HistGradientBoostingRegressor`` get there first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from fctree import CurvatureBoostingRegressor, SymmetricBoostingRegressor

# %%
# One target is smooth, Friedman's function; the other is a sum of steps in single features.

X, y = make_friedman1(n_samples=2000, noise=1.0, random_state=0)
rng = np.random.default_rng(0)
steps = 3.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > 0.6) * (X[:, 2] > 0.4) + rng.normal(size=len(X))
targets = {"a smooth function": y, "steps in single features": steps}

models = {
    "curvature boosting": CurvatureBoostingRegressor(max_iter=150, random_state=0),
    "symmetric boosting": SymmetricBoostingRegressor(max_iter=150, random_state=0),
    "HistGradientBoosting": HistGradientBoostingRegressor(max_iter=150, random_state=0),
}

# %%
# All have ``staged_predict``, so one fit gives the score after every round. Parameters are the defaults but
# for the number of rounds; ``CurvatureBoosting*`` begins with steps of 0.05, the others take steps of 0.1.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (title, target) in zip(axes, targets.items()):
    X_train, X_test, y_train, y_test = train_test_split(X, target, random_state=0)
    for name, model in models.items():
        model.fit(X_train, y_train)
        scores = [r2_score(y_test, predicted) for predicted in model.staged_predict(X_test)]
        ax.plot(np.arange(1, len(scores) + 1), scores, label=f"{name}: {scores[-1]:.3f}")
    ax.set(title=title, xlabel="rounds", ylabel="R² on new samples", ylim=(max(0.0, scores[-1] - 0.3), None))
    ax.legend(loc="lower right", title="R² of the last round")

# %%
# On real data see the results pages: the order depends on the data there, too.
