"""
Early stopping with an evaluation set
=====================================

``fit(X, y, X_val=.., y_val=..)`` scores the model after every round on samples that it is not trained on.
With ``early_stopping=True`` training ends when ``n_iter_no_change`` rounds have not improved that score, and
the model of the best round is kept.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from fctree import SymmetricBoostingClassifier

X, y = load_breast_cancer(return_X_y=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
X_val, X_test, y_val, y_test = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0)

model = SymmetricBoostingClassifier(
    max_iter=1000, max_depth=4, learning_rate=0.2, early_stopping=True, n_iter_no_change=30, random_state=0
)
model.fit(X_train, y_train, X_val=X_val, y_val=y_val)
print(f"{model.n_iter_} rounds are kept; accuracy on the test samples {model.score(X_test, y_test):.3f}")

# %%
# ``train_score_`` and ``validation_score_`` hold the negative mean loss before the first round and after each
# one. On the training samples the loss falls on and on, on the others it does not.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(-model.train_score_, label="training samples")
ax.plot(-model.validation_score_, label="evaluation set")
ax.axvline(model.n_iter_, color="gray", linestyle=":", label=f"best round: {model.n_iter_}")
ax.set(xlabel="rounds", ylabel="log-loss", yscale="log")
ax.legend()

# %%
# ``eval_set=(X_val, y_val)`` means the same. Without either, a share ``validation_fraction`` of the training
# samples is held out.
