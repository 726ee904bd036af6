"""Choosing the penalty, depth and scale of a tree kernel by cross-validation."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from fctree._memory import available_memory, check_memory
from fctree._parameters import set_parameters, shares_documentation
from fctree._sklearn import StrOptions, fit_context
from fctree._tables.estimators import TABLE_CONSTRAINTS
from fctree._threads import count_threads, one_blas_thread
from fctree._training.progress import ProgressBar
from fctree._training.target_units import in_squares_of
from fctree._typing import ArrayLike, NDArray, Self
from fctree._validation import fitted_whole
from fctree.kernel_ridge.base import (
    ARCHITECTURE,
    DEVICE,
    ROUNDS,
    BaseTreeNTK,
    ClassifierTargets,
    RegressorTargets,
)
from fctree.kernel_ridge.ordered_tasks import in_order
from fctree.kernel_ridge.solvers import TreeKernel, solve_with_errors, warn_of_singular
from fctree.kernel_ridge.spectrum import Spectrum
from fctree.kernels import tree_ntk_path
from fctree.kernels.architecture import check_architecture, check_depth, check_scale

# Gram matrices of several depths that are held at a time.
_PATH_BYTES = 2**30

_RELATIVE_SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def _by_length(scales, X, weights):
    """The scales divided by the root mean square length of the samples."""
    largest = float(np.abs(X).max(initial=0.0)) or 1.0
    squares = np.square(X / largest, dtype=np.float64).sum(axis=1)
    length = largest * np.sqrt(np.average(squares, weights=weights)) or 1.0
    if not np.isfinite(max(scales) / length):
        raise ValueError(f"X is too small for relative scales: samples have a root mean square length of {length:.3g}")
    # Rounded: not a matter of the order of the samples.
    return [float(f"{scale / length:.3g}") for scale in scales]


def _depths_of(architecture, depths, several):
    """Checked depths; of several architectures those that each can have. Leaf counts have one."""
    if architecture == "exponential":
        return [1]
    if not isinstance(architecture, str):
        check_architecture(architecture)
        return [1]
    if several and architecture != "decision_list":
        depths = [depth for depth in depths if depth != np.inf]
    return [check_depth(depth, architecture=architecture) for depth in depths]


class SearchingTreeNTK(BaseTreeNTK):
    """Parameters, search and fit of the estimators that choose their kernel."""

    _parameter_constraints = {
        "alphas": ["array-like"],
        "depths": ["array-like"],
        "scales": ["array-like", None],
        "architecture": ARCHITECTURE,
        "architectures": ["array-like", None],
        "cv": ["cv_object"],
        "feature_learning": ROUNDS,
        **TABLE_CONSTRAINTS,
        "device": DEVICE,
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        alphas: Sequence[float] | NDArray[Any] = (1e-8, 1e-4, 1e-2, 1.0),
        depths: Sequence[float] | NDArray[Any] = (1, 2, 3, 5, 8),
        scales: Sequence[float] | NDArray[Any] | None = None,
        architecture: str | Mapping[int, int] = "perfect",
        architectures: Sequence[str | Mapping[int, int]] | None = None,
        cv: Any = None,
        feature_learning: int = 0,
        categorical_features: ArrayLike | str | None = "from_dtype",
        device: str = "cpu",
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        set_parameters(self, locals())

    def _fitted_kernel(self):
        return self._kernel(self.depth_, self.scale_)

    def _check_grid(self):
        """Penalties, pairs of an architecture and its depths, and scales, checked."""
        several = self.architectures is not None
        if several and self.architecture != "perfect":
            raise ValueError("architecture and architectures exclude each other: the list is tried instead of the one")
        if isinstance(self.architectures, (str, Mapping)):
            raise TypeError(f"architectures must be a list of architectures, got {self.architectures!r}")
        architectures = self.architectures if several else [self.architecture]
        scales = _RELATIVE_SCALES if self.scales is None else self.scales
        lists = {"alphas": list(self.alphas), "scales": list(scales),
                 "depths": list(self.depths), "architectures": list(architectures)}
        for name, values in lists.items():
            if not values:
                raise ValueError(f"{name} is empty")
        for alpha in lists["alphas"]:
            if not isinstance(alpha, Real) or not 0.0 <= alpha < np.inf:
                raise ValueError(f"alphas must be finite and at least 0, got {alpha!r}")
        shapes = [(a, _depths_of(a, lists["depths"], several)) for a in lists["architectures"]]
        if not any(depths for _, depths in shapes):
            raise ValueError("depths: only decision lists can have a depth of inf")
        return lists["alphas"], shapes, [check_scale(s) for s in lists["scales"]]

    def _matrices(self, X, shapes, scales):
        """(scale, architecture, depth, Gram matrix) for the grid; depths share what they can."""
        total = len(scales) * sum(len(depths) for _, depths in shapes)
        remedy = "fit on fewer samples, or fix the kernel and use TreeNTKRegressor(solver='nystrom')"
        check_memory("a pair of Gram matrices", (2, len(X), len(X)), np.float64, remedy)
        together = max(1, int(_PATH_BYTES // (8 * len(X) ** 2)))
        with ProgressBar(self.verbose, total=total, desc="kernels") as bar:
            for scale, (architecture, depths) in itertools.product(scales, shapes):
                shared = {"scale": scale, "architecture": architecture, "device": self.device,
                          "n_jobs": self.n_jobs}
                for start in range(0, len(depths), together):
                    some = depths[start : start + together]
                    if isinstance(architecture, str) and architecture != "exponential":
                        matrices = tree_ntk_path(X, depths=some, **shared)
                    else:
                        matrices = [TreeKernel(1, **shared).gram(X)]
                    for depth, K in zip(some, matrices, strict=True):
                        yield scale, architecture, depth, K
                        bar.update()

    def _score(self, outputs, targets, weights):
        """Larger is better: accuracy, (1,), if `scoring` says so, else minus each output's mean squared error, (n_outputs,)."""
        if vars(self).get("scoring") == "accuracy":
            values = (outputs.argmax(axis=1) == targets.argmax(axis=1))[:, np.newaxis]
        else:
            values = -((outputs - targets) ** 2)
        return np.average(values, axis=0, weights=weights)

    def _scores_of_folds(self, K, targets, weights, alphas, folds):
        """Mean scores of each alpha; the folds are parts of one matrix."""
        scores = []
        for train, test in folds:
            part = None if weights is None else weights[train]
            spectrum = Spectrum(K[np.ix_(train, train)], targets[train], part)
            across = K[np.ix_(test, train)]
            part = None if weights is None else weights[test]
            scores.append([self._score(across @ spectrum.dual_coef(a), targets[test], part) for a in alphas])
        return np.mean(scores, axis=0)

    def _rate(self, targets, weights, alphas, folds, kernel):
        """Rates one matrix of `_matrices`: what it is of, scores by alpha, solution for the best."""
        *chosen, K = kernel
        if folds is not None:
            return chosen, self._scores_of_folds(K, targets, weights, alphas, folds), None
        spectrum = Spectrum(K, targets, weights)
        scores = np.array([self._score(spectrum.left_out(targets, alpha), targets, weights) for alpha in alphas])
        best = alphas[int(np.argmax(scores.mean(axis=1)))]
        errors = spectrum.errors(best) if spectrum.is_singular(best) else None
        return chosen, scores, (spectrum.dual_coef(best), errors)

    def _side_by_side(self, n_samples):
        """Kernels that are tried at a time: some four matrices each have to fit in memory."""
        n_threads = min(count_threads(self.n_jobs), os.cpu_count() or 1)
        room = (available_memory() or 0) // (4 * 8 * n_samples**2 + 1)
        return max(1, min(n_threads, room))

    def _solve_system(self, kernel, X, targets, weights):
        return X, *solve_with_errors(kernel.gram(X), targets, self.alpha_, weights)

    @fit_context
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the parameters by cross-validation, then fit with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for a regressor
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None
            Groups of the samples, for a `cv` that splits by them.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError, TypeError
            For invalid data or grids.
        MemoryError
            If two Gram matrices do not fit in memory.
        """
        # Eigenvectors would differ with the number of a BLAS's threads, which spin while others compute.
        with fitted_whole(self) as fitted, one_blas_thread:
            alphas, shapes, scales = fitted._check_grid()
            X, targets, weights = fitted._check_targets(X, y, sample_weight)
            if fitted.scales is None:
                scales = _by_length(scales, X, weights)
            fitted._kernel(1, 1.0)  # refuses a device that is not there
            folds = None
            if fitted.cv is None and groups is not None:
                raise ValueError("groups are for a cv that splits by them, such as GroupKFold(): cv is None")
            if fitted.cv is not None:
                labels = targets.argmax(axis=1) if is_classifier(fitted) else targets
                splitter = check_cv(fitted.cv, labels, classifier=is_classifier(fitted))
                rows = np.arange(len(X))
                folds = [(rows[train], rows[test]) for train, test in splitter.split(X, labels, groups)
                         if weights is None or (weights[train].any() and weights[test].any())]
                if not folds:
                    raise ValueError("cv: no fold has samples of positive weight on both sides")
            tried: list[tuple[Any, ...]] = []
            best: Any = None
            unit = fitted._unit(targets, weights)
            rate = partial(fitted._rate, targets / unit, weights, alphas, folds)
            for chosen, scores, solution in in_order(
                rate, fitted._matrices(X, shapes, scales), fitted._side_by_side(len(X))
            ):
                scale, architecture, depth = chosen
                reported, scores = in_squares_of(unit, scores).mean(axis=1), scores.mean(axis=1)
                tried += [(scale, str(architecture), depth, alpha, s)
                          for alpha, s in zip(alphas, reported, strict=True)]
                k = int(np.argmax(scores))
                if best is None or scores[k] > best[0]:
                    best = (scores[k], scale, architecture, depth, alphas[k], solution, reported[k])
            fitted.best_score_, fitted.scale_ = float(best[6]), float(best[1])
            fitted.architecture_, fitted.depth_, fitted.alpha_ = best[2:5]
            fitted._architecture = fitted.architecture_
            names = ("scale", "architecture", "depth", "alpha", "score")
            fitted.cv_results_ = {n: np.array(v) for n, v in
                                zip(names, zip(*tried, strict=True), strict=True)}
            kernel, solution = fitted._fitted_kernel(), best[5] and [s if s is None else s * unit for s in best[5]]
            X = fitted._learn_features(kernel, fitted._solve, X, targets, weights, folds)
            if solution is None or fitted.feature_matrix_ is not None:
                solution = fitted._solve_system(kernel, X, targets, weights)[1:]
            elif solution[1] is not None:
                warn_of_singular(fitted.alpha_)
            fitted._store(X, *solution, float(fitted.alpha_), weights)
        return self


class TreeNTKRegressorCV(RegressorTargets, SearchingTreeNTK):
    """Tree kernel ridge regression with penalty, depth and scale chosen by cross-validation.

    Parameters
    ----------
    alphas : sequence of float, default=(1e-8, 1e-4, 1e-2, 1.0)
        Ridge penalties to try.
    depths : sequence of int (or inf), default=(1, 2, 3, 5, 8)
        Depths of the trees to try.
    scales : sequence of float or None, default=None
        Hardnesses of the splits to try. None means .25, .5, 1, 2, 4 and 8, divided by the root mean square norm of the
        training samples, which is the square root of the number of features if these are standardised.
    architecture : str or mapping, default="perfect"
        Shape of the trees, see `fctree.kernels.tree_ntk`, or ``"exponential"``, see `fctree.kernels.exponential_kernel`;
        `depths` is not used with a mapping or ``"exponential"``.
    architectures : sequence of str or mapping, default=None
        Shapes to try instead of `architecture`, which must then be its default; a depth of inf needs a decision list.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out in closed form, from one eigendecomposition, O(n_samples**3), for each of the 30 kernels of
        the default grid: each row is left out with its whole weight, but copies of it stay. Otherwise folds as in
        scikit-learn, which share the Gram matrix; they also evaluate learned features, and intervals use the errors of
        the rows that they hold out.
    feature_learning : int, default=0
        Maximum number of rounds of metric learning (recursive feature machines) with the chosen kernel and penalty; the
        number kept is chosen by the folds of `cv`, or by three folds without it.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Categorical features: the columns of a categorical or text type, a list of names or indices, or a
        mask; None for none.
    device : {"cpu", "auto", "cuda"}, default="cpu"
        Device that computes the kernels.
    verbose : int, default=0
        1 shows the progress over the kernels, and of the fits for feature learning.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it. Kernels are tried in parallel, so memory grows with it.

    Attributes
    ----------
    alpha_, depth_, scale_, architecture_ : float, int, float, str or mapping
        Chosen parameters. With several outputs, errors are divided by the variances of the outputs; the first of equally
        good parameters are chosen.
    best_score_ : float
        Negative leave-one-out or mean cross-validated squared error. It overflows for targets above 1e154;
        the choice is not affected.
    cv_results_ : dict of arrays
        ``scale``, ``architecture``, ``depth``, ``alpha`` and ``score`` of all combinations.
    X_fit_ : array of shape (n_samples, n_features)
        Training samples, multiplied by `feature_matrix_` if there is one.
    feature_matrix_ : array of shape (n_features, n_features) or None
        Learned metric P; the kernel is computed on ``X P``. None if none was learned.
    feature_learning_errors_ : array of shape (feature_learning + 1,)
        Cross-validated mean squared errors by the number of rounds; only with `feature_learning`.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Coefficients of `X_fit_`.
    interval_scores_, interval_levels_ : arrays
        Errors of left-out samples, and the confidence level for which each one suffices; set by `predict_interval`.
    encoder_ : TableEncoder
        Encoder of categories and missing values.
    n_features_in_, feature_names_in_
        Number and names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from fctree import TreeNTKRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TreeNTKRegressorCV(alphas=(1.0, 10.0, 100.0), depths=(1, 2)).fit(scale(X), y)
    >>> bool(model.depth_ in (1, 2) and -model.best_score_ < y.var())
    True
    """


@shares_documentation(TreeNTKRegressorCV)
class TreeNTKClassifierCV(ClassifierTargets, SearchingTreeNTK):
    """Tree kernel ridge classification with penalty, depth and scale chosen by cross-validation.

    Parameters
    ----------
    alphas, depths, scales, architecture, architectures
        As in `TreeNTKRegressorCV`.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out in closed form, from one eigendecomposition, O(n_samples**3), for each of the 30 kernels of
        the default grid. Otherwise folds as in scikit-learn (stratified for an integer), which share the Gram matrix.
    scoring : {"accuracy", "neg_mean_squared_error"}, default="accuracy"
        Score to maximise. The squared error of the class indicators distinguishes settings of equal accuracy.
    feature_learning, categorical_features, device, verbose, n_jobs
        As in `TreeNTKRegressorCV`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    alpha_, depth_, scale_, architecture_, cv_results_, X_fit_, feature_matrix_, \
            feature_learning_errors_
        As in `TreeNTKRegressorCV`.
    dual_coef_ : array of shape (n_samples, n_classes)
        Coefficients of `X_fit_`.
    encoder_, n_features_in_, feature_names_in_
        As in `TreeNTKRegressorCV`.
    best_score_ : float
        Leave-one-out or mean cross-validated score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from fctree import TreeNTKClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeNTKClassifierCV(depths=(1, 2, 3)).fit(scale(X), y)
    >>> bool(model.best_score_ > 0.94)
    True
    """

    _parameter_constraints = {
        **SearchingTreeNTK._parameter_constraints,
        "scoring": [StrOptions({"accuracy", "neg_mean_squared_error"})],
    }

    def __init__(
        self,
        *,
        alphas: Sequence[float] | NDArray[Any] = (1e-8, 1e-4, 1e-2, 1.0),
        depths: Sequence[float] | NDArray[Any] = (1, 2, 3, 5, 8),
        scales: Sequence[float] | NDArray[Any] | None = None,
        architecture: str | Mapping[int, int] = "perfect",
        architectures: Sequence[str | Mapping[int, int]] | None = None,
        cv: Any = None,
        scoring: str = "accuracy",
        feature_learning: int = 0,
        categorical_features: ArrayLike | str | None = "from_dtype",
        device: str = "cpu",
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        set_parameters(self, locals())
