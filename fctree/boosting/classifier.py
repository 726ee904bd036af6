"""The symmetric boosting classifier."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets

from fctree.boosting.base import BaseSymmetricBoosting


class SymmetricBoostingClassifier(ClassifierMixin, BaseSymmetricBoosting):
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
        "loss": [StrOptions({"log_loss"})],
    }
    _classification = True

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
        super().__init__(
            loss=loss,
            quantile=quantile,
            learning_rate=learning_rate,
            max_iter=max_iter,
            max_depth=max_depth,
            max_bins=max_bins,
            l2_leaf_reg=l2_leaf_reg,
            min_samples_leaf=min_samples_leaf,
            posterior_samples=posterior_samples,
            random_strength=random_strength,
            score_noise=score_noise,
            score_function=score_function,
            subsample=subsample,
            colsample=colsample,
            monotonic_cst=monotonic_cst,
            model_shrink_rate=model_shrink_rate,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
            posterior_scale=posterior_scale,
            posterior_noise=posterior_noise,
        )

    def _loss_kind(self):
        if self.posterior_samples:
            raise ValueError("posterior_samples is for regression; a classifier needs 0")
        return "binary_log_loss" if self.n_classes_ <= 2 else "multiclass_log_loss"

    def _encode_targets(self, y, *, reset):
        check_classification_targets(y)
        if reset:
            self.classes_, labels = np.unique(y, return_inverse=True)
            self.n_classes_ = len(self.classes_)
            self.n_outputs_ = self.n_classes_ if self.n_classes_ > 2 else 1
        else:
            unknown = np.setdiff1d(y, self.classes_)
            if len(unknown):
                raise ValueError(f"y has labels that the training data lack: {unknown[:10]}")
            labels = np.searchsorted(self.classes_, y)
        return labels.astype(np.float64)[np.newaxis]

    def decision_function(self, X):
        """Raw scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            The log-odds of ``classes_[1]`` with two classes, else a column a class.
        """
        return self._decision(self._raw_predict(X))

    def predict_proba(self, X):
        """Class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        return self._probabilities(self._raw_predict(X))

    def predict(self, X):
        """Predict the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return self._labels(self._raw_predict(X))

    def staged_predict(self, X):
        """The predictions of the first 1, 2, .. `n_iter_` trees, one after the other."""
        for scores in self._staged_raw_predict(X):
            yield self._labels(scores)

    def staged_predict_proba(self, X):
        """The probabilities of the first 1, 2, .. `n_iter_` trees, one after the other."""
        for scores in self._staged_raw_predict(X):
            yield self._probabilities(scores)

    def staged_decision_function(self, X):
        """The raw scores of the first 1, 2, .. `n_iter_` trees, one after the other."""
        for scores in self._staged_raw_predict(X):
            yield self._decision(scores.copy())

    def _decision(self, scores):
        return scores[:, 0] if self.n_classes_ <= 2 else scores

    def _probabilities(self, scores):
        if self.n_classes_ > 2:
            return softmax(scores, axis=1)
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        positive = expit(scores[:, 0])
        return np.column_stack([1.0 - positive, positive])

    def _labels(self, scores):
        if self.n_classes_ == 1:
            return np.full(len(scores), self.classes_[0])
        if self.n_classes_ == 2:
            return self.classes_[(scores[:, 0] > 0.0).astype(np.intp)]
        return self.classes_[np.argmax(scores, axis=1)]
