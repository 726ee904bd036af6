"""Base class of kernel ridge estimators: parameters, the kernel, prediction."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier

from fctree._intervals.kernels import KernelIntervals
from fctree._sklearn import Interval, Options, StrOptions
from fctree._tables.estimators import TakesTables, encode_training
from fctree._training.progress import ProgressBar
from fctree._training.target_units import comparing_units, in_squares_of
from fctree._training.targets import NumericTargets, PredictedClasses
from fctree._typing import ArrayLike, FloatArray
from fctree._validation import (
    check_features,
    check_fitted,
    check_labels,
    check_predictions,
    check_targets,
    check_training_data,
)
from fctree.kernel_ridge.feature_learning import (
    choose_rounds,
    held_out_errors,
    in_moderate_units,
    mapped,
    matrix_after,
)
from fctree.kernel_ridge.solvers import TreeKernel
from fctree.kernels.architecture import ARCHITECTURES, check_scale
from fctree.kernels.device import DEVICES, uses_gpu

DEPTH = [Interval(Integral, 1, None, closed="left"), Options(Real, {np.inf})]
ARCHITECTURE = [StrOptions({*ARCHITECTURES, "exponential"}), Mapping]
DEVICE = [StrOptions(set(DEVICES))]
ROUNDS = [Interval(Integral, 0, None, closed="left")]


class BaseTreeNTK(TakesTables, BaseEstimator):
    """Kernel ridge with a tree kernel; subclasses define the targets and the solution."""

    def _kernel(self, depth, scale):
        uses_gpu(self.device)
        # Of the last fit, if there is one.
        architecture = vars(self).get("_architecture", self.architecture)
        return TreeKernel(depth, check_scale(scale), architecture, self.device, self.n_jobs)

    def _unit(self, targets, weights):
        """The unit of each output in which errors are compared, 1 for indicators of classes."""
        return 1.0 if is_classifier(self) else np.multiply(*comparing_units(targets, weights))

    def _learn_features(self, kernel, solve, X, targets, weights, folds=None):
        """``X`` in the learned metric; sets ``feature_matrix_`` and the errors of the folds (`held_out_errors`)."""
        self.feature_matrix_ = self._fold_errors = None
        vars(self).pop("feature_learning_errors_", None)  # of an earlier fit
        if not self.feature_learning and (folds is None or is_classifier(self)):
            return X
        unit = self._unit(targets, weights)
        targets = targets / unit
        features, kernel = in_moderate_units(X, kernel)
        with ProgressBar(self.verbose and self.feature_learning, desc="feature learning", unit="fit") as bar:
            def solve_one(*system):
                bar.update()
                return solve(*system)

            left_out = held_out_errors(kernel, solve_one, features, targets, weights, self.feature_learning, folds)
        known = np.isfinite(left_out[0]).all(axis=1)
        judged, part = left_out[:, known], None if weights is None else weights[known]
        k, errors = choose_rounds(judged, part)
        if self.feature_learning:
            self.feature_learning_errors_ = in_squares_of(unit, errors).sum(axis=1)
        if k and self._no_worse(judged[k], judged[0], targets[known], part):
            self.feature_matrix_ = matrix_after(kernel, solve, features, targets, weights, k)
        if folds is not None or self.feature_matrix_ is not None:
            self._fold_errors = left_out[0 if self.feature_matrix_ is None else k] * unit
        return mapped(X, self.feature_matrix_)

    def _solve(self, kernel, X, targets, weights):
        """The samples of the expansion and their coefficients.

        A subclass has ``_solve_system``, with the same arguments, which also returns the errors without each sample
        where the coefficients do not tell them, else None; it sets ``n_iter_`` where there are iterations.
        """
        return self._solve_system(kernel, X, targets, weights)[:2]

    def _no_worse(self, errors, others, targets, weights):
        """Whether errors of smaller squares are no worse than the others in what the predictions are for."""
        return True

    def _raw_predict(self, X):
        """f(X) of shape (n_samples, n_outputs), in tiles."""
        check_fitted(self)
        X = mapped(check_features(self, X), vars(self).get("feature_matrix_"))
        coefficients = self.dual_coef_.reshape(len(self.X_fit_), -1)
        return check_predictions(self._fitted_kernel().multiply(X, self.X_fit_, coefficients))


def _checked(coefficients):
    """The solution (n, n_outputs) as predictions read it, or ValueError."""
    if not np.all(np.isfinite(coefficients)):
        raise ValueError(
            "the solution is not finite: y, the weights or alpha are too large or too small for "
            "float64"
        )
    return np.ascontiguousarray(coefficients)


class RegressorTargets(NumericTargets, KernelIntervals, RegressorMixin):
    """Numeric targets, one or several outputs."""

    def _check_targets(self, X, y, sample_weight):
        """Validated X, y as (n, n_outputs), weights; remembers the shape of y."""
        X, y, sample_weight = check_training_data(self, X, y, sample_weight, multi_output=True)
        self._single_target = y.ndim == 1
        targets = check_targets(y)
        X = encode_training(self, X, targets.T, sample_weight, n_classes=None)
        return X, targets, sample_weight

    def _store(self, X_fit, coefficients, errors=None, penalty=None, weights=None):
        coefficients = _checked(coefficients)
        self.X_fit_ = X_fit
        self.dual_coef_ = coefficients[:, 0] if self._single_target else coefficients
        self._keep_system(errors, penalty, weights)


class ClassifierTargets(PredictedClasses, ClassifierMixin):
    """Classes as one-hot targets; predictions are the class of the largest output (the papers'
    protocol)."""

    def _check_targets(self, X, y, sample_weight):
        """Validated X, one-hot targets (n, n_classes), weights; sets ``classes_``."""
        X, y, sample_weight = check_training_data(self, X, y, sample_weight, multi_output=False)
        check_labels(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        X = encode_training(self, X, labels[np.newaxis], sample_weight, n_classes=n_classes)
        return X, np.eye(n_classes)[labels], sample_weight

    def _store(self, X_fit, coefficients, errors=None, penalty=None, weights=None):
        self.dual_coef_ = _checked(coefficients)
        self.X_fit_ = X_fit

    def _no_worse(self, errors, others, targets, weights):
        """Whether no more samples get a wrong class; errors are targets less outputs."""
        labels = targets.argmax(axis=1)
        wrong, others = ((targets - e).argmax(axis=1) != labels for e in (errors, others))
        return np.average(wrong, weights=weights) <= np.average(others, weights=weights)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the predicted class indicators, which are not probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            With two classes the output of the second minus that of the first.
        """
        outputs = self._raw_predict(X)
        return outputs if outputs.shape[1] > 2 else outputs[:, -1] - outputs[:, :-1].sum(axis=1)

    def _labels(self, scores):
        return self.classes_[scores.argmax(axis=1)]
