"""Base class of boosted oblique trees."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from fctree._intervals.boosted import raw_scores
from fctree._native import ensembles as _native
from fctree._native_input import native_params
from fctree._tables.estimators import summed_to_columns
from fctree._training.boosted import ROUND_CONSTRAINTS, BaseBoosting
from fctree._training.round_scores import joined_scores
from fctree._training.samples import chosen_eval_set
from fctree._training.team import ALONE
from fctree._tree import ObliqueTree
from fctree._typing import ArrayLike, EvalSet, FloatArray, NDArray, Self
from fctree._validation import (
    check_ensemble_data,
    check_features,
    count_threads,
)
from fctree.ensembles.trees import ObliqueTrees
from fctree.oblique import CurvatureTreeRegressor
from fctree.oblique.base import BaseObliqueTree
from fctree.oblique.parameters import (
    SHORTCUT_CONSTRAINTS,
    STEP_TREE,
    ensemble_tree_settings,
    native_tree_params,
)

# In an ensemble, trees need less protection against overfitting than a single tree.
_DEFAULT_TREE = CurvatureTreeRegressor(
    n_screened=4, max_thresholds=9, split_margin=0.0, feature_concatenation=False
)


class BaseCurvatureBoosting(BaseBoosting):
    """Boosted oblique trees; subclasses define the loss, the targets and the predictions."""

    _parameter_constraints = {
        **SHORTCUT_CONSTRAINTS,
        **ROUND_CONSTRAINTS,
        "extrapolation": [Interval(Real, 0, None, closed="left"), None],
        "step_depth": [Interval(Integral, 1, None, closed="left"), None],
        "tree": [BaseObliqueTree, None],
    }

    _check_rows = check_features
    _check_data = check_ensemble_data

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSet | None = None,
        init_score: ArrayLike | None = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN for missing values; or a table with categories (`categorical_features`).
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for the regressor
            Targets in the domain of the loss, or class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; samples of weight 0 are ignored.
        eval_set : tuple (X, y) or (X, y, sample_weight), or list of one, default=None
            Samples for `validation_score_` and early stopping.
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to start from instead of the best constant; predictions do not include them.
            Not allowed together with `eval_set`.
        X_val, y_val, sample_weight_val
            The evaluation set, as in `HistGradientBoosting*`; not together with `eval_set`.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For infinity in `X`, inconsistent shapes, negative weights, targets outside
            the loss's domain, labels in `eval_set` that `y` lacks, or fewer rounds than a warm
            start has.
        """
        eval_set = chosen_eval_set(eval_set, X_val, y_val, sample_weight_val)
        return self._fit_rounds(X, y, sample_weight, eval_set, init_score)

    def _tree_settings(self):
        return ensemble_tree_settings(self, _DEFAULT_TREE)

    def _kinds(self, n_samples, alpha=None):
        """The core's parameters of each kind of tree; with the penalty `alpha` if given."""
        settings = self._tree_settings()
        if alpha is not None:
            settings["alpha"] = alpha
        kinds = [settings]
        if self.step_depth is not None:
            kinds.append({**STEP_TREE, "max_depth": self.step_depth})
        scale = 1.0 / self.n_outputs_
        return [native_tree_params(kind, n_samples, impurity_scale=scale) for kind in kinds]

    def _native_params(self, n_rounds):
        params = {
            **self._round_params(n_rounds),
            "standardize": self._tree_settings()["standardize"],
            "extrapolation": np.inf if self.extrapolation is None else self.extrapolation,
        }
        return native_params(params)

    def _boost(self, train, validation, *, continuing, team=ALONE):
        done = self._rounds_done(continuing)
        n_rounds = self.max_iter - done
        with team.listener(self, n_rounds) as listener:
            arrays, kinds, baseline, train_loss, eval_loss, alpha = _native.boost(
                _as_native(train),
                validation and _as_native(validation),
                baseline=self.baseline_ if continuing else None,
                continued=self.trees_ if done else None,
                loss=self._choose_loss(),
                n_outputs=self.n_outputs_,
                kinds=self._kinds(train.n_samples, self.alpha_ if done else None),
                params=self._native_params(n_rounds),
                listener=listener,
                n_threads=count_threads(self.n_jobs),
                places=team.places,
                placed=team.placed(train, validation),
                past_losses=team.past_losses(self),
            )
        self._keep(ObliqueTrees(**arrays), kinds, (baseline, alpha), (-train_loss, -eval_loss),
                   continuing)

    def _keep(self, trees, kinds, constants, scores, continuing):
        """Append the rounds of a fit to those of the fits that it continues."""
        before = self.trees_.n_trees if continuing else 0
        names = ("train_score_", "validation_score_")
        if continuing:
            trees = ObliqueTrees.concatenate([self.trees_, trees])
            kinds = np.concatenate([self.tree_kinds_, kinds])
            grown = len(scores[0]) - 1
            scores = [
                joined_scores(getattr(self, name), now, before, grown)
                for name, now in zip(names, scores)
            ]
        self.baseline_, self.alpha_ = constants
        self.trees_ = trees
        self.tree_kinds_ = kinds
        self.n_iter_ = trees.n_trees
        for name, values in zip(names, scores):
            setattr(self, name, values)

    def _keep_first(self, n_rounds):
        """Drops the trees of later rounds."""
        self.trees_ = self.trees_.first(n_rounds)
        self.tree_kinds_ = self.tree_kinds_[:n_rounds]
        self.n_iter_ = n_rounds

    def _start_scores(self, n_samples):
        scores = np.empty((n_samples, self.n_outputs_))
        scores[:] = self.baseline_
        return scores

    def _raw_predict(self, X):
        """Raw scores, (n_samples, n_outputs)."""
        check_is_fitted(self)
        X = self._check_rows(X)
        return raw_scores(self.trees_, self.baseline_, X, count_threads(self.n_jobs))

    def _staged_raw_predict(self, X):
        """Raw scores of the first 1, 2, .. trees; the same array each time."""
        check_is_fitted(self)
        X = self._check_rows(X)
        scores = self._start_scores(len(X))
        n_threads = count_threads(self.n_jobs)
        for tree in range(self.n_iter_):
            self.trees_.add_to(X, scores, first=tree, last=tree + 1, n_threads=n_threads)
            yield scores

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """The leaf that each sample reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : array of shape (n_samples, n_iter_), int64
            Node numbers within each tree.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        return self.trees_.apply(X, n_threads=count_threads(self.n_jobs))

    @property
    def estimators_(self) -> list[ObliqueTree]:
        """The trees as `ObliqueTree` objects, views of `trees_`, in the order of the rounds."""
        check_is_fitted(self)
        return [self.trees_[tree] for tree in range(self.n_iter_)]

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean over the trees of the features' importances, (n_features,).

        As in `CurvatureTreeRegressor` for each tree; they sum to 1, or are all 0 if nothing is
        explained.
        """
        check_is_fitted(self)
        return summed_to_columns(self, self.trees_.compute_feature_importances())


def _as_native(samples):
    """The tuple that the core takes, features C-contiguous."""
    return np.ascontiguousarray(samples.X), samples.y, samples.weight, samples.initial
