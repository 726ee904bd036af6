"""The symmetric boosting classifier."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sklearn.base import ClassifierMixin

from fctree._parameters import set_parameters, shares_documentation
from fctree._training.class_weights import CLASS_WEIGHT_CONSTRAINTS
from fctree._training.losses import loss_constraints
from fctree._training.targets import BoostedClasses
from fctree._typing import ArrayLike, CustomLossFunction, RandomState
from fctree.symmetric.base import BaseSymmetricBoosting
from fctree.symmetric.regressor import SymmetricBoostingRegressor


@shares_documentation(SymmetricBoostingRegressor)
class SymmetricBoostingClassifier(BoostedClasses, ClassifierMixin, BaseSymmetricBoosting):
    """Gradient boosting of symmetric (oblivious) trees for classification.

    With two classes each leaf holds one raw score, the log-odds of ``classes_[1]``; with more classes, one
    raw score per class (softmax). Leaf values are Newton steps.

    Parameters
    ----------
    loss : {"log_loss"} or callable, default="log_loss"
        Loss to minimise. A function ``loss(y_true, raw_prediction)`` takes class indices (n_samples,) and
        raw scores, (n_samples,) for two classes, else (n_samples, n_classes). It returns the gradient and
        the non-negative hessian of each sample in the shape of the scores, without weights. Raw scores
        start at 0; probabilities are those of the log-loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: a dict (missing classes have weight 1),
        or "balanced" for equal total weights. They also weight the loss of evaluation and held-out samples,
        but not `eval_metric`.
    learning_rate, max_iter, max_depth, max_bins, min_samples_leaf, \
            random_strength, score_noise, score_function, subsample, colsample
        As in `SymmetricBoostingRegressor`.
    l2_leaf_reg : float, default=3.0
        L2 penalty on leaf values, added to the hessian of a leaf. With K > 4 classes, whose hessians are
        smaller, it is multiplied by 4 / K.
    monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
        Constraint on each feature: 1 if the probability of ``classes_[1]`` must not decrease as it grows, -1
        if it must not increase, 0 for none. Two classes only.
    interaction_cst, categorical_features, early_stopping, validation_fraction, n_iter_no_change, tol, warm_start, \
            verbose, n_jobs, random_state
        As in `SymmetricBoostingRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
    trees_, bin_thresholds_
        As in `SymmetricBoostingRegressor`.
    baseline_ : ndarray of shape (n_outputs,)
        Raw scores to which the trees are added: the log-odds (two classes) or centred log-frequencies.
    n_iter_, feature_importances_, encoder_
        As in `SymmetricBoostingRegressor`.
    train_score_, validation_score_ : ndarray
        Negative mean log-loss before the first round and after each round. `validation_score_` is empty
        without validation samples, and NaN for rounds of a warm start that had none. Rounds removed by
        early stopping are included; a warm start continues from the last round kept.
    evals_result_
        As in `SymmetricBoostingRegressor`.
    n_features_in_, feature_names_in_, n_outputs_
        Number and names of the features, and number of raw scores of a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fctree import SymmetricBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SymmetricBoostingClassifier(max_iter=20, max_depth=3).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    _parameter_constraints = {
        **BaseSymmetricBoosting._parameter_constraints,
        **loss_constraints("classification"),
        **CLASS_WEIGHT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        loss: str | CustomLossFunction = "log_loss",
        class_weight: dict[Any, float] | str | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_depth: int = 6,
        max_bins: int = 254,
        l2_leaf_reg: float = 3.0,
        min_samples_leaf: int = 1,
        random_strength: float = 1.0,
        score_noise: str = "normal",
        score_function: str = "l2",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        interaction_cst: Sequence[Collection[int | str]] | str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: int | float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())
