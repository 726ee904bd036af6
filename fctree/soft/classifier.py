"""The soft tree classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils.multiclass import check_classification_targets

from fctree._typing import ArrayLike, FloatArray, NDArray, Self
from fctree._validation import encode_labels
from fctree.soft.base import BaseSoftTree

_LEAST_PROBABILITY = 1e-15  # of a class in the starting scores


class SoftTreeClassifier(ClassifierMixin, BaseSoftTree):
    """Sum of soft oblique trees, trained jointly by gradient descent, for classification.

    With two classes the trees predict the log-odds of ``classes_[1]``, with more one score per
    class (softmax); the loss is the log-loss. Trees, routing and training are those of
    :class:`SoftTreeRegressor`.

    Parameters
    ----------
    n_trees : int, default=10
        Trees; the prediction is their sum.
    depth : int, default=4
        Depth of the trees, from 1 to 15; a tree has ``2**depth`` leaves.
    gamma : float, default=1.0
        Width of the band of ``<w, x>`` in which samples go both ways. Smaller is harder and
        faster; the paper tunes it from 1e-4 to 1.
    routing : {"smooth_step", "logistic", "erf"}, default="smooth_step"
        ``S``: the paper's cubic; ``1 / (1 + exp(-6 t / gamma))``, which has the same slope at 0
        and reaches every leaf; or ``(1 + erf(scale t)) / 2``, that of the tree kernels.
    scale : float, default=2.0
        Hardness of ``routing="erf"``; unused otherwise.
    batch_norm : bool, default=True
        Standardise each feature by the batch's mean and variance in training and by running
        averages in predictions. Without it, standardise the features.
    fit_intercept : bool, default=True
        Whether splits have an intercept, as a feature that is always 1. The paper's have none.
    initialization : {"standard", "ntk"}, default="standard"
        ``"standard"`` starts from splits with products of deviation 1 and leaves of 0; ``"ntk"``
        draws all weights standard normal and divides the sum of the trees by the square root of
        their number, the start of the kernel theory; targets are then not standardised.
    optimizer : {"adam", "gradient_descent"}, default="adam"
        Adam, or steps along the gradient of the batch's mean loss.
    learning_rate : float, default=0.01
        Step size.
    batch_size : int, default=256
        Maximum number of samples per step; the batches of an epoch have nearly equal sizes.
    max_epochs : int, default=100
        Number of epochs in total: a warm start trains the remaining ones.
    l2_regularization : float, default=0.0
        Adds ``l2_regularization * sum(split_weights**2)`` to the mean of the losses: the paper's
        penalty, the same for any number of samples.
    l2_leaf_reg : float, default=20.0
        Adds ``l2_leaf_reg / 2 * sum(leaf_weights**2)`` to the sum of the losses, as gradient
        boosting does: a prior that fades as samples are added. In `partial_fit` the sum is over
        the samples of the call.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Features that are categories: those whose column has a categorical or text type, or a list
        of names or indices, or a mask; None for none.
    early_stopping : bool, default=False
        Whether to hold samples out, stop when their loss no longer improves, and keep the best
        weights.
    validation_fraction : float or int, default=0.1
        Share, or number, of samples to hold out, stratified by class.
    n_iter_no_change : int, default=10
        Number of epochs without an improvement by more than `tol` before stopping.
    tol : float, default=1e-4
        Smallest improvement of the loss that counts.
    warm_start : bool, default=False
        Whether `fit` continues the last fit; fits with 50 and then 100 epochs give the same bytes
        as one with 100 on the same samples.
    verbose : int, default=0
        1 shows a progress bar, 2 one line per epoch.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn. Results are the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seeds the initial weights, the order of the samples, and the validation split.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    baseline_ : ndarray of shape (n_outputs,)
        Scores to which the trees are added: the log-odds, or centred log-frequencies.
    output_scale_ : ndarray of shape (n_outputs,)
        1, or the factor of ``initialization="ntk"``.
    split_weights_ : ndarray of shape (n_trees, 2**depth - 1, n_features)
        Breadth-first, left first: a sample goes left at a node for large ``<w, x>``, x being
        standardised if `batch_norm`.
    split_intercepts_ : ndarray of shape (n_trees, 2**depth - 1)
    leaf_weights_ : ndarray of shape (n_trees, 2**depth, n_outputs)
    feature_means_, feature_variances_ : ndarrays of shape (n_features,)
        Running moments, used if `batch_norm`.
    n_iter_ : int
        Number of epochs trained.
    loss_curve_ : list of float
        Each epoch's mean log-loss over its batches.
    validation_loss_curve_ : list of float
        The same on the validation samples after each epoch; empty without early stopping.
    reachable_leaves_curve_ : list of float
        Each epoch's mean number of leaves that a sample reaches in a tree.
    encoder_ : TableEncoder
        How categories and missing values become the features of the model.
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

    _classification = True
    _all_classes: NDArray[Any] | None = None  # those that a first partial_fit was told

    _loss = "log_loss"

    def _encode_targets(self, y, *, reset):
        check_classification_targets(y)
        if reset:
            self._set_classes(np.unique(y) if self._all_classes is None else self._all_classes)
        return encode_labels(y, self.classes_).astype(np.float64)[np.newaxis]

    def _set_classes(self, classes):
        self.classes_ = classes
        self.n_classes_ = len(classes)
        self.n_outputs_ = self.n_classes_ if self.n_classes_ > 2 else 1

    def _start(self, train):
        self._new_state(train)
        if self.initialization == "ntk":
            self.baseline_ = np.zeros(self.n_outputs_)
        else:
            shares = np.bincount(
                train.y[0].astype(np.intp), weights=train.weight, minlength=self.n_classes_
            )
            shares = np.clip(shares / shares.sum(), _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
            if self.n_outputs_ == 1:
                positive = shares[1] if self.n_classes_ == 2 else _LEAST_PROBABILITY
                self.baseline_ = np.array([np.log(positive / (1 - positive))])
            else:
                self.baseline_ = np.log(shares) - np.log(shares).mean()
        self.output_scale_ = np.full(self.n_outputs_, self._tree_factor())

    def _offset_and_multiplier(self):
        return self.baseline_, self._tree_factor()

    def _scaled(self, y):
        return y

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train for one more epoch, on these samples.

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
            For unknown labels.
        """
        first = not hasattr(self, "_state")
        if classes is not None:
            classes = np.unique(classes)
            if not first and not np.array_equal(classes, self.classes_):
                raise ValueError(f"classes={classes} are not those of before: {self.classes_}")
        if first and classes is not None:
            self._all_classes = classes
        try:
            return self._partial_fit(X, y, sample_weight)
        finally:
            self.__dict__.pop("_all_classes", None)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Raw scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            The log-odds of ``classes_[1]`` with two classes, else one column per class.
        """
        scores = self._raw_predict(X)
        return scores[:, 0] if self.n_classes_ <= 2 else scores

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        scores = self._raw_predict(X)
        if self.n_classes_ > 2:
            return softmax(scores, axis=1)
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        positive = expit(scores[:, 0])
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        scores = self._raw_predict(X)
        if self.n_classes_ == 1:
            return np.full(len(scores), self.classes_[0])
        if self.n_classes_ == 2:
            return self.classes_[(scores[:, 0] > 0.0).astype(np.intp)]
        return self.classes_[np.argmax(scores, axis=1)]
