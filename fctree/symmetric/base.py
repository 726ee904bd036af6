"""Base class of symmetric boosting: parameters, fitting, reading the model."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from fctree._native import symmetric as _native
from fctree._native_input import check_count, native_params
from fctree._sklearn import Interval, StrOptions
from fctree._tables.estimators import summed_to_columns
from fctree._threads import count_threads
from fctree._training.boosted import ROUND_CONSTRAINTS, BaseBoosting
from fctree._training.losses import fewest_in_leaf
from fctree._training.round_watch import UNWATCHED
from fctree._training.tree_constraints import (
    INTERACTION_CONSTRAINTS,
    check_interactions,
    check_kept_trees,
    check_monotone_constraints,
)
from fctree._training.worker import ONLY_WORKER
from fctree._typing import ArrayLike, FloatArray, NDArray
from fctree._validation import check_boosting_data, check_boosting_features, check_fitted
from fctree.symmetric.trees import MOST_LEVELS, SymmetricTrees

_MOST_BINS = 254


class BaseSymmetricBoosting(BaseBoosting):
    """Boosted symmetric trees; subclasses define the loss, the targets and the predictions."""

    _parameter_constraints = {
        **ROUND_CONSTRAINTS,
        "max_depth": [Interval(Integral, 1, MOST_LEVELS, closed="both")],
        "max_bins": [Interval(Integral, 2, _MOST_BINS, closed="both")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "random_strength": [Interval(Real, 0, None, closed="left")],
        "score_noise": [StrOptions({"normal", "gumbel"})],
        "score_function": [StrOptions({"l2", "cosine"})],
        "monotonic_cst": ["array-like", dict, None],
        **INTERACTION_CONSTRAINTS,
    }

    _check_rows = check_boosting_features
    _check_data = check_boosting_data

    def _native_params(self, n_rounds):
        params = {
            **self._round_params(n_rounds),
            "max_depth": check_count("max_depth", self.max_depth, 1, MOST_LEVELS),
            "min_samples_leaf": max(self.min_samples_leaf, fewest_in_leaf(self)),
            "random_strength": self.random_strength,
            "score_noise": _native.ScoreNoise[self.score_noise].value,
            "score_function": _native.ScoreFunction[self.score_function].value,
            "model_shrink_rate": 0.0,  # not so in posterior samples
        }
        return native_params(params)

    def _bins(self):
        return check_count("max_bins", self.max_bins, 2, _MOST_BINS)

    def _find_thresholds(self, train):
        self.bin_thresholds_ = _native.find_thresholds(
            train.X,
            train.weight,
            max_bins=self._bins(),
            seed=self._random_seed,
            n_threads=count_threads(self.n_jobs),
        )

    def _boost(self, train, evals, *, continuing, worker=ONLY_WORKER, watch=UNWATCHED):
        n_threads = count_threads(self.n_jobs)
        if not continuing:
            if worker is ONLY_WORKER:
                self._find_thresholds(train)
            self.baseline_ = None
        done = self._rounds_done(continuing)
        n_rounds = self.max_iter - done
        monotone = check_monotone_constraints(self, n_outputs=self.n_outputs_)
        interactions = check_interactions(self)
        if continuing:
            check_kept_trees(self, monotone, interactions)
        with worker.listener(self, n_rounds) as progress:
            arrays, baseline, train_loss, eval_loss, judged = _native.boost(
                train.native(self._raw_so_far(train) if continuing else None),
                [
                    samples.native(self._raw_so_far(samples) if continuing else None)
                    for samples in evals
                ],
                thresholds=self.bin_thresholds_,
                monotone=monotone,
                interactions=interactions,
                baseline=self.baseline_,
                loss=self._native_loss(train),
                n_outputs=self.n_outputs_,
                first_iteration=done,
                params=self._native_params(n_rounds),
                listener=watch.listener(progress),
                judge=watch.judge(self),
                n_threads=n_threads,
                places=worker.places,
                past_losses=self._judged_so_far(continuing),
            )
        trees, scores = SymmetricTrees(**arrays), (-train_loss, -eval_loss)
        if continuing:
            trees, _, scores = self._continued(trees, (), scores)
        self.baseline_ = baseline
        self.n_iter_ = trees.n_trees
        self._judged = judged if self.early_stopping else judged[:0]
        self.train_score_, self.validation_score_ = scores
        self.trees_ = trees

    def _raw_so_far(self, samples):
        """The scores of the model to continue, as its own rounds computed them."""
        scores = np.empty((sum(map(len, samples.parts)), self.n_outputs_))
        scores[:] = self.baseline_ if samples.initial is None else self.baseline_ + samples.initial.T
        first = 0
        for X in samples.parts:
            rows = slice(first, first + len(X))
            self.trees_.add_to(X, scores[rows], n_threads=count_threads(self.n_jobs))
            first += len(X)
        return np.ascontiguousarray(scores.T)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Find the leaf that each sample reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : array of shape (n_samples, n_iter), int32
            Indices into the second axis of ``trees_.leaf_values``.
        """
        check_fitted(self)
        X = self._check_rows(X)
        return self.trees_.apply(X, n_threads=count_threads(self.n_jobs))

    def compute_feature_importances(self, kind: str = "gain") -> FloatArray:
        """Compute feature importances from the trees.

        Parameters
        ----------
        kind : {"gain", "split"}, default="gain"
            Total gain of the splits by the feature (``split_gain`` of `SymmetricTrees`), or their number.

        Returns
        -------
        importances : array of shape (n_features,)
            For ``"gain"`` they sum to 1, or are all 0 without a split.
        """
        check_fitted(self)
        if kind not in ("gain", "split"):
            raise ValueError(f"kind must be 'gain' or 'split', got {kind!r}")
        used = self.trees_.split_feature >= 0
        features = self.trees_.split_feature[used]
        weights = self.trees_.split_gain[used] if kind == "gain" else None
        counts = np.bincount(features, weights=weights, minlength=len(self.bin_thresholds_))
        counts = counts.astype(np.float64) if kind == "gain" else counts  # counts of no split are integers
        counts = summed_to_columns(self, counts)
        total = counts.sum()
        return counts / total if kind == "gain" and total > 0 else counts

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the splits' gains that each feature accounts for, (n_features,)."""
        return self.compute_feature_importances()
