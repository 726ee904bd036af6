"""Kernel ridge regression and classification with one tree kernel."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

from sklearn.utils import check_random_state

from fctree._native_input import native_params
from fctree._parameters import set_parameters, shares_documentation
from fctree._sklearn import Interval, StrOptions, fit_context
from fctree._tables.estimators import TABLE_CONSTRAINTS
from fctree._typing import ArrayLike, RandomState, Self
from fctree._validation import fitted_whole
from fctree.kernel_ridge.base import (
    ARCHITECTURE,
    DEPTH,
    DEVICE,
    ROUNDS,
    BaseTreeNTK,
    ClassifierTargets,
    RegressorTargets,
)
from fctree.kernel_ridge.landmarks import solve_with_landmarks
from fctree.kernel_ridge.solvers import solve_by_conjugate_gradients, solve_with_errors


class SingleTreeNTK(BaseTreeNTK):
    """Parameters and fit of the estimators with one kernel."""

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "depth": DEPTH,
        "scale": [Interval(Real, 0, None, closed="neither")],
        "architecture": ARCHITECTURE,
        "solver": [StrOptions({"cholesky", "nystrom", "cg"})],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "feature_learning": ROUNDS,
        **TABLE_CONSTRAINTS,
        "device": DEVICE,
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        alpha: float = 1e-8,
        depth: float = 3,
        scale: float = 2.0,
        architecture: str | Mapping[int, int] = "perfect",
        solver: str = "cholesky",
        n_components: int = 1000,
        max_iter: int = 1000,
        tol: float = 1e-6,
        feature_learning: int = 0,
        categorical_features: ArrayLike | str | None = "from_dtype",
        device: str = "cpu",
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())

    def _fitted_kernel(self):
        fitted = vars(self)
        return self._kernel(fitted.get("_depth", self.depth), fitted.get("_scale", self.scale))

    def _choose_kernel(self):
        """Takes the kernel from the parameters: predictions depend on those of the fit."""
        self._depth, self._scale = self.depth, self.scale
        self._architecture = self.architecture

    def _stopping(self):
        return {"tol": self.tol, "max_iter": self.max_iter, "verbose": self.verbose}

    def _solve_system(self, kernel, X, targets, weights):
        alpha = native_params({"alpha": self.alpha})["alpha"]
        self.n_iter_ = 1
        if self.solver == "cholesky":
            return X, *solve_with_errors(kernel.gram(X), targets, alpha, weights)
        if self.solver == "cg":
            coefficients, self.n_iter_ = solve_by_conjugate_gradients(
                kernel, X, targets, weights, alpha=alpha, **self._stopping()
            )
            return X, coefficients, None
        draw = {"n_components": self.n_components,
                "random_state": check_random_state(self.random_state)}
        landmarks, coefficients, self.n_iter_ = solve_with_landmarks(
            kernel, X, targets, weights, draw, alpha=alpha, **self._stopping()
        )
        return landmarks, coefficients, None

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN for missing values; or a table with categories (`categorical_features`).
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for a regressor
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; a weight of 2 counts as two samples, samples of weight 0 are ignored. If
            the mean weight is below about 0.7, all weights are multiplied by the power of two that brings
            it closest to 1, so that `alpha` keeps its strength.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For infinity in `X`, NaN or infinity in `y`, inconsistent shapes, parameters out of range.
        MemoryError
            If the matrix of ``solver="cholesky"``, or the factor of ``"nystrom"``, cannot fit in memory.
        RuntimeError
            For ``device="cuda"`` if it is not available.
        """
        with fitted_whole(self) as fitted:
            X, targets, weights = fitted._check_targets(X, y, sample_weight)
            fitted._choose_kernel()
            kernel = fitted._fitted_kernel()
            X = fitted._learn_features(kernel, fitted._solve, X, targets, weights)
            X_fit, *solution = fitted._solve_system(kernel, X, targets, weights)
            penalty = float(fitted.alpha) if fitted.solver == "cholesky" else None
            fitted._store(X_fit, *solution, penalty, weights)
        return self


class TreeNTKRegressor(RegressorTargets, SingleTreeNTK):
    """Kernel ridge regression with a tree neural tangent kernel.

    Without a penalty it predicts what an infinite ensemble of soft trees would predict after training, in the
    limit of the kernel theory. It then fits all training targets exactly, and if they are noisy it can be far
    worse than predicting their mean: set `alpha`, or use `TreeNTKRegressorCV`, which chooses it.

    Parameters
    ----------
    alpha : float, default=1e-8
        Ridge penalty, as in `sklearn.kernel_ridge.KernelRidge`. The default is nearly unpenalised, as in
        the papers; noisy targets need 0.01 to 10.
    depth : int or inf, default=3
        Depth of the trees; ``inf`` with ``architecture="decision_list"``.
    scale : float, default=2.0
        Hardness of the splits (the papers' alpha).
    architecture : str or mapping, default="perfect"
        As in `fctree.kernels.tree_ntk`; or, for comparison, ``"exponential"`` for
        `fctree.kernels.exponential_kernel`, which has no depth.
    solver : {"cholesky", "nystrom", "cg"}, default="cholesky"
        ``"cholesky"`` needs the n x n matrix and O(n^3) time. ``"nystrom"`` expands the solution in
        `n_components` samples (landmarks), chosen by randomly pivoted Cholesky factorisation, and solves by
        preconditioned conjugate gradients: O(n * n_components) time per iteration, O(n_components^3) once.
        ``"cg"`` solves the full system by plain conjugate gradients without storing the matrix.
    n_components : int, default=1000
        Maximum number of landmarks of ``"nystrom"``; samples that other landmarks represent up to rounding
        are skipped.
    max_iter, tol : int, default=1000; float, default=1e-6
        Maximum number of iterations, and the relative residual at which they stop (``"nystrom"``,
        ``"cg"``).
    feature_learning : int, default=0
        Maximum number of rounds of metric learning (recursive feature machines): each round turns the mean
        outer product of the predictor's gradients into a new metric of the features. Three-fold
        cross-validation chooses the number of rounds by the squared error; a classifier must not
        misclassify more samples either.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Categorical features: the columns of a categorical or text type, a list of names or indices, or a
        mask; None for none.
    device : {"cpu", "auto", "cuda"}, default="cpu"
        Device that computes the kernels.
    verbose : int, default=0
        1 shows the progress of iterations, and of the fits for feature learning.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and of the signs of the preconditioner.

    Attributes
    ----------
    X_fit_ : array of shape (n_fit, n_features)
        Samples in which the solution is expanded, all of them or the landmarks; multiplied by
        `feature_matrix_` if there is one.
    feature_matrix_ : array of shape (n_features, n_features) or None
        Learned metric P; the kernel is computed on ``X P``. None if none was learned.
    feature_learning_errors_ : array of shape (feature_learning + 1,)
        Cross-validated mean squared errors by the number of rounds; only with `feature_learning`.
    dual_coef_ : array of shape (n_fit,) or (n_fit, n_outputs)
        Coefficients of `X_fit_`.
    n_iter_ : int
        Iterations of conjugate gradients; 1 for ``"cholesky"``.
    interval_scores_, interval_levels_ : arrays
        Leave-one-out errors, and the confidence level for which each one suffices; computed with
        ``solver="cholesky"`` in the first call of `predict_interval`.
    encoder_ : TableEncoder
        Encoder of categories and missing values.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky: practical
    approximation of a kernel matrix with few entry evaluations", 2022.
    R. Kanoh and M. Sugiyama, "A Neural Tangent Kernel Perspective of Infinite Tree Ensembles",
    ICLR 2022; "Analyzing Tree Architectures in Ensembles via Neural Tangent Kernel", ICLR 2023.
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, "Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models", Science, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from fctree import TreeNTKRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TreeNTKRegressor(alpha=10.0, depth=2, scale=0.5).fit(scale(X)[:300], y[:300])
    >>> bool(model.score(scale(X)[300:], y[300:]) > 0.4)
    True
    """


@shares_documentation(TreeNTKRegressor)
class TreeNTKClassifier(ClassifierTargets, SingleTreeNTK):
    """Kernel ridge classification with a tree neural tangent kernel.

    Fits one regression per class indicator and predicts the class with the largest output, as in the papers.

    Parameters
    ----------
    alpha, depth, scale, architecture, solver, n_components, max_iter, tol, \
            feature_learning, categorical_features, device, verbose, n_jobs, random_state
        As in `TreeNTKRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    X_fit_, feature_matrix_, feature_learning_errors_
        As in `TreeNTKRegressor`.
    dual_coef_ : array of shape (n_fit, n_classes)
        Coefficients of `X_fit_`.
    n_iter_, encoder_, n_features_in_, feature_names_in_
        As in `TreeNTKRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fctree import TreeNTKClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TreeNTKClassifier(alpha=1.0).fit(scale(X)[:400], y[:400])
    >>> bool(model.score(scale(X)[400:], y[400:]) > 0.95)
    True
    """
