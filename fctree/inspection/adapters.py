"""Estimators as models of the warm-start protocol.

Training can be continued if it changes the same function: boosting adds trees, gradient methods
change weights. Averages of independent trees (forests, bagging) would only average old and new
ones, and raise an error; so do models that cannot be trained step by step.
"""

import copy
import warnings
from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

from fctree._native.core import Patience
from fctree._tables.columns import read_column
from fctree._tables.estimators import TakesTables, wanted_categories
from fctree._tables.frames import raw_columns, table_of, taken, with_numbers, without_mask
from fctree._tables.numbers import fill_numbers
from fctree._training.boosted import BaseBoosting
from fctree._training.class_weights import class_weights
from fctree._training.target_units import comparing_units
from fctree.inspection.boosting import MaskedBoosting, is_boosting, names_categories
from fctree.inspection.kernel_flow import TreeKernelFlow
from fctree.inspection.masked_outputs import MaskedModels
from fctree.inspection.scores import mean_loss
from fctree.inspection.warm_start import RoundByRound, WarmStartModel
from fctree.kernel_ridge import TreeNTKRegressor

_DEFAULT_PATIENCE = 10


class CannotContinue(ValueError):
    """The training of this estimator cannot be continued on changed data."""


# Parameters whose values may be names of columns.
_NAMING = ("categorical_features", "interaction_cst", "monotonic_cst")


def by_position(estimator, names):
    """The estimator with the positions of columns for their names, which arrays don't have."""
    if names is None or not isinstance(estimator, BaseEstimator) or isinstance(estimator, type):
        return estimator
    place = {name: j for j, name in enumerate(names)}

    def placed(value):
        if isinstance(value, str):
            return place.get(value, value)
        if isinstance(value, dict):
            return [value.get(name, 0) for name in names] if value.keys() <= place.keys() else value
        if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            return [placed(member) for member in value]
        return value

    parameters = estimator.get_params(deep=False)
    given = {name: parameters[name] for name in _NAMING if name in parameters}
    changed = {name: placed(value) for name, value in given.items() if not isinstance(value, str)}
    return clone(estimator).set_params(**changed)


def numbered_categories(estimator, X, names):
    """The estimator and the table with numbers for text and categories, of which the estimator is told; both as they are
    where there are none, or the estimator does not take them."""
    X = without_mask(X)
    table = table_of(X)
    if table is None or not isinstance(estimator, TakesTables):
        return estimator, X
    wanted = wanted_categories(estimator, names, table.shape[1])
    numbers = {}
    for j, raw in enumerate(raw_columns(table)):
        name = j if names is None else names[j]
        column = None if wanted[j] is False else read_column(raw, name, None)
        if column is not None and column.values is not None:
            numbers[j] = np.empty(len(table))
            fill_numbers(numbers[j], column, None, name)
    if numbers:
        chosen = [j for j, named in enumerate(wanted) if named or j in numbers]
        estimator = clone(estimator).set_params(categorical_features=chosen)
        table = table.astype(object) if isinstance(table, np.ndarray) else taken(table, np.arange(len(table)))
        X = with_numbers(table, numbers)
    return estimator, X


def classifies(estimator):
    """scikit-learn's `is_classifier`; for estimators without its tags, whether they predict probabilities."""
    return is_classifier(estimator) if hasattr(estimator, "__sklearn_tags__") else hasattr(estimator, "predict_proba")


def masked_models(estimator, min_iter, where, seed, *, continues):
    """Runner of the masks for an estimator or a model of the protocol; ``where`` is (n_jobs, Workers or
    None).

    Unless training ``continues``, any estimator will do. TypeError for any other object, ValueError for an
    estimator whose training cannot be continued on changed data.
    """
    n_jobs, workers = where
    if not isinstance(min_iter, Integral) or min_iter < 0:
        raise ValueError(f"min_iter must be an integer of at least 0, got {min_iter!r}")
    if isinstance(estimator, WarmStartModel):
        return MaskedModels(estimator, n_jobs, workers)
    if not all(hasattr(estimator, name) for name in ("get_params", "fit", "predict")) or isinstance(estimator, type):
        raise TypeError(
            "estimator must be a scikit-learn estimator or a WarmStartModel, got "
            f"{estimator!r}"
        )
    estimator = clone(estimator)
    parameters = estimator.get_params(deep=False)
    unseeded = [name for name, value in estimator.get_params(deep=True).items()
                if value is None and name.split("__")[-1] == "random_state"]
    if unseeded:  # its own first; equal members of an ensemble stay different
        estimator.set_params(**{name: seed + i for i, name in enumerate(sorted(unseeded, key=len))})
    if is_boosting(estimator):
        return MaskedBoosting(estimator, min_iter, n_jobs, workers)
    name = type(estimator).__name__
    if classifies(estimator) and not hasattr(estimator, "predict_proba"):
        raise ValueError(f"{name} has no predict_proba, which the scores need")
    try:
        model = _adapt(estimator, parameters, min_iter)
    except CannotContinue as error:
        if continues:
            raise CannotContinue(
                f'{error}. method="retrain" and method="dropout" take the estimator as it is: they continue no training'
            ) from None
        model = SingleFit(estimator)
    return MaskedModels(model, n_jobs, workers)


def _adapt(estimator, parameters, min_iter):
    if isinstance(estimator, TreeNTKRegressor):
        return TreeKernelFlow(estimator)
    name = type(estimator).__name__
    if "bootstrap" in parameters:  # forests and bagging, whoever wrote them
        raise CannotContinue(
            f"{name} averages independent trees: more of them do not continue its training. "
            "Use a boosting estimator or a network"
        )
    if isinstance(estimator, (HistGradientBoostingRegressor, HistGradientBoostingClassifier)):
        raise CannotContinue(
            f"{name} bins the data anew when it continues, which changes its earlier trees on "
            "changed data; use SymmetricBoosting* or GradientBoosting*"
        )
    if isinstance(estimator, TakesTables) and hasattr(estimator, "partial_fit") and names_categories(estimator):
        raise CannotContinue(f"{name} does not learn categories by partial_fit, an epoch at a time")
    if hasattr(estimator, "partial_fit"):
        return PartialFits(estimator, min_iter)
    if "warm_start" in parameters and "n_estimators" in parameters:
        return GrowingEnsemble(estimator, min_iter, "n_estimators")
    if isinstance(estimator, BaseBoosting):
        return BoostedRounds(estimator, min_iter, "max_iter")
    if "warm_start" in parameters and "max_iter" in parameters:
        if not type(estimator).__module__.startswith("sklearn.linear_model"):
            raise CannotContinue(
                f"whether max_iter of {name} counts the iterations of one fit or of all is not "
                "known. Wrap it as a fctree.inspection.WarmStartModel"
            )
        return WarmStartedFit(estimator)
    raise CannotContinue(
        f"{name} cannot continue training: it has neither partial_fit nor warm_start with "
        "n_estimators or max_iter. Wrap it as a fctree.inspection.WarmStartModel"
    )


def _predict(model, X):
    """Predictions or class probabilities."""
    if classifies(model.estimator):
        return model.fitted.predict_proba(X)
    return model.fitted.predict(X)


def _trained(method, train, **options):
    """The result of a method that trains; ValueError if there are weights and it takes none."""
    if train.sample_weight is not None:
        options["sample_weight"] = train.sample_weight
    try:
        return method(train.X, train.y, **options)
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        raise ValueError(f"{type(method.__self__).__name__} does not take sample_weight") from error


def _weights_of_classes(estimator, train):
    """The weight of each class by the estimator's `class_weight`, or None."""
    given = getattr(estimator, "class_weight", None)
    if train.classes is None or not (isinstance(given, dict) or given == "balanced"):
        return None
    return class_weights(given, train.classes, np.searchsorted(train.classes, train.y), train.sample_weight)


class SingleFit(WarmStartModel):
    """An estimator that is fitted as it is, once for each set of features."""

    n_iter_ = 1
    predict = _predict

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, train, validation):
        """Fit a clone on `train`; nothing is stopped by `validation`."""
        self.fitted = _trained(clone(self.estimator).fit, train)
        return self

    def continue_fit(self, train, validation):
        """Refuse: the estimator cannot continue."""
        raise CannotContinue(f"{type(self.estimator).__name__} cannot continue training")


class WarmStartedFit(SingleFit):
    """A linear model with `warm_start` and `max_iter`, the iterations of one fit. Its loss is convex: from wherever it starts,
    it ends at the same model, by its own `tol`. Stopped before by a validation part it would be that of its solver, which may
    be slow, and forgets between fits what it has learned of curvatures.
    """

    def fit(self, train, validation):
        """Fit a clone on `train`, as long as its own parameters say."""
        super().fit(train, validation)
        return self._counted()

    def continue_fit(self, train, validation):
        """Fit again, from the present coefficients."""
        _trained(self.fitted.set_params(warm_start=True).fit, train)
        return self._counted()

    def _counted(self):
        self.n_iter_ = max(1, int(np.max(self.fitted.n_iter_)))
        self.stopped_early_ = self.n_iter_ < self.estimator.max_iter
        return self


class EstimatorRounds(RoundByRound):
    """Base of the rounds of scikit-learn estimators; their own parameters stop them."""

    predict = _predict

    def __init__(self, estimator, max_iter, min_iter):
        patience = getattr(estimator, "n_iter_no_change", None) or _DEFAULT_PATIENCE
        tol = getattr(estimator, "tol", None) or 0.0
        super().__init__(max_iter, patience, tol, min_iter)
        self.tol = tol
        if getattr(estimator, "early_stopping", False):
            estimator.set_params(early_stopping=False)  # done here, by the validation part
        self.estimator = estimator
        self.fitted = None

    def start(self, train):
        """An untrained clone; `tol` is relative to the variance of the targets, if that is below 1."""
        self.fitted = clone(self.estimator)
        self.of_class = _weights_of_classes(self.fitted, train)
        if train.classes is None:
            y = np.asarray(train.y, dtype=np.float64)
            of_outputs, square = comparing_units(y.reshape(len(y), -1), train.sample_weight)
            self.unit = of_outputs * square
            variance = np.mean(np.var(y.reshape(len(y), -1) / self.unit, axis=0))
            self.stopping = replace(self.stopping, tol=self.tol * min(variance, 1.0 / square / square))
        seed = self.fitted.get_params(deep=False).get("random_state")
        if isinstance(seed, Integral):
            # A generator, whose state goes on: a seed would repeat its draws in each round.
            self.fitted.set_params(random_state=np.random.RandomState(seed))

    def loss(self, samples):
        """As of any `RoundByRound`, of classes by their weights, of targets in the units in which outputs are compared."""
        if self.of_class is not None:
            weight = self.of_class[np.searchsorted(samples.classes, samples.y)]
            samples = replace(samples, sample_weight=weight * (1.0 if samples.sample_weight is None else samples.sample_weight))
        if samples.classes is not None:
            return super().loss(samples)
        return mean_loss(self.predict(samples.X) / self.unit, replace(samples, y=samples.y / self.unit))

    def _call(self, method, train, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # rounds are ended here
            _trained(method, train, **options)


class PartialFits(EstimatorRounds):
    """A round is a call of `partial_fit`: an epoch of scikit-learn's networks, of stochastic gradient
    descent, and of soft trees."""

    def __init__(self, estimator, min_iter):
        parameters = estimator.get_params(deep=False)
        if isinstance(estimator, (MLPClassifier, MLPRegressor)) and estimator.solver == "lbfgs":
            raise CannotContinue(
                "solver='lbfgs' cannot continue training; use solver='adam' or 'sgd'"
            )
        rounds = parameters.get("max_iter", parameters.get("max_epochs"))
        if rounds is None:
            raise CannotContinue(
                f"{type(estimator).__name__} has partial_fit, but no max_iter: whether its calls "
                "are epochs of one training is not known. Wrap it as a WarmStartModel"
            )
        super().__init__(estimator, rounds, min_iter)

    def start(self, train):
        """An untrained clone; `partial_fit` cannot know balanced weights of classes, which all samples tell."""
        super().start(train)
        if self.of_class is not None and self.fitted.class_weight == "balanced":
            self.fitted.set_params(class_weight=dict(zip(train.classes.tolist(), self.of_class.tolist(), strict=True)))

    def train_round(self, train):
        """One epoch."""
        classes = {} if train.classes is None else {"classes": train.classes}
        self._call(self.fitted.partial_fit, train, **classes)


class GrowingEnsemble(EstimatorRounds):
    """A round is one more estimator of a sequence with `warm_start`, such as a tree of gradient boosting;
    ``size`` is the parameter for the number of members."""

    def __init__(self, estimator, min_iter, size):
        stops = getattr(estimator, "early_stopping", False)
        super().__init__(estimator, getattr(estimator, size), min_iter)
        self.size = size
        estimator.set_params(warm_start=True)
        patience = getattr(estimator, "n_iter_no_change", None)
        if not stops and size == "n_estimators" and patience is not None:
            estimator.set_params(n_iter_no_change=None)

    def start(self, train):
        """An empty ensemble."""
        super().start(train)
        self.fitted.set_params(**{self.size: 0})

    def train_round(self, train):
        """One more member."""
        self.fitted.set_params(**{self.size: getattr(self.fitted, self.size) + 1})
        self._call(self.fitted.fit, train)


class BoostedRounds(GrowingEnsemble):
    """The rounds of a booster of fctree in one `fit`, which encodes and bins its table once: the same models as those of
    one more round at a time."""

    def _train(self, train, validation, best, best_state):
        stopping, fitted = self.stopping, self.fitted
        patience = Patience(stopping.n_iter_no_change, stopping.tol)
        patience.start(best)
        before = getattr(fitted, self.size)
        kept = None if best_state is None else before
        latest, n_rounds = np.inf, 0

        def judge(model, X, y, sample_weight=None):
            nonlocal latest
            growing = copy.copy(self)
            growing.fitted = model
            latest = growing.loss(validation)
            return 0.0  # not what stops the fit

        def stops(n_so_far, scores):
            nonlocal kept, n_rounds
            n_rounds += 1
            if patience.take(latest):
                kept = before + n_rounds
            return patience.is_over and n_rounds >= stopping.min_iter

        fitted.set_params(**{self.size: before + stopping.max_iter})
        held = (validation.X, validation.y, validation.sample_weight)
        self._call(fitted.fit, train, eval_set=held, eval_metric=judge, callbacks=stops)
        self._check_kept(kept)
        fitted._keep_first(kept)
        fitted.set_params(**{self.size: kept})
        self.n_iter_, self.stopped_early_ = n_rounds, patience.is_over
        return self
