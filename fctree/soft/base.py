"""Base class of soft trees: parameters, training, reading the model."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator

from fctree._native import soft as _native
from fctree._native.core import Loss
from fctree._native_input import native_params
from fctree._parameters import set_parameters
from fctree._sklearn import Interval, StrOptions, fit_context, validate_parameters
from fctree._tables.estimators import (
    TABLE_CONSTRAINTS,
    TakesTables,
    encode_samples,
    n_encoded,
)
from fctree._threads import count_threads, threads_for
from fctree._training.class_weights import weigh_classes
from fctree._training.parameter_ranges import TRAINING_CONSTRAINTS
from fctree._training.divergence import warn_if_diverged
from fctree._training.progress import progress_listener
from fctree._training.samples import Samples, hold_out
from fctree._typing import ArrayLike, NDArray, RandomState, Self
from fctree._validation import (
    FLOATS,
    check_fitted,
    check_imputed_data,
    check_predictions,
    check_sample_weight,
    check_soft_features,
    check_total,
    draw_seed,
    fitted_whole,
)
from fctree.soft.state import WEIGHTS, copied, initial_state, tree_shape, with_best

_ROUTINGS = {routing.name: routing.value for routing in _native.Routing}  # an enumeration takes its time
_LEAST_LOSS = 0.01  # a loss as good as 0, in variances or nats: that of one class is about 1e-15


class BaseSoftTree(TakesTables, BaseEstimator):
    """Ensembles of soft trees; subclasses define the loss, the targets and the predictions."""

    _parameter_constraints = {
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "depth": [Interval(Integral, 1, None, closed="left")],
        "architecture": [str, "array-like"],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "routing": [StrOptions({"smooth_step", "logistic", "erf"})],
        "scale": [Interval(Real, 0, None, closed="neither")],
        "batch_norm": ["boolean"],
        "fit_intercept": ["boolean"],
        "initialization": [StrOptions({"standard", "ntk"})],
        "optimizer": [StrOptions({"adam", "gradient_descent"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "l2_leaf_reg": [Interval(Real, 0, None, closed="left")],
        **TABLE_CONSTRAINTS,
        **TRAINING_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_trees: int = 10,
        depth: int = 4,
        architecture: str | Mapping[int, int] | ArrayLike = "perfect",
        gamma: float = 1.0,
        routing: str = "smooth_step",
        scale: float = 2.0,
        batch_norm: bool = True,
        fit_intercept: bool = True,
        initialization: str = "standard",
        optimizer: str = "adam",
        learning_rate: float = 0.01,
        batch_size: int = 256,
        max_epochs: int = 100,
        l2_regularization: float = 0.0,
        l2_leaf_reg: float = 20.0,
        categorical_features: ArrayLike | str | None = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: int | float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())

    # What predictions depend on: parameters as they were in the last fit.
    _RULE = ("routing", "gamma", "scale", "batch_norm", "fit_intercept")

    # A subclass has _loss, the core's name of the loss; _encode_targets(y, reset=), y as
    # float64 (n_targets, n_samples); and _start(samples), which sets baseline_ and output_scale_.
    _classification = False

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN where missing; or a table with categories (`categorical_features`). Computations
            are in float32 for float32 input, else in float64.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for the regressor
            Targets or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, used in the loss and in the moments of `batch_norm`. If the mean weight is
            below about 0.7, all weights are multiplied by the power of two that brings it closest to 1, so
            that penalties keep their strength.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For inconsistent shapes, infinity in `X`, negative weights, a loss that becomes infinite, or a
            warm start with trees of another shape or fewer epochs than already trained.

        Warns
        -----
        ConvergenceWarning
            If the final training loss is clearly above the initial one.
        """
        with fitted_whole(self) as fitted:
            continuing = fitted.warm_start and hasattr(fitted, "_state")
            train = fitted._check_samples(X, y, sample_weight, reset=not continuing)
            if not continuing:
                fitted._random_seed = draw_seed(fitted.random_state)
            held = []
            if fitted.early_stopping:
                train, validation = hold_out(
                    train, fitted._classification, fitted.validation_fraction, fitted._random_seed
                )
                held = [validation]
            train, held = weigh_classes(fitted, train, held)
            n_classes = fitted.n_classes_ if fitted._classification else None
            encode_samples(fitted, train, held, n_classes=n_classes, continuing=continuing)
            if not continuing:
                fitted._start(train)
            done = fitted._state["n_epochs"]
            check_total("max_epochs", fitted.max_epochs, done, "epochs")
            fitted._train(train, held[0] if held else None, fitted.max_epochs - done)
            if not continuing:
                fitted._warn_if_diverged(train)
        return self

    def _warn_if_diverged(self, train):
        """Compare the loss of the epoch that is kept with that of leaves of 0."""
        kept = np.argmin(self.validation_loss_curve_) if self.validation_loss_curve_ else -1
        loss = Loss((self._loss, 0.0), self.n_outputs_)
        raw = np.repeat(self._offset_and_multiplier()[0][:, None], len(train.X), axis=1)
        total = loss.evaluate(self._scaled(train.y), raw, train.weight)[0]
        start = total / (len(train.X) if train.weight is None else train.weight.sum())
        if self.initialization == "ntk":  # whose leaves are not 0 at the start
            start = max(start, self.loss_curve_[0])
        warn_if_diverged(max(start, _LEAST_LOSS), self.loss_curve_[kept])

    def _partial_fit(self, X, y, sample_weight):
        """One epoch over these samples."""
        validate_parameters(self)  # scikit-learn does so in the first call only
        with fitted_whole(self) as fitted:
            first = not hasattr(fitted, "_state")
            train = fitted._check_samples(X, y, sample_weight, reset=first)
            if getattr(fitted, "encoder_", None) is not None and fitted.encoder_.has_categories:
                raise ValueError(
                    "partial_fit cannot learn categories from parts of the data: use fit, or "
                    "encode them"
                )
            train, _ = weigh_classes(fitted, train, [])
            encode_samples(fitted, train, [], n_classes=None, continuing=not first)
            if first:
                fitted._random_seed = draw_seed(fitted.random_state)
                fitted._start(train)
            fitted._train(train, None, 1)
        return self

    def _check_samples(self, X, y, sample_weight, *, reset):
        X, y = check_imputed_data(
            self, X, y, reset=reset, classification=self._classification, dtype=FLOATS
        )
        targets = self._encode_targets(y, reset=reset)
        weight = check_sample_weight(sample_weight, X)
        return Samples(X, targets, weight, None).without_zero_weights()

    def _new_state(self, train):
        """Weights as they are drawn, and no history."""
        self._state = initial_state(
            self,
            n_features=train.X.shape[1],
            n_outputs=self.n_outputs_,
            dtype=train.X.dtype,
            seed=self._random_seed,
            n_threads=count_threads(self.n_jobs),
        )
        self.loss_curve_ = []
        self.validation_loss_curve_ = []
        self.reachable_leaves_curve_ = []

    def _curvature(self):
        """Curvature of the loss of an output, by which the prior on leaves counts samples."""
        return 1.0

    def _native_params(self, n_epochs):
        params = {
            "n_trees": self.n_trees,
            "gamma": self.gamma,
            "routing": _ROUTINGS[self.routing],
            "scale": self.scale,
            "batch_norm": self.batch_norm,
            "fit_intercept": self.fit_intercept,
            "optimizer": _native.Optimizer[self.optimizer].value,
            "learning_rate": self.learning_rate,
            "batch_size": self.batch_size,
            "max_epochs": n_epochs,
            "l2_regularization": self.l2_regularization,
            "l2_leaf_reg": self.l2_leaf_reg * self._curvature(),
            "n_iter_no_change": self.n_iter_no_change,
            "tol": self.tol,
            "seed": self._random_seed,
        }
        return native_params(params)

    def _check_shape(self):
        """A warm start continues trees of the shape that it finds."""
        shape = self._state["split_weights"].shape
        width = n_encoded(self) + bool(self.fit_intercept)
        children = tree_shape(self)
        expected = (self.n_trees, len(children), width)
        if shape != expected:
            raise ValueError(
                f"the trees to continue have the shape {shape}, but n_trees={self.n_trees}, "
                f"depth={self.depth}, architecture={self.architecture!r} and "
                f"fit_intercept={self.fit_intercept} ask for {expected}"
            )
        if self.batch_norm and self._state["n_epochs"] and not self._rule["batch_norm"]:
            raise ValueError("batch_norm=True cannot continue trees trained with batch_norm=False: their moments are unknown")
        if not np.array_equal(children, self._state["children"]):
            raise ValueError("the trees to continue have another architecture")

    def _scale_targets(self, train):
        """Set the unit of targets that have none yet; for subclasses."""

    def _train(self, train, validation, n_epochs):
        self._check_shape()
        self._scale_targets(train)
        # Weights that were just drawn belong to nobody yet.
        state = copied(self._state) if self._state["n_batches"] else self._state
        best = {name: self._state[name].copy() for name in WEIGHTS} if validation else None
        offset, multiplier = self._offset_and_multiplier()
        with progress_listener(
            self.verbose, n_epochs, type(self).__name__, unit="epoch"
        ) as listener:
            losses, validation_losses, reached, self._judged = _native.train(
                (train.X, self._scaled(train.y), train.weight),
                validation and (validation.X, self._scaled(validation.y), validation.weight),
                state=state,
                best=best,
                past_losses=vars(self).get("_judged", self.validation_loss_curve_),  # not in older files
                loss=(self._loss, 0.0),
                offset=offset,
                multiplier=multiplier,
                params=self._native_params(n_epochs),
                listener=listener,
                n_threads=count_threads(self.n_jobs),
            )
        if best:
            state = with_best(state, best)
        self._check_finite(state)
        self._state = state
        self._rule = {name: getattr(self, name) for name in self._RULE}
        self.n_iter_ = state["n_epochs"]
        self.loss_curve_ = [*self.loss_curve_, *losses]
        self.validation_loss_curve_ = [*self.validation_loss_curve_, *validation_losses]
        self.reachable_leaves_curve_ = [*self.reachable_leaves_curve_, *reached]

    def _check_finite(self, state):
        """Refuse weights with which some prediction, a mean of leaves a tree, would overflow."""
        leaves = np.abs(state["leaf_weights"].astype(np.float64)).max(axis=1).sum(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.abs(self.baseline_) + np.abs(self.output_scale_) * leaves
        finite = np.all(largest <= np.finfo(state["leaf_weights"].dtype).max) and all(
            np.all(np.isfinite(state[name]))
            for name in ("split_weights", "running_mean", "running_variance")
        )
        if not finite:
            raise ValueError(
                "training diverged: weights are not finite after the last epoch; learning_rate or "
                "the values of X or y are too large"
            )

    def _tree_factor(self):
        """Factor of the sum over the trees: 1 / sqrt(n_trees) in the theory's parametrisation, else 1."""
        return 1.0 / np.sqrt(self.n_trees) if self.initialization == "ntk" else 1.0

    def _shape(self):
        return {
            "routing": _ROUTINGS[self._rule["routing"]],
            "gamma": float(self._rule["gamma"]),
            "scale": float(self._rule["scale"]),
            "children": self._state["children"],
        }

    def _standardization(self):
        """Mean and variance of each feature, None without `batch_norm`; whether there is an intercept."""
        state, intercept = self._state, self._rule["fit_intercept"]
        if not self._rule["batch_norm"]:
            return None, None, intercept
        return state["running_mean"], state["running_variance"], intercept

    def _evaluated(self, function, X, *outputs):
        """A native function of samples on the trees, and of what their sum is scaled by."""
        check_fitted(self)
        X = check_soft_features(self, X)
        return function(
            X,
            self._state["split_weights"],
            self._state["leaf_weights"],
            self._shape(),
            self._standardization(),
            threads_for(self.n_jobs, X),
            *outputs,
        )

    def _raw_predict(self, X):
        """Raw scores, (n_samples, n_outputs) float64."""
        check_fitted(self)
        return check_predictions(self._evaluated(_native.predict, X, self.baseline_, self.output_scale_))

    def reachable_leaves(self, X: ArrayLike) -> NDArray[np.int32]:
        """Count the leaves of each tree that a sample reaches with a probability above 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        counts : array of shape (n_samples, n_trees), int32
            Between 1, as in a hard tree, and the number of leaves, which every sample reaches with
            ``routing="logistic"``.
        """
        return self._evaluated(_native.reachable_leaves, X)

    @property
    def split_weights_(self) -> NDArray[np.floating]:
        """Weights of the splits, (n_trees, n_splits, n_features), breadth-first."""
        return self._fitted_state("split_weights")[:, :, : n_encoded(self)]

    @property
    def split_intercepts_(self) -> NDArray[np.floating]:
        """Intercepts of the splits, (n_trees, n_splits)."""
        splits = self._fitted_state("split_weights")
        return splits[:, :, -1] if self._rule["fit_intercept"] else np.zeros(splits.shape[:2])

    @property
    def leaf_weights_(self) -> NDArray[np.floating]:
        """Leaf values, (n_trees, n_splits + 1, n_outputs), before `output_scale_`."""
        return self._fitted_state("leaf_weights")

    @property
    def children_(self) -> NDArray[np.int32]:
        """Left and right child of each split, (n_splits, 2): splits, and leaves after them."""
        return self._fitted_state("children")

    @property
    def feature_means_(self) -> NDArray[np.floating]:
        """Running means of the features, (n_features,), that `batch_norm` subtracts."""
        return self._fitted_state("running_mean")

    @property
    def feature_variances_(self) -> NDArray[np.floating]:
        """Running variances of the features, (n_features,), by whose roots `batch_norm` divides; ones without it."""
        variances = self._fitted_state("running_variance")
        return variances if self._rule["batch_norm"] else np.ones_like(variances)

    def _fitted_state(self, name):
        if "_state" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted: it has no {name}")
        return self._state[name]
