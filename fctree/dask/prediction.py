"""Lazy predictions: a method of the plain estimator on every partition."""

import dask
import dask.array as da
import numpy as np

from fctree._validation import check_fitted
from fctree.dask.partitions import is_dask, is_dask_frame, refuse_other_columns, with_columns
from fctree.symmetric.trees import SymmetricTrees


class HasLocal:
    """A Dask estimator that is a plain one too; ``_local_class`` is the plain class."""

    def to_local(self):
        """The plain estimator with this model, which needs no Dask; NotFittedError without a model."""
        check_fitted(self)
        local = self._local_class(**self.get_params(deep=False))
        vars(local).update({k: v for k, v in vars(self).items() if k not in vars(local)})
        return local

    def _predicts(self, method, X, n_columns, dtype):
        """``method`` on a collection lazily, on anything else at once."""
        if is_dask(X):
            return predict_lazily(self, method, X, n_columns, dtype)
        return getattr(self._local_class, method)(self, X)


class AppliesTrees:
    """Leaves of trees, and predictions after each of them."""

    def apply(self, X):
        """Find the leaf of each sample in each tree, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        leaves : Dask array or data frame, or array, of shape (n_samples, n_trees)
        """
        check_fitted(self)
        dtype = np.int32 if isinstance(self.trees_, SymmetricTrees) else np.int64
        return self._predicts("apply", X, len(self.trees_), dtype)

    def _staged_raw_predict(self, X):
        if is_dask(X):
            raise TypeError("staged predictions take arrays and frames in memory: to_local() gives the model to every partition")
        return super()._staged_raw_predict(X)


class PredictsTargets(HasLocal):
    """Predictions of a regressor."""

    def predict(self, X):
        """Predict the targets, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        y : Dask array, series or data frame, or array, of shape (n_samples,) or \
(n_samples, n_outputs)
        """
        check_fitted(self)
        return self._predicts("predict", X, self._target_columns(), np.float64)

    def _why_without_intervals(self):
        return f"{type(self).__name__} has no intervals: they need a fit of {self._local_class.__name__} in one process"

    def _target_columns(self):
        return None if self._single_target else self.n_outputs_


class PredictsLabels(HasLocal):
    """Predicted labels of a classifier."""

    def predict(self, X):
        """Predict the classes, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        y : Dask array or series, or array, of shape (n_samples,)
        """
        check_fitted(self)
        return self._predicts("predict", X, None, self.classes_.dtype)

    def decision_function(self, X):
        """Compute the scores of the classes, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        scores : Dask array, series or data frame, or array, of shape (n_samples,) or (n_samples, n_classes)
            As those of the plain estimator: one column of two classes.
        """
        check_fitted(self)
        columns = None if len(self.classes_) <= 2 else len(self.classes_)
        return self._predicts("decision_function", X, columns, np.float64)


class PredictsClasses(PredictsLabels):
    """Predicted labels and probabilities of a classifier."""

    def predict_proba(self, X):
        """Predict the probabilities of the classes, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        probabilities : Dask array or data frame, or array, of shape (n_samples, n_classes)
        """
        check_fitted(self)
        return self._predicts("predict_proba", X, self.n_classes_, np.float64)

    def predict_log_proba(self, X):
        """Predict the logarithms of the probabilities, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : Dask array or data frame, or array, of shape (n_samples, n_classes)
            -inf where a probability is 0.
        """
        check_fitted(self)
        return self._predicts("predict_log_proba", X, self.n_classes_, np.float64)


def predict_lazily(estimator, method, X, n_columns, dtype):
    """``method`` of the plain estimator on every partition, as a Dask collection."""
    local = dask.delayed(estimator.to_local(), pure=False)
    refuse_other_columns(estimator, X)
    if is_dask_frame(X):
        meta = _frame_meta(X, n_columns, dtype, getattr(estimator, "classes_", None))
        return X.map_partitions(_predict_frame, local, method, meta, list(X.columns), meta=meta)
    X = X.rechunk({1: -1})
    options = {"drop_axis": 1} if n_columns is None else {"chunks": (X.chunks[0], (n_columns,))}
    shape = (0,) if n_columns is None else (0, n_columns)
    return da.map_blocks(
        _predict_block, X, local, method, np.empty(shape, dtype=dtype), dtype=dtype,
        meta=np.empty(shape, dtype=dtype), **options,
    )


def _predict_block(X, local, method, empty):
    if len(X) == 0:
        return empty
    return getattr(local, method)(X)


def _predict_frame(frame, local, method, empty, columns):
    frame = with_columns(frame, columns)
    if len(frame) == 0:
        return empty
    found = getattr(local, method)(frame)
    if found.ndim == 1:
        return type(empty)(found, index=frame.index, dtype=empty.dtype)
    return type(empty)(found, index=frame.index, columns=empty.columns)


def _frame_meta(X, n_columns, dtype, classes):
    import pandas as pd

    index = X._meta.index
    if n_columns is None:
        some = np.zeros(1, dtype=dtype) if classes is None or classes.dtype != dtype else classes[:1]
        return pd.Series(some).iloc[:0].set_axis(index)  # of text the type that pandas has for it
    columns = classes if classes is not None and len(classes) == n_columns else None
    return pd.DataFrame(np.empty((0, n_columns), dtype=dtype), index=index, columns=columns)
