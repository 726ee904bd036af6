"""Base class of forests of oblique trees."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fctree._native import ensembles as _native
from fctree._native_input import check_count, native_params
from fctree._parameters import set_parameters
from fctree._sklearn import Interval, RealNotInt, StrOptions, fit_context
from fctree._tables.encoder import IndicatorLimits
from fctree._tables.estimators import TABLE_CONSTRAINTS, TakesTables, encode_training, feature_groups, rounds_features
from fctree._threads import count_threads, threads_for
from fctree._training.class_weights import weighted_by_class
from fctree._training.progress import ProgressBar
from fctree._training.weight_scale import rescale_small_weights
from fctree._typing import ArrayLike, RandomState, Self
from fctree._validation import (
    check_features,
    check_fitted,
    check_imputed_data,
    check_predictions,
    check_sample_weight,
    check_total,
    count_samples,
    draw_seed,
    encode_labels,
    in_parts,
    fitted_whole,
)
from fctree._warnings import warn
from fctree.ensembles.forest_kinds import (
    ANY_GAIN,
    CLEAR_GAIN,
    CLEAR_MARGIN,
    N_COMPARED,
    RESIDUAL,
    SHARE_OF_STEPS,
    STEPS,
    ComparedTrees,
    choose_kinds,
    fewest_by_weight,
    kinds_of,
    most_step_leaves,
    step_depth,
)
from fctree.ensembles.forest_samples import ForestSamples
from fctree.ensembles.members import MEMBER_CONSTRAINTS, HasObliqueTrees
from fctree.ensembles.trees import ObliqueTrees
from fctree.oblique import CurvatureTreeRegressor
from fctree.oblique.parameters import STEP_TREE, native_tree_params

_MOST_JUDGED = 20_000  # samples by which kinds of trees and the exponent of classes are chosen

_SHOWN = 16  # trees of each thread between two steps of a progress bar

_COUNTS = {"sqrt": np.sqrt, "log2": np.log2}


class BaseCurvatureForest(HasObliqueTrees, TakesTables, BaseEstimator):
    """A forest of oblique trees; subclasses define the targets and the predictions."""

    _parameter_constraints = {
        **MEMBER_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions(set(_COUNTS)),
            None,
        ],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean", callable],
        "step_trees": ["boolean"],
        **TABLE_CONSTRAINTS,
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: int | float | None = None,
        max_features: int | float | str | None = 1.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        max_depth: int | None = None,
        alpha: float | str | None = None,
        min_samples_leaf: int | float | None = None,
        max_coef: int | None = None,
        extrapolation: float | None = 0.0,
        step_trees: bool = True,
        tree: Any = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())

    # A subclass has _encode_targets(y, reset=), y as float64 (n_samples, n_outputs), and
    # _impurity_scale(), _units(targets, weight) and _learn_out_of_bag(samples, left_out);
    # _decode_scores(scores) gives predictions that score() takes.
    _classification = False
    # A mean of many trees takes larger trees than one tree alone, each with less care.
    _default_tree = CurvatureTreeRegressor(
        max_depth=8,
        min_samples_leaf=10,
        n_screened=4,
        max_thresholds=8,
        split_margin=0.0,
        feature_concatenation=False,
    )
    _indicator_limits = IndicatorLimits(instead=12)

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN for missing values; or a table with categories (`categorical_features`).
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for the regressor
            Targets, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; samples of weight 0 are ignored. If the mean weight is below about 0.7,
            all weights are multiplied by the power of two that brings it closest to 1, so that penalties
            keep their strength.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For infinity in `X`, NaN or infinity in `y`, inconsistent shapes, negative or all-zero weights,
            fewer `n_estimators` than a warm start has trees, more `max_samples` than samples, or
            `oob_score` if every tree uses all samples.
        """
        with fitted_whole(self) as fitted:
            continuing = fitted.warm_start and hasattr(fitted, "trees_")
            samples = fitted._all_samples(X, y, sample_weight, reset=not continuing)
            counted = fitted._counted(*samples)
            if not continuing:
                fitted._random_seed = draw_seed(fitted.random_state)
            fitted._grow(counted, continuing=continuing)
            left_out = fitted._use_out_of_bag(counted)
            for name in ("oob_score_", "oob_prediction_", "oob_decision_function_"):  # of an earlier fit
                vars(fitted).pop(name, None)
            if fitted.oob_score:
                by_class = getattr(fitted, "class_weight", None) is not None
                judging = check_sample_weight(sample_weight, samples[0]) if by_class else samples[2]
                fitted._score_out_of_bag(left_out, *samples, judging)
        return self

    def _counted(self, X, targets, weight):
        """The `ForestSamples` of a fit: those of positive weight."""
        if weight is not None and not np.all(weight > 0.0):
            counted = weight > 0.0
            X, targets, weight = X[counted], targets[counted], weight[counted]
        return ForestSamples(X, targets, weight, self._units(targets, weight))

    def _all_samples(self, X, y, sample_weight, *, reset):
        """All samples; those of weight 0 have no part in encodings."""
        X, y = check_imputed_data(self, X, y, reset=reset, classification=self._classification)
        if isinstance(self.max_samples, Integral) and self.max_samples > len(X):
            raise ValueError(f"`max_samples` must be <= n_samples={len(X)} but got value {self.max_samples}")
        weight = check_sample_weight(sample_weight, X)
        targets = self._encode_targets(y, reset=reset)
        rows, n_classes = targets.T, None
        if self._classification:
            labels, n_classes = encode_labels(y, self.classes_), self.n_classes_
            weight, rows = weighted_by_class(self, labels, weight), labels[np.newaxis]
        weight = rescale_small_weights(weight)
        X = encode_training(self, X, rows, weight, n_classes=n_classes, continuing=not reset)
        return X, targets, weight

    def _grow(self, samples, *, continuing):
        done = self.trees_.n_trees if continuing else 0
        check_total("n_estimators", self.n_estimators, done, "trees")
        if continuing and self.n_estimators == done:
            return
        with ProgressBar(self.verbose, total=self.n_estimators - done, desc=type(self).__name__, unit="tree") as bar:
            compared = None if continuing else self._compare_kinds(samples)
            trees = self._grow_range(samples, range(done, self.n_estimators), compared, bar)
        self.trees_ = ObliqueTrees.concatenate([self.trees_, trees]) if done else trees

    def _compare_kinds(self, samples):
        """Set `step_share_`, `split_margin_` and `residual_trees_`; the trees that they were found by, or None."""
        self.step_share_, self.split_margin_ = 0.0, float(self._tree_settings()["split_margin"])
        self.residual_trees_ = False
        kinds = [ANY_GAIN]
        if self.step_trees:
            kinds.append(STEPS)
        if self.tree is None:
            kinds.append(CLEAR_GAIN)
        if len(kinds) == 1 or not self._leaves_out(len(samples)):
            return None
        compared = self._grow_compared(samples, kinds)
        if self.tree is None and compared.take_all(len(samples), _native.count_varying(samples.X, samples.weight)):
            residual = self._grow_compared(samples, [RESIDUAL])
            compared = ComparedTrees(ObliqueTrees.concatenate([compared.trees, residual.trees]), [*kinds, RESIDUAL])
        numbers = [*range(N_COMPARED)] * len(compared.kinds)
        n_halves = 2 * len(compared.kinds)
        errors = self._predict_out_of_bag(samples, compared.trees, numbers, few=True, n_groups=n_halves)
        errors -= samples.targets
        errors /= samples.units.of_outputs
        of_kinds = zip(compared.kinds, errors.reshape(-1, 2, *samples.targets.shape), strict=True)
        curved, self.step_share_ = choose_kinds(dict(of_kinds), samples.weight)
        if curved != ANY_GAIN:
            self.split_margin_ = CLEAR_MARGIN
        self.residual_trees_ = curved == RESIDUAL
        return compared

    def _grow_compared(self, samples, kinds):
        numbers = [*range(N_COMPARED)] * len(kinds)
        return ComparedTrees(self._grow_trees(samples, numbers, np.repeat(kinds, N_COMPARED).tolist()), kinds)

    def _curved_kind(self):
        """Kind of the curvature trees. Models in files of before do not know of all."""
        if self.tree is not None:
            return ANY_GAIN
        if getattr(self, "residual_trees_", False):
            return RESIDUAL
        return CLEAR_GAIN if getattr(self, "split_margin_", 0.0) == CLEAR_MARGIN else ANY_GAIN

    def _grow_range(self, samples, numbers, compared, bar):
        """Grow the trees of a range of numbers, which depend only on these and what `_compare_kinds` sets; the first of
        them are among those ``compared``."""
        kinds = kinds_of(numbers, self.step_share_ if self.step_trees else 0.0, self._curved_kind())
        n_known = 0 if compared is None else len(range(numbers[0], min(numbers[-1] + 1, N_COMPARED)))
        parts = [compared.take(numbers[:n_known], kinds[:n_known])] if n_known else []
        compared = None  # in wide tables their trees are large
        bar.update(n_known)
        together = len(numbers) if bar.disable else _SHOWN * count_threads(self.n_jobs)
        for start in range(n_known, len(numbers), together):
            part = slice(start, start + together)
            parts.append(self._grow_trees(samples, numbers[part], kinds[part]))
            bar.update(len(numbers[part]))
        return ObliqueTrees.concatenate(parts) if len(parts) > 1 else parts[0]

    def _grow_trees(self, samples, numbers, kinds):
        """The trees with these numbers, of these kinds."""
        X, weight, units = samples.X, samples.weight, samples.units
        n_outputs = samples.targets.shape[1]
        settings = self._tree_settings()
        n_features = _native.count_varying(X, weight) if settings["fit_intercept"] else X.shape[1]
        fewest = ceil(SHARE_OF_STEPS * count_samples(settings["min_samples_leaf"], len(X)))
        steps = {**STEP_TREE, "max_depth": settings["max_depth"], "min_samples_leaf": fewest}
        if self.max_depth is None and self.tree is None:
            steps["max_depth"] = step_depth(*X.shape, n_outputs, n_features)
            steps["max_leaves"] = most_step_leaves(X.shape[1], n_outputs)
        if self.min_samples_leaf is None and self.tree is None:
            settings["min_samples_leaf"] = fewest_by_weight(settings["min_samples_leaf"], weight)
        of_kinds = {ANY_GAIN: settings, STEPS: steps, CLEAR_GAIN: {**settings, "split_margin": CLEAR_MARGIN}}
        params = [
            native_tree_params(
                of_kinds[kind], len(X), impurity_scale=self._impurity_scale(), target_unit=units.of_single
            )
            for kind in sorted(of_kinds)
        ]
        for of_kind in params:
            of_kind["node_features"]["max_features"] = self._features_of_a_node(n_features)
        arrays = _native.grow_forest(
            X,
            samples.in_units,
            weight,
            trees=list(zip(numbers, kinds, strict=True)),
            kinds=[*params, params[CLEAR_GAIN]],  # RESIDUAL has the same
            params=self._native_params(len(X), units),
            n_threads=count_threads(self.n_jobs),
            groups=feature_groups(self),
        )
        return ObliqueTrees(**units.restored(arrays))

    def _drawn_fraction(self, n_samples):
        fraction = 1.0 if self.max_samples is None else self.max_samples
        return min(check_count("max_samples", fraction, 1), n_samples) / n_samples if isinstance(fraction, Integral) else fraction

    def _native_params(self, n_samples, units):
        params = {
            "max_samples": self._drawn_fraction(n_samples),
            "bootstrap": self.bootstrap,
            "extrapolation": self._native_extrapolation(),
            "target_unit": units.of_single,
            "rounds_features": rounds_features(self),
            "seed": self._random_seed,
        }
        return native_params(params)

    def _leaves_out(self, n_samples):
        """Whether trees leave samples out."""
        return self.bootstrap or self._drawn_fraction(n_samples) < 1.0

    def _features_of_a_node(self, n_features):
        if self.max_features is None:
            return n_features
        if isinstance(self.max_features, str):
            return int(_COUNTS[self.max_features](n_features))  # of one feature log2 is 0, for which the core takes one
        if isinstance(self.max_features, Integral):
            return min(check_count("max_features", self.max_features, 1), n_features)
        return int(np.ceil(self.max_features * n_features))

    def _use_out_of_bag(self, samples):
        """Learn from the samples that trees leave out; returns their scores, NaN where no tree leaves a sample out."""
        all_of_it = samples, self.trees_, range(self.trees_.n_trees)
        judges = self._classification and len(samples) > _MOST_JUDGED
        left_out = self._predict_out_of_bag(*all_of_it, few=judges)[0]
        self._learn_out_of_bag(samples, left_out)
        return self._predict_out_of_bag(*all_of_it)[0] if judges and self.oob_score else left_out

    def _score_out_of_bag(self, left_out, X, targets, weight, judging):
        """Set ``oob_score_``, by the weights ``judging``, and the predictions: of samples of ``weight`` 0 by all trees, as
        none has seen them."""
        judged = ~np.isnan(left_out[:, 0])
        if not np.any(judged):
            raise ValueError(
                "oob_score=True needs samples that some trees leave out: bootstrap=True or "
                "max_samples below 1, and more than one distinct sample"
            )
        if not np.all(judged):
            warn(
                f"{np.count_nonzero(~judged)} of {len(judged)} samples have no out-of-bag prediction, as all trees were grown "
                "on them, and do not count in oob_score_: more trees (n_estimators) leave each sample out",
            )
        scores = left_out
        if len(left_out) < len(X):
            scores = np.empty((len(X), left_out.shape[1]))
            scores[weight > 0.0] = left_out
            scores[weight == 0.0] = self._mean_of_trees(X[weight == 0.0])
        self._keep_out_of_bag(scores, targets, judging)

    def _predict_out_of_bag(self, samples, trees, numbers, *, few=False, n_groups=1):
        """The mean of each group's trees without the sample, (n_groups, n_samples, n_outputs); NaN if all have it, or if it
        is not among the ``few`` that decisions are made by."""
        sums, counts = _native.sum_out_of_bag(
            samples.X,
            samples.in_units,
            samples.weight,
            trees,
            numbers,
            n_groups=n_groups,
            share=min(1.0, _MOST_JUDGED / len(samples)) if few else 1.0,
            params=self._native_params(len(samples), samples.units),
            n_threads=count_threads(self.n_jobs),
        )
        sums /= np.where(counts > 0, counts, np.nan)[..., np.newaxis]
        return sums

    def _score_by(self, score, truth, found, weight):
        """Score predictions by the function that is `oob_score`, or by ``score``, which takes weights."""
        if callable(self.oob_score):
            return self.oob_score(truth, found)
        return float(score(truth, found, sample_weight=weight))

    @in_parts
    def _raw_predict(self, X):
        """The mean of the trees' scores, (n_samples, n_outputs)."""
        check_fitted(self)
        return self._mean_of_trees(check_features(self, X))

    def _mean_of_trees(self, X):
        """The mean of the trees' scores of encoded samples."""
        scores = np.zeros((len(X), self.trees_.n_outputs))
        self.trees_.add_to(X, scores, n_threads=threads_for(self.n_jobs, X))
        scores /= self.trees_.n_trees
        return check_predictions(scores)
