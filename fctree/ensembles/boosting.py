"""Base class of boosted oblique trees."""

from __future__ import annotations

from math import ceil
from numbers import Integral

import numpy as np

from fctree._native import ensembles as _native
from fctree._native_input import native_params
from fctree._sklearn import Interval, StrOptions
from fctree._tables.encoder import IndicatorLimits
from fctree._tables.estimators import feature_groups, rounds_features
from fctree._threads import count_threads
from fctree._training.boosted import ROUND_CONSTRAINTS, BaseBoosting
from fctree._training.losses import fewest_in_leaf, has_log_link
from fctree._training.round_watch import UNWATCHED
from fctree._training.worker import ONLY_WORKER
from fctree._validation import check_features, check_imputed_floats, count_samples, in_parts
from fctree.ensembles.members import MEMBER_CONSTRAINTS, HasObliqueTrees
from fctree.ensembles.trees import ObliqueTrees
from fctree.oblique import CurvatureTreeRegressor
from fctree.oblique.parameters import STEP_TREE, native_tree_params

# Of the fewest samples of a leaf, for leaves that are constants instead of linear models; of log-odds and log-means, of
# which few samples may say next to nothing, more.
_SHARE_OF_STEPS, _SHARE_OF_LOG_STEPS = 0.1, 0.25
# So many columns of a table, and features made of them, tell classes apart in more than one way.
_HALVED_FROM = 12


class BaseCurvatureBoosting(HasObliqueTrees, BaseBoosting):
    """Boosted oblique trees; subclasses define the loss, the targets and the predictions."""

    _parameter_constraints = {
        **MEMBER_CONSTRAINTS,
        **ROUND_CONSTRAINTS,
        "learning_rate": [*ROUND_CONSTRAINTS["learning_rate"], StrOptions({"auto"})],
        "step_depth": [Interval(Integral, 1, None, closed="left"), None],
    }

    # In an ensemble, trees need less protection against overfitting than a single tree.
    _default_tree = CurvatureTreeRegressor(
        n_screened=4, max_thresholds=8, split_margin=0.0, feature_concatenation=False
    )
    _indicator_limits = IndicatorLimits(instead=12, beside=8)
    _of_rounds = ("tree_kinds_", "step_sums_", "learning_rates_")
    _check_rows = check_features
    _check_data = check_imputed_floats

    _raw_predict = in_parts(BaseBoosting._raw_predict)

    def _kinds(self, samples, alpha=None):
        """The core's parameters of each kind of tree; with the penalty `alpha` if given."""
        settings, n_samples = self._tree_settings(samples), samples.n_samples
        if alpha is not None:
            settings["alpha"] = alpha
        fewest, least = count_samples(settings["min_samples_leaf"], n_samples), fewest_in_leaf(self)
        kinds = [{**settings, "min_samples_leaf": max(fewest, least)}]
        if self.step_depth is not None:
            is_log = self._classification or has_log_link(self.loss)
            fewest = max(ceil((_SHARE_OF_LOG_STEPS if is_log else _SHARE_OF_STEPS) * fewest), least)
            kinds.append({**STEP_TREE, "max_depth": self.step_depth, "min_samples_leaf": fewest})
        scale = 1.0 / self.n_outputs_
        return [native_tree_params(kind, n_samples, impurity_scale=scale) for kind in kinds]

    def _linear_competes(self, n_samples):
        """Whether linear models, trees of one leaf, are a kind of tree of their own."""
        return False

    def _native_params(self, n_rounds, n_samples):
        halves = self._classification and self.n_features_in_ >= _HALVED_FROM
        params = {
            **self._round_params(n_rounds),
            "learning_rate": 0.0 if self.learning_rate == "auto" else self.learning_rate,
            "extrapolation": self._native_extrapolation(),
            "rounds_features": rounds_features(self),
            "halved_from": _HALVED_FROM if halves else 0,
            "linear_competes": self._linear_competes(n_samples),
        }
        return native_params(params)

    def _boost(self, train, evals, *, continuing, worker=ONLY_WORKER, watch=UNWATCHED):
        done = self._rounds_done(continuing)
        n_rounds = self.max_iter - done
        with worker.listener(self, n_rounds) as progress:
            arrays, *of_trees, baseline, train_loss, eval_loss, judged, alpha = _native.boost(
                _as_native(train),
                [_as_native(samples) for samples in evals],
                baseline=self.baseline_ if continuing else None,
                continued=self.trees_ if done else None,
                loss=self._native_loss(train),
                n_outputs=self.n_outputs_,
                kinds=self._kinds(train, self.alpha_ if done else None),
                params=self._native_params(n_rounds, train.n_samples),
                listener=watch.listener(progress),
                judge=watch.judge(self),
                n_threads=count_threads(self.n_jobs),
                places=worker.places,
                placed=worker.placed(train, evals),
                past_losses=self._judged_so_far(continuing),
                past=(self.tree_kinds_, self.step_sums_) if done else None,
                groups=feature_groups(self),
            )
        trees, scores = ObliqueTrees(**arrays), (-train_loss, -eval_loss)
        if continuing:
            trees, of_trees, scores = self._continued(trees, of_trees, scores)
        self.baseline_, self.alpha_ = baseline, alpha
        self.trees_ = trees
        self.tree_kinds_, self.step_sums_, self.learning_rates_ = of_trees
        self.n_iter_ = trees.n_trees
        self._judged = judged if self.early_stopping else judged[:0]
        self.train_score_, self.validation_score_ = scores


def _as_native(samples):
    """The tuple that the core takes, features C-contiguous."""
    return np.ascontiguousarray(samples.X), samples.y, samples.weight, samples.initial
