"""The symmetric boosting classifier."""

from __future__ import annotations

from sklearn.base import ClassifierMixin

from fctree._training.losses import loss_constraints
from fctree._typing import ArrayLike, RandomState
from fctree.symmetric.base import BaseSymmetricBoosting
from fctree.symmetric.targets import ClassTargets


class SymmetricBoostingClassifier(ClassTargets, ClassifierMixin, BaseSymmetricBoosting):
    """Gradient boosting of symmetric (oblivious) trees for classes.

    With two classes a tree predicts one raw score, the log-odds of ``classes_[1]``; with more,
    one tree per round has a vector in each leaf, one score per class (softmax). Leaf values
    are Newton steps.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
    learning_rate : float, default=0.1
        Factor applied to each tree's leaf values.
    max_iter : int, default=100
        Number of trees; with `warm_start` in total.
    max_depth : int, default=6
        Depth of the trees, at most 16.
    max_bins : int, default=254
        Maximum number of bins per feature, not counting missing values.
    l2_leaf_reg : float, default=3.0
        L2 penalty of leaf values: it is added to the weight (or the hessian) of a leaf.
    min_samples_leaf : int, default=1
        Minimum number of samples in every leaf that is not empty.
    random_strength : float, default=1.0
        Amount of noise added to the scores of candidate splits.
    score_noise : {"normal", "gumbel"}, default="normal"
        ``"normal"``: normal, with standard deviation
        ``random_strength * RMS(gradients) * q / (1 + q)``, ``q = n exp(-iteration * learning_rate)``,
        as in CatBoost: it fades as the model grows. It is added to the cosine score, or to the square root of the l2 score.
        ``"gumbel"``: a draw from the softmax of ``score / n / random_strength`` over
        the unused candidates, the SampleTree of Ustimenko et al. (2023).
    score_function : {"l2", "cosine"}, default="l2"
        Score of a split: the decrease of the squared error, or the cosine between
        the gradients and the leaf values.
    subsample : float in (0, 1], default=1.0
        Probability that a sample is used for a tree.
    colsample : float in (0, 1], default=1.0
        Share of the features that a tree may use.
    monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
        1 if the probability of ``classes_[1]`` may only rise with a feature, -1 for only fall, 0
        for no constraint; two classes only.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Features that are categories: those whose column has a categorical or text type, or a list
        of names or indices, or a mask; None for none.
    model_shrink_rate : float, default=0.0
        Before each tree the model is multiplied by ``1 - model_shrink_rate * learning_rate``.
        With ``n * model_shrink_rate = lambda`` boosting converges to kernel ridge regression with
        that penalty (Ustimenko et al., 2023).
    early_stopping : bool, default=False
        Whether to stop when the loss on `eval_set`, or on samples held out, has not fallen by
        more than `tol` for `n_iter_no_change` rounds, and keep the model of the best round.
    validation_fraction : float or int, default=0.1
        Share or number of samples to hold out for early stopping without an `eval_set`, stratified
        by class.
    n_iter_no_change : int, default=10
        Rounds without improvement before stopping.
    tol : float, default=1e-7
        Smallest decrease of the mean loss that counts as an improvement.
    warm_start : bool, default=False
        Whether `fit` continues the last fit, up to `max_iter` trees in total. T trees and then
        T more give the same bytes as 2 T at once.
    verbose : int, default=0
        1 shows a progress bar, 2 one line per round.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the noise, the samples and the validation split.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    trees_ : SymmetricTrees
    bin_thresholds_ : list of n_features arrays
        Each feature's candidate thresholds; ``inf`` at the end for one with missing values.
    baseline_ : ndarray of shape (n_outputs,)
        The raw scores that trees are added to: the log-odds, or centred log-frequencies.
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Negative mean log-loss before the first round and after each; without validation samples
        the second is empty, and NaN for rounds of a warm start that had none. Rounds
        removed by early stopping are included; a warm start continues from the last one kept.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the total gain of the splits.
    encoder_ : TableEncoder or None
        How categories become the features that `trees_` split; None without categories.
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
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_depth: int = 6,
        max_bins: int = 254,
        l2_leaf_reg: float = 3.0,
        min_samples_leaf: int | float = 1,
        random_strength: float = 1.0,
        score_noise: str = "normal",
        score_function: str = "l2",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        model_shrink_rate: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: int | float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        parameters = locals().copy()  # by name, as the signature has them
        del parameters["self"]
        self.__dict__.update(parameters)
