"""The soft tree classifier."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from fctree._parameters import set_parameters, shares_documentation
from fctree._sklearn import fit_context
from fctree._training.class_weights import CLASS_WEIGHT_CONSTRAINTS
from fctree._training.targets import ClassTargets
from fctree._typing import ArrayLike, NDArray, RandomState, Self
from fctree.soft.base import BaseSoftTree
from fctree.soft.regressor import SoftTreeRegressor

_LEAST_PROBABILITY = 1e-15  # of a class in the starting scores


@shares_documentation(SoftTreeRegressor)
class SoftTreeClassifier(ClassTargets, ClassifierMixin, BaseSoftTree):
    """Sum of soft oblique trees for classification, trained jointly by gradient descent.

    With two classes the trees predict the log-odds of ``classes_[1]``, with more classes one score per class
    (softmax). The loss is the log-loss. Trees, routing and training are those of :class:`SoftTreeRegressor`.

    Parameters
    ----------
    n_trees, depth, architecture
        As in `SoftTreeRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: a dict (missing classes have weight 1),
        or "balanced" for equal total weights.
    gamma, routing, scale, batch_norm, fit_intercept, initialization, \
            optimizer, learning_rate, batch_size, max_epochs, l2_regularization
        As in `SoftTreeRegressor`.
    l2_leaf_reg : float, default=20.0
        Adds ``l2_leaf_reg / 2 * sum(leaf_weights**2)`` to the summed loss. With more than two classes it is
        multiplied by 4 times the mean of ``p * (1 - p)``, where p are the class shares (about
        ``4 / n_classes``), because the loss has less curvature than with two classes.
    categorical_features, early_stopping, validation_fraction, n_iter_no_change, tol, \
            warm_start, verbose, n_jobs, random_state
        As in `SoftTreeRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
    baseline_ : ndarray of shape (n_outputs,)
        Raw scores to which the trees are added: the log-odds (two classes) or centred log-frequencies.
    output_scale_ : ndarray of shape (n_outputs,)
        1, or the factor of ``initialization="ntk"``.
    split_weights_, split_intercepts_, leaf_weights_, children_, feature_means_, \
            feature_variances_, n_iter_
        As in `SoftTreeRegressor`.
    loss_curve_ : list of float
        Mean log-loss of the batches of each epoch.
    validation_loss_curve_ : list of float
        Mean log-loss of the validation samples after each epoch; empty without early stopping.
    reachable_leaves_curve_, encoder_
        As in `SoftTreeRegressor`.
    n_features_in_, feature_names_in_, n_outputs_
        Number and names of the features, and number of scores of a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fctree import SoftTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftTreeClassifier(max_epochs=50, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    _all_classes: NDArray[Any] | None = None  # those that a first partial_fit was told

    _loss = "log_loss"

    _parameter_constraints = {**BaseSoftTree._parameter_constraints, **CLASS_WEIGHT_CONSTRAINTS}

    def __init__(
        self,
        *,
        n_trees: int = 10,
        depth: int = 4,
        architecture: str | Mapping[int, int] | ArrayLike = "perfect",
        class_weight: dict[Any, float] | str | None = None,
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

    def _set_classes(self, classes):
        super()._set_classes(classes if self._all_classes is None else self._all_classes)

    def _start(self, train):
        self._new_state(train)
        if self.initialization == "ntk":
            self.baseline_ = np.zeros(self.n_outputs_)
        else:
            shares = np.bincount(
                train.y[0].astype(np.intp), weights=train.weight, minlength=self.n_classes_
            )
            if self._all_classes is not None:  # those to come count as one sample: from shares of 0 no training leads back
                shares = np.where(shares > 0.0, shares, shares.sum() / len(train.X))
            shares = np.clip(shares / shares.sum(), _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
            if self.n_outputs_ == 1:
                positive = shares[1] if self.n_classes_ == 2 else _LEAST_PROBABILITY
                self.baseline_ = np.array([np.log(positive / (1 - positive))])
            else:
                self.baseline_ = np.log(shares) - np.log(shares).mean()
        self.output_scale_ = np.full(self.n_outputs_, self._tree_factor())

    def _curvature(self):
        """Four times the mean p (1 - p) of the classes' shares p, at the start: less of many classes."""
        if self.n_classes_ <= 2:
            return 1.0
        shares = softmax(self.baseline_)
        return float(4.0 * np.mean(shares * (1.0 - shares)))

    def _offset_and_multiplier(self):
        return self.baseline_, float(self.output_scale_[0])

    def _scaled(self, y):
        return y

    @fit_context
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train for one more epoch on these samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels. Required in the first call unless its `y` contains them all.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For unknown labels, or with ``class_weight="balanced"``, which needs all samples.
        """
        if self.class_weight == "balanced":
            raise ValueError('class_weight="balanced" needs all samples: use fit')
        first = not hasattr(self, "_state")
        if classes is not None:
            try:
                classes = np.unique(list(classes) if isinstance(classes, Set) else classes)
            except TypeError as error:
                raise TypeError("classes holds labels of several types, or None") from error
            if len(classes) == 0:
                raise ValueError("classes is empty")
            if not first and not np.array_equal(classes, self.classes_):
                raise ValueError(f"classes={classes} are not those of before: {self.classes_}")
        if first and classes is not None:
            self._all_classes = classes
        try:
            return self._partial_fit(X, y, sample_weight)
        finally:
            self.__dict__.pop("_all_classes", None)
