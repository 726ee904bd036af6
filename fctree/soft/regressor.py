"""The soft tree regressor."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from fctree._sklearn import fit_context
from fctree._training.targets import NumericTargets
from fctree._typing import ArrayLike, Self
from fctree.soft.base import BaseSoftTree


class SoftTreeRegressor(NumericTargets, RegressorMixin, BaseSoftTree):
    """Sum of soft oblique trees for regression, trained jointly by gradient descent.

    A node sends a sample to the left with probability ``S(<w, x>)``, which by default is exactly 0 or 1
    outside a band of width `gamma`. So only the nodes that a sample reaches are computed, both in training
    and in prediction (the tree ensemble layer of Hazimeh, Ponomareva, Mol, Tan and Mazumder 2020).

    Parameters
    ----------
    n_trees : int, default=10
        Number of trees; the prediction is their sum.
    depth : int, default=4
        Depth of the trees; a perfect tree has ``2**depth`` leaves. At most 32,768 leaves are allowed.
    architecture : str, mapping, nested pairs or array-like, default="perfect"
        Shape of the trees: ``"perfect"``; ``"decision_list"``, a chain of `depth` splits with a leaf to the
        left of each; ``{depth: number of leaves}`` as in :func:`fctree.kernels.tree_ntk`; or the tree as
        nested pairs or the parent of each node (see :func:`fctree.kernels.leaf_counts`). `depth` is used
        with the two names only.
    gamma : float, default=1.0
        Width of the band of ``<w, x>`` in which samples go both ways. Smaller values give trees that are
        harder and faster; the paper tunes it between 1e-4 and 1.
    routing : {"smooth_step", "logistic", "erf"}, default="smooth_step"
        Function ``S``: the cubic of the paper; ``1 / (1 + exp(-6 t / gamma))``, which has the same slope at
        0 and reaches every leaf; or ``(1 + erf(scale t)) / 2``, as in the tree kernels.
    scale : float, default=2.0
        Hardness of ``routing="erf"``; unused otherwise.
    batch_norm : bool, default=True
        Whether to standardise each feature, with the moments of the batch in training, and with running
        averages in prediction and for batches of one row. If False, standardise the features yourself.
    fit_intercept : bool, default=True
        Whether splits have an intercept; in the paper they have none.
    initialization : {"standard", "ntk"}, default="standard"
        ``"standard"`` draws splits with products ``<w, x>`` of standard deviation 0.5 and sets the leaves to
        0. ``"ntk"``, the initialisation of the kernel theory, draws all weights standard normal and divides
        the sum of the trees by the square root of their number; targets are then not standardised.
    optimizer : {"adam", "gradient_descent"}, default="adam"
        Adam, or gradient descent on the mean loss of the batch.
    learning_rate : float, default=0.01
        Step size.
    batch_size : int, default=256
        Maximum batch size; the batches of an epoch have nearly equal sizes.
    max_epochs : int, default=100
        Number of epochs in total; a warm start trains the remaining ones.
    l2_regularization : float, default=0.0
        Adds ``l2_regularization * sum(split_weights**2)`` to the mean loss, as in the paper.
    l2_leaf_reg : float, default=20.0
        Adds ``l2_leaf_reg / 2 * sum(leaf_weights**2)`` to the summed loss, as in gradient boosting, so its
        effect fades with more samples. In `partial_fit` the loss is summed over the samples of the call.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Categorical features: the columns of a categorical or text type, a list of names or indices, or a
        mask; None for none.
    early_stopping : bool, default=False
        Whether to stop when the loss of held-out samples no longer improves, and keep the best weights.
    validation_fraction : float or int, default=0.1
        Share or number of samples to hold out.
    n_iter_no_change : int, default=10
        Epochs without an improvement by more than `tol` before stopping.
    tol : float, default=1e-4
        Smallest decrease of the loss that counts as an improvement.
    warm_start : bool, default=False
        Whether `fit` continues the previous fit; on the same samples the result is the same as from a single
        fit.
    verbose : int, default=0
        1 shows a progress bar, 2 prints one line per epoch, n > 2 a line for every n-th epoch.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial weights, the order of the samples and the validation split.

    Attributes
    ----------
    split_weights_ : ndarray of shape (n_trees, n_splits, n_features)
        Weights of the splits, breadth-first. A sample goes left if ``<w, x>`` is large, where x is
        standardised if `batch_norm`.
    split_intercepts_ : ndarray of shape (n_trees, n_splits)
    leaf_weights_ : ndarray of shape (n_trees, n_splits + 1, n_outputs)
    children_ : ndarray of shape (n_splits, 2)
        Left and right child of each split; a number below `n_splits` is a split, others are `n_splits` plus
        the number of a leaf.
    baseline_, output_scale_ : ndarrays of shape (n_outputs,)
        Mean and standard deviation of the targets: predictions are
        ``baseline_ + output_scale_ * (sum of the trees)``.
    feature_means_, feature_variances_ : ndarrays of shape (n_features,)
        Running moments for `batch_norm`; zeros and ones without it.
    n_iter_ : int
        Number of epochs trained.
    loss_curve_ : list of float
        Mean squared error of the batches of each epoch, in units of the variance of each target, summed over targets.
    validation_loss_curve_ : list of float
        Mean squared error of the validation samples after each epoch, in the same unit; empty without early
        stopping.
    reachable_leaves_curve_ : list of float
        Mean number of leaves that a sample reaches in a tree, per epoch.
    encoder_ : TableEncoder
        Encoder of categories and missing values.
    n_features_in_, feature_names_in_, n_outputs_
        As in scikit-learn.

    Notes
    -----
    Adam updates are lazy: only the weights of nodes that send at least one sample of the batch both ways are
    changed. To follow the gradient flow of the kernel (``initialization="ntk"``) set `l2_leaf_reg` to 0.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import SoftTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SoftTreeRegressor(max_epochs=30, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    >>> model.reachable_leaves(X).shape
    (442, 10)
    """

    _loss = "squared_error"

    def _squares_targets(self):
        return False

    def _start(self, train):
        self._new_state(train)
        self.baseline_ = np.zeros(self.n_outputs_)
        self._target_scale = np.ones(self.n_outputs_)
        self.output_scale_ = np.full(self.n_outputs_, self._tree_factor())
        if self.initialization != "ntk":
            with np.errstate(over="ignore", invalid="ignore"):
                # About the first sample: a constant's mean is then exact, and its deviation 0.
                first = train.y[:, 0]
                moved = train.y - first[:, None]
                self.baseline_ = first + np.average(moved, axis=1, weights=train.weight)

    def _scale_targets(self, train):
        """Take the scale of outputs whose leaves are all 0, as after constant targets, from these samples."""
        leaves = self._state.get("last_leaf_weights", self._state["leaf_weights"])
        unlearned = ~leaves.any(axis=(0, 1))
        if not unlearned.any():
            return
        with np.errstate(over="ignore", invalid="ignore"):
            centred = train.y - self.baseline_[:, None]
            largest = np.maximum(np.abs(centred).max(axis=1), np.finfo(np.float64).tiny)
            shares = (centred / largest[:, None]) ** 2
            deviation = largest * np.sqrt(np.average(shares, axis=1, weights=train.weight))
        taken = unlearned & (deviation != 0.0)
        if not np.all(np.isfinite(deviation[taken])):
            raise ValueError("y is too large: its deviation is not finite")
        self._target_scale = np.where(taken, deviation, self._target_scale)
        self.output_scale_ = np.where(taken, deviation, self.output_scale_)

    def _offset_and_multiplier(self):
        return np.zeros(self.n_outputs_), float(self.output_scale_[0] / self._target_scale[0])

    def _scaled(self, y):
        return np.ascontiguousarray((y - self.baseline_[:, None]) / self._target_scale[:, None])

    @fit_context
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train for one more epoch on these samples.

        The first call sets the mean and standard deviation of the targets, so it should have many samples. If its
        targets are constant, the deviation is that of the next ones that differ. Every call updates the running
        moments of the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : estimator
        """
        return self._partial_fit(X, y, sample_weight)
