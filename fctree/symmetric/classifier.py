"""The symmetric boosting classifier."""

from sklearn.base import ClassifierMixin

from fctree._training.losses import loss_constraints
from fctree.symmetric.base import BaseSymmetricBoosting
from fctree.symmetric.targets import ClassTargets


class SymmetricBoostingClassifier(ClassTargets, ClassifierMixin, BaseSymmetricBoosting):
    """Gradient boosting of symmetric (oblivious) trees for classes.

    With two classes a tree gives one raw score, the log-odds of ``classes_[1]``; with more,
    one tree a round has a vector in each leaf, a score for each class (softmax). Leaf values
    are Newton steps.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
    quantile : None
        For regression losses only.
    learning_rate, max_iter, max_depth, max_bins, l2_leaf_reg, min_samples_leaf, \
            random_strength, score_noise, score_function, subsample, colsample, monotonic_cst, \
            model_shrink_rate, early_stopping, validation_fraction, n_iter_no_change, tol, \
            warm_start, verbose, n_jobs, random_state
        As in :class:`SymmetricBoostingRegressor`. `monotonic_cst` (two classes only) is about
        the probability of ``classes_[1]``. Samples held out for early stopping are stratified
        by class.
    posterior_samples, posterior_scale, posterior_noise
        For regression only: `posterior_samples` must be 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    trees_ : SymmetricTrees
    bin_thresholds_ : list of n_features arrays
    baseline_ : ndarray of shape (n_outputs,)
        The raw scores that trees are added to: the log-odds, or centred log-frequencies.
    n_iter_, train_score_, validation_score_, feature_importances_, n_features_in_, \
            feature_names_in_, n_outputs_
        As in :class:`SymmetricBoostingRegressor`; scores are minus the mean log-loss.

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
        "quantile": [None],
    }

    def __init__(
        self,
        *,
        loss="log_loss",
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        max_depth=6,
        max_bins=254,
        l2_leaf_reg=3.0,
        min_samples_leaf=1,
        posterior_samples=0,
        random_strength=1.0,
        score_noise="normal",
        score_function="l2",
        subsample=1.0,
        colsample=1.0,
        monotonic_cst=None,
        model_shrink_rate=0.0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
        posterior_scale=0.1,
        posterior_noise=0.01,
    ):
        parameters = locals().copy()  # by name, as the signature has them
        del parameters["self"]
        vars(self).update(parameters)

    def _choose_loss(self):
        if self.posterior_samples:
            raise ValueError("posterior_samples is for regression; a classifier needs 0")
        return super()._choose_loss()
