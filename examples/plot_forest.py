"""
A forest and its out-of-bag score
=================================

A forest of curvature trees predicts well without tuning. Each tree leaves a third of the samples out, which
give an estimate of the score on new samples without holding any back.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split

from fctree import CurvatureForestClassifier, CurvatureForestRegressor

# %%
# ``warm_start=True`` adds trees to those that are there, and the estimate is brought up to date.

X, y = make_friedman1(n_samples=1600, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
sizes = (20, 30, 60, 100)
figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
forests = {
    "curvature forest": CurvatureForestRegressor(warm_start=True, oob_score=True, random_state=0),
    "random forest": RandomForestRegressor(warm_start=True, oob_score=True, random_state=0),
}
for color, (name, forest) in zip(("C0", "C1"), forests.items()):
    scores = []
    for size in sizes:
        forest.set_params(n_estimators=size).fit(X_train, y_train)
        scores.append((forest.oob_score_, forest.score(X_test, y_test)))
    out_of_bag, on_new_samples = zip(*scores)
    ax.plot(sizes, out_of_bag, "o--", color=color, label=f"{name}, out of bag")
    ax.plot(sizes, on_new_samples, "o-", color=color, label=f"{name}, new samples")
ax.set(xlabel="trees", ylabel="R²")
ax.legend()

# %%
# The estimate is low for few trees, since few of them have left out a given sample.
#
# Classification, with ``max_features`` below 1 as for any forest on many features:

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
forests = {
    "curvature forest": CurvatureForestClassifier(n_estimators=100, max_features=0.5, oob_score=True, random_state=0),
    "random forest": RandomForestClassifier(n_estimators=100, oob_score=True, random_state=0),
}
for name, forest in forests.items():
    forest.fit(X_train, y_train)
    print(f"{name:<17} out of bag {forest.oob_score_:.3f}, new samples {forest.score(X_test, y_test):.3f}")
