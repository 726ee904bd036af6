"""The frame of a boosted fit: what is checked, held out and drawn before trees are grown."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator

from fctree._sklearn import Interval, fit_context
from fctree._tables.encoder import IndicatorLimits
from fctree._tables.estimators import TABLE_CONSTRAINTS, TakesTables, encode_samples
from fctree._threads import count_threads, threads_for
from fctree._training.parameter_ranges import TRAINING_CONSTRAINTS
from fctree._training.losses import check_learnable, choose_loss, leaves_are_sums
from fctree._training.class_weights import weigh_classes
from fctree._training.custom_loss import CustomLoss
from fctree._training.divergence import warn_if_diverged
from fctree._training.eval_metrics import named_scorers
from fctree._training.round_scores import joined_results, joined_scores
from fctree._training.round_watch import RoundWatch, check_callbacks
from fctree._training.samples import (
    Samples,
    check_init_score,
    chosen_eval_sets,
    validation_samples,
)
from fctree._typing import ArrayLike, Callbacks, EvalMetric, EvalSets, Self
from fctree._validation import (
    check_fitted,
    check_predictions,
    check_sample_weight,
    check_total,
    draw_seed,
    fitted_whole,
)
from fctree._warnings import warn

ROUND_CONSTRAINTS = {
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "subsample": [Interval(Real, 0, 1, closed="right")],
    "colsample": [Interval(Real, 0, 1, closed="right")],
    "l2_leaf_reg": [Interval(Real, 0, None, closed="left")],
    **TRAINING_CONSTRAINTS,
    **TABLE_CONSTRAINTS,
}

# A rising training loss is worth a warning only above this spread of the targets and with this many samples; below, it
# may be rounding, or a quantile of a few samples.
_LEAST_SPREAD = 1e-6  # of targets, relative to the largest
_FEWEST_SAMPLES = 50


def raw_scores(trees, baseline, X, n_threads):
    """Raw scores of boosted trees for validated features, (n_samples, n_outputs)."""
    scores, finite = trees._scores_from(baseline, X, n_threads)
    return scores if finite else check_predictions(scores)


class BaseBoosting(TakesTables, BaseEstimator):
    """Boosted trees of any kind.

    A family has _check_data, what validates its X and y, _check_rows, the same for predictions,
    and _boost(train, evals, continuing=, watch=), which grows trees_; an estimator has
    _encode_targets(y, reset=), y as float64 (n_targets, n_samples).
    """

    _classification = False
    _indicator_limits = IndicatorLimits(instead=12)
    _of_rounds: tuple[str, ...] = ()  # fitted arrays beside trees_ with an entry for each round

    @fit_context
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
        init_score: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        eval_metric: EvalMetric = None,
        callbacks: Callbacks = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, NaN for missing values; or a table with categories (`categorical_features`). Symmetric
            trees read float32 and float64 arrays of any memory layout without a copy and allow infinities;
            oblique trees read C-contiguous ones without missing values without a copy.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for the regressor
            Targets in the domain of the loss, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; samples of weight 0 are ignored. If the mean weight is below about 0.7,
            all weights are multiplied by the power of two that brings it closest to 1, so that penalties
            keep their strength.
        eval_set : tuple (X, y[, sample_weight[, init_score]]), or list of them, default=None
            Samples for `validation_score_` and early stopping, which uses the first set. Each set needs an
            `init_score` if the training samples have one. In symmetric trees, missing values of a feature
            without missing values in training go with the majority at each split.
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to start from instead of the best constant; predictions do not include them. For losses
            with a log link their level does not matter, because the constant that fits best in addition to
            them (`baseline_`) is added.
        X_val : array-like or data frame of shape (n_val, n_features), default=None
            Features of the evaluation set, as in `HistGradientBoosting*`; cannot be combined with
            `eval_set`.
        y_val : array-like of shape (n_val,) or (n_val, n_outputs), default=None
            Targets or class labels of `X_val`, required with it.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of `X_val`.
        eval_metric : str, callable, or list or dict of them, default=None
            Names of scikit-learn's scorers (``"roc_auc"``, ``"neg_mean_absolute_error"``) or callables
            ``metric(estimator, X, y)``, greater is better; a dict gives them names. They are computed after
            each round on each evaluation set (or the held-out samples), with its weights as
            ``sample_weight=`` if it has any. Early stopping then uses the first metric on the first set
            instead of the loss.
        callbacks : callable or list of callable, default=None
            Functions ``callback(round, scores)`` called after each round with the number of rounds so far
            and the losses, such as ``{"training": {"loss": 0.31}, "valid_0": {"loss": 0.35}}``. If one
            returns True, the fit stops and keeps the rounds grown so far (with `early_stopping`, up to the
            best one). `fctree.callbacks.max_time` limits the time.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For infinity in `X` (oblique trees), inconsistent shapes, negative weights, targets outside the
            domain of the loss, labels in `eval_set` that do not occur in `y`, or a warm start with fewer
            rounds or another link function than the last fit.
        TypeError
            For callbacks that are not callable or return anything but True, False or None. Other errors of
            a callback are propagated and leave the estimator unchanged.

        Warns
        -----
        ConvergenceWarning
            If the final training loss is clearly above that of the initial constant.
        """
        eval_sets = chosen_eval_sets(eval_set, X_val, y_val, sample_weight_val)
        watch = RoundWatch(check_callbacks(callbacks), named_scorers(eval_metric))
        watch.share_time(self._models_of_fit())
        if callable(self.loss) and self.early_stopping and not watch.scorers:
            raise ValueError(
                "early_stopping=True needs an eval_metric where the loss is a function, which gives "
                "no value of the loss"
            )
        with fitted_whole(self) as fitted:
            continuing = fitted.warm_start and hasattr(fitted, "trees_")
            coded, y = fitted._check_data(X, y, reset=not continuing, classification=fitted._classification)
            targets = fitted._encode_targets(y, reset=not continuing)
            weight = check_sample_weight(sample_weight, coded)
            initial = check_init_score(init_score, len(coded), fitted.n_outputs_)
            train = Samples(coded, targets, weight, initial).without_zero_weights()
            if not continuing:
                fitted._random_seed = draw_seed(fitted.random_state)
            train, evals = validation_samples(fitted, X, train, eval_sets, watch)
            if not fitted._classification:
                check_learnable(fitted.loss, train.y, " among the samples of positive weight that are not held out")
            train, evals = weigh_classes(fitted, train, evals)
            n_classes = fitted.n_classes_ if fitted._classification else None
            robust = not leaves_are_sums(fitted._choose_loss())
            encode_samples(
                fitted, train, evals, n_classes=n_classes, continuing=continuing, robust=robust
            )
            fitted._boost_watched(train, evals, continuing, watch)
            from_constant = not continuing and initial is None
            fitted._warn_of_rounds(train.y.min(axis=1), train.y.max(axis=1), train.n_samples, from_constant)
            fitted._after_fit(train)
        return self

    def _warn_of_rounds(self, least, largest, n_samples, from_constant=True):
        """Warn of no rounds, and of a loss that rose `from_constant`; with the least and the largest target of each output."""
        if self.n_iter_ == 0 and largest.max() > least.min():
            warn(
                "early stopping kept no round: the validation loss was least before the first, "
                "so that predictions are the constant baseline_; a smaller learning_rate, or "
                "more validation samples, may help",
            )
        seen = largest - least > _LEAST_SPREAD * np.maximum(np.abs(least), np.abs(largest))
        if from_constant and n_samples >= _FEWEST_SAMPLES and np.any(seen):
            losses = -self.train_score_
            warn_if_diverged(losses[0], losses[self.n_iter_])

    def _boost_watched(self, train, evals, continuing, watch):
        done = self.trees_.n_trees if continuing else 0
        before = getattr(self, "evals_result_", {}) if continuing else {}
        self._boost(train, evals, continuing=continuing, watch=watch)
        now = watch.results(self, done)
        self.evals_result_ = joined_results(before, now, done, len(self.train_score_) - 1 - done)

    def _models_of_fit(self):
        """About how many models' time a fit takes: posterior samples and intervals cost one to two each."""
        calibrated = getattr(self, "calibration_fraction", None) is not None
        return 1 + 2 * (getattr(self, "posterior_samples", 0) + calibrated)

    def _after_fit(self, train):
        """Set further fitted attributes; for subclasses."""

    def _rounds_done(self, continuing):
        """The number of rounds of the model to continue; ValueError if `max_iter` is below it."""
        done = self.trees_.n_trees if continuing else 0
        check_total("max_iter", self.max_iter, done, "rounds")
        return done

    def _judged_so_far(self, continuing):
        """The losses that early stopping went by in the fit that this one continues, before the first round and after each."""
        return vars(self).get("_judged", ()) if continuing else ()  # not in files of 0.1

    def _continued(self, trees, of_rounds, scores):
        """The rounds so far and those of a fit that continues them: trees, the arrays of `_of_rounds`, and the
        scores of training and validation."""
        before, grown = self.trees_.n_trees, len(scores[0]) - 1
        of_rounds = [
            np.concatenate([getattr(self, name), now])
            for name, now in zip(self._of_rounds, of_rounds, strict=True)
        ]
        scores = [
            joined_scores(getattr(self, name), now, before, grown)
            for name, now in zip(("train_score_", "validation_score_"), scores, strict=True)
        ]
        return type(trees).concatenate([self.trees_, trees]), of_rounds, scores

    def _keep_first(self, n_rounds):
        """Drop later rounds."""
        self.trees_ = self.trees_.first(n_rounds)
        self.n_iter_ = n_rounds
        for name in self._of_rounds:
            setattr(self, name, getattr(self, name)[:n_rounds])

    def _staged_raw_predict(self, X):
        """Raw scores of the first 1, 2, .. trees; the same array each time."""
        check_fitted(self)
        X = self._check_rows(X)
        scores = np.tile(self.baseline_, (len(X), 1))
        n_threads = count_threads(self.n_jobs)
        for tree in range(self.n_iter_):
            self.trees_.add_to(X, scores, first=tree, last=tree + 1, n_threads=n_threads)
            yield scores

    def _round_params(self, n_rounds):
        """The parameters of the core that all boosted trees have, as the estimator has them."""
        return {
            "learning_rate": self.learning_rate,
            "max_iter": n_rounds,
            "subsample": self.subsample,
            "colsample": self.colsample,
            "l2_leaf_reg": self.l2_leaf_reg,
            "early_stopping": self.early_stopping,
            "n_iter_no_change": self.n_iter_no_change,
            "tol": self.tol,
            "seed": self._random_seed,
        }

    def _choose_loss(self):
        return choose_loss(self)

    def _native_loss(self, train):
        """The loss as the core takes it, for these samples."""
        loss = self._choose_loss()
        if not callable(loss):
            return loss
        if self._classification:
            return CustomLoss(loss, train.y[0].astype(np.intp), self.n_outputs_ == 1)
        return CustomLoss(loss, self._decode_targets(train.y), self._single_target)

    def _raw_predict(self, X):
        """Raw scores, (n_samples, n_outputs)."""
        check_fitted(self)
        X = self._check_rows(X)
        return raw_scores(self.trees_, self.baseline_, X, threads_for(self.n_jobs, X))
