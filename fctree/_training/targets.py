"""Targets of estimators, and predictions from their scores: numbers, or classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin

from fctree._native.probabilities import of_two, softmax
from fctree._tables.targets import plain_targets
from fctree._training.losses import check_domain, check_learnable, has_log_link
from fctree._typing import ArrayLike, FloatArray, NDArray
from fctree._validation import check_labels, check_predictions, check_targets, encode_labels
from fctree._warnings import warn


_LEAST_SPREAD = 1e-159  # whose square has some five digits

# Whose differences, also times a temperature, are finite.
_LARGEST_SCORE, _REDUCTION = 1e300, 2.0**-30


def finite_scores(scores, even):
    """Finite scores of classes (n_samples, n_scores): rows that overflowed get smaller ones in the same order, in which NaN,
    infinity less infinity, counts as ``even``."""
    if np.abs(scores).max(initial=0.0) <= _LARGEST_SCORE:
        return scores
    overflowed = ~(np.abs(scores).max(axis=1) <= _LARGEST_SCORE)
    scores = scores.copy()
    scores[overflowed] = np.nan_to_num(scores[overflowed], nan=even / _REDUCTION) * _REDUCTION
    return scores


def _warn_of_small(targets):
    """Warn of targets that differ by so little that the squares underflow: a fit would see no difference."""
    with np.errstate(over="ignore"):
        spread = np.ptp(targets, axis=1)
    small = spread[(spread > 0.0) & (spread < _LEAST_SPREAD)]
    if small.size:
        warn(
            f"values of y differ by {small.min():.3g} at most, whose square underflows float64: trees see little or nothing "
            "of them; multiply y by a constant",
            RuntimeWarning,
        )


class NumericTargets:
    """For a regressor whose scores, (n_samples, n_outputs), `_raw_predict` gives."""

    n_outputs_: int
    _single_target: bool
    _raw_predict: Callable[[Any], FloatArray]

    def _squares_targets(self):
        """Whether targets are squared as they come, not over their deviations."""
        return True

    def _encode_targets(self, y, *, reset):
        """The targets, (n_outputs, n_samples); with ``reset`` it remembers their shape."""
        targets = np.ascontiguousarray(check_targets(y).T)
        if reset:
            if self._squares_targets():
                _warn_of_small(targets)
            self.n_outputs_ = len(targets)
            self._single_target = np.ndim(y) == 1
        elif len(targets) != self.n_outputs_:
            raise ValueError(f"y has {len(targets)} outputs, but {self.n_outputs_} were expected")
        return targets

    def _decode_targets(self, targets):
        """Targets as in `fit`, from those of `_encode_targets`."""
        return targets[0] if self._single_target else targets.T

    def _inverse_link(self, scores):
        """Predictions in the shape of the targets; the scores are overwritten."""
        return scores[:, 0] if self._single_target else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        return self._inverse_link(self._raw_predict(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class BoostedTargets(NumericTargets):
    """For a boosting regressor, whose loss may have a link."""

    _staged_raw_predict: Callable[[Any], Iterator[FloatArray]]

    def _squares_targets(self):
        return not has_log_link(self.loss)

    def _encode_targets(self, y, *, reset):
        targets = super()._encode_targets(y, reset=reset)
        check_domain(self.loss, targets)
        if reset:
            check_learnable(self.loss, targets)
            self._log_link = has_log_link(self.loss)
        elif has_log_link(self.loss) != self._has_log_link:
            of = {True: "logarithms of predictions", False: "predictions"}
            raise ValueError(
                f"loss={self.loss!r}: its scores are {of[not self._has_log_link]}, but those of the trees that "
                f"warm_start=True continues from are {of[self._has_log_link]}; keep a loss of their link, or fit "
                "anew with warm_start=False"
            )
        return targets

    @property
    def _has_log_link(self):
        """Whether the loss of the fit has a log link; models saved by 0.1 have the loss as the
        parameter only."""
        fitted = vars(self)
        return fitted["_log_link"] if "_log_link" in fitted else "trees_" in fitted and has_log_link(self.loss)

    def _inverse_link(self, scores):
        if self._has_log_link:
            np.exp(scores, out=scores)
            check_predictions(scores)
        return super()._inverse_link(scores)

    def staged_predict(self, X: ArrayLike) -> Iterator[FloatArray]:
        """The predictions of the first 1, 2, .. `n_iter_` trees, one after the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        """
        for scores in self._staged_raw_predict(X):
            yield self._inverse_link(scores.copy())


class PredictedClasses:
    """For a classifier with ``_labels(scores)``, whose scores `_raw_predict` gives."""

    classes_: NDArray[Any]
    n_classes_: int
    _raw_predict: Callable[[Any], FloatArray]
    _labels: Callable[[Any], NDArray[Any]]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return self._labels(self._raw_predict(X))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        accuracy : float
        """
        return ClassifierMixin.score(self, X, plain_targets(y, numeric=False), sample_weight)


class PredictedProbabilities(PredictedClasses):
    """For a classifier with ``_probabilities(scores)``, whose largest score is that of the predicted class."""

    _probabilities: Callable[[Any], FloatArray]
    _even_score = 0.0  # of the second of two classes, that predicts neither

    def _finite(self, scores):
        return finite_scores(scores, even=self._even_score if self.n_classes_ == 2 else 0.0)

    def _labels(self, scores):
        scores = self._finite(scores)
        if self.n_classes_ == 1:
            return np.repeat(self.classes_, len(scores))
        if self.n_classes_ == 2:
            return self.classes_[(scores[:, 0] > self._even_score).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        return self._probabilities(self._raw_predict(X))

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Logarithms of the class probabilities, -inf where these are 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : array of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class ClassTargets(PredictedProbabilities):
    """For a classifier whose scores are those of the log-loss."""

    _classification = True
    n_outputs_: int

    def _encode_targets(self, y, *, reset):
        """The numbers of the classes, (1, n_samples); with ``reset`` they become known."""
        check_labels(y)
        if reset:
            self._set_classes(np.unique(y))
        return encode_labels(y, self.classes_).astype(np.float64)[np.newaxis]

    def _decode_targets(self, targets):
        """Labels as in `fit`, from the numbers of the classes."""
        return self.classes_[targets[0].astype(np.intp)]

    def _set_classes(self, classes):
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.n_outputs_ = self.n_classes_ if self.n_classes_ > 2 else 1

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Raw scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            The log-odds of ``classes_[1]`` with two classes, else one column per class.
        """
        return self._decision(self._raw_predict(X))

    def _decision(self, scores):
        return scores[:, 0] if self.n_classes_ <= 2 else scores

    def _probabilities(self, scores):
        scores = self._finite(scores)
        if self.n_classes_ > 2:
            return softmax(scores)
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        return of_two(expit(scores[:, 0]))


class BoostedClasses(ClassTargets):
    """For a boosting classifier."""

    _staged_raw_predict: Callable[[Any], Iterator[FloatArray]]

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """The predictions of the first 1, 2, .. `n_iter_` trees, one after the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : array of shape (n_samples,)
        """
        for scores in self._staged_raw_predict(X):
            yield self._labels(scores)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[FloatArray]:
        """The probabilities of the first 1, 2, .. `n_iter_` trees, one after the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        probabilities : array of shape (n_samples, n_classes)
        """
        for scores in self._staged_raw_predict(X):
            yield self._probabilities(scores)

    def staged_decision_function(self, X: ArrayLike) -> Iterator[FloatArray]:
        """The raw scores of the first 1, 2, .. `n_iter_` trees, one after the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        scores : array of shape (n_samples,) or (n_samples, n_classes), as in `decision_function`
        """
        for scores in self._staged_raw_predict(X):
            yield self._decision(scores.copy())
