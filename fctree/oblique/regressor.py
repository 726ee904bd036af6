"""The FC-ODT regressor."""

import numpy as np
from sklearn.base import RegressorMixin, _fit_context

from fctree._tree import ObliqueTree
from fctree._validation import check_targets, check_training_data, unchanged_on_failure
from fctree.oblique.base import BaseFCODT


class FCODTRegressor(RegressorMixin, BaseFCODT):
    """An oblique regression tree with ridge splits and feature concatenation (FC-ODT).

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        Penalty of every ridge regression, with the meaning it has in
        `sklearn.linear_model.Ridge`: it acts on the squared coefficients, so it is not
        free of the features' scales; standardise or rescale them first. 0 gives least
        squares, with the least-norm solution where columns are collinear. ``"loo"`` takes
        the penalty from 1e-4, 10^-3.5, .., 1e3 with the least leave-one-out error of the
        root's ridge regression.
    max_depth : int or None, default=3
        Largest number of splits on a path; None grows until nothing can be split. 0 is
        one ridge regression.
    min_samples_split : int or float, default=2
        Smallest number of samples that a node needs to be split; a float is a fraction
        of the training samples, rounded up.
    min_samples_leaf : int or float, default=1
        Smallest number of samples that a leaf may hold, likewise. Ridge leaves are
        models of ``n_features + 1`` numbers: a few times as many samples serve them well.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the impurity, weighted by the share of samples in the node,
        for which a node is split. Under ``split_criterion="ridge"``: of its loss, a sample.
    feature_concatenation : bool, default=True
        Whether the score of a node is handed to its children as one more feature. False
        gives a plain oblique tree with ridge splits.
    leaf_model : {"ridge", "constant"}, default="ridge"
        What leaves predict with: their own ridge regression (its features concatenated
        as for a split), or the mean of their samples.
    fit_intercept : bool, default=True
        Whether ridge regressions are centred within the node. False gives the paper's
        uncentred form.
    directions : {"ridge", "curvature", "axis", "all"} or tuple of them, default="ridge"
        The directions along which a node may be split: the ridge direction (the paper's),
        the curvature directions, in which the residuals of the node's ridge fit bend most,
        the axes of the features, or all of these.
    n_curvature : int, default=2
        Number of curvature directions a node has.
    max_coef : int or None, default=None
        Largest number of features in a split: a direction with more coefficients that are not
        zero is replaced by one of its kind on fewer features. For people who read the tree;
        the linear models in the leaves stay dense. None sets no limit.
    split_criterion : {"constant", "ridge"}, default="constant"
        What a cut is judged by: the squared error when children predict
        constants (the paper's),
        or the generalised cross-validation loss of the children's ridge models. With
        ``"ridge"`` a split also has to earn its place by leave-one-out (`split_margin`), so
        that more depth does not mean more error. It judges ridge models even where leaves
        are constant, and stops where one of them is enough.
    max_thresholds : int, default=32
        Cuts tried along each direction by ``split_criterion="ridge"``, at quantiles of the
        scores; ``"constant"`` tries all.
    n_screened : int or None, default=8
        Axes that ``split_criterion="ridge"`` looks at exactly, chosen by a cheap screening;
        None looks at all.
    parent_weight : float, default=3.0
        Number of pseudo-samples by which ``split_criterion="ridge"`` draws a child's model
        towards its parent's; 0 is none.
    split_margin : float, default=0.75
        How clearly a split has to lower the leave-one-out error under
        ``split_criterion="ridge"``, in units of what the best of as many random candidates
        would reach by chance; 0 accepts any decrease.
    n_jobs : int or None, default=None
        Number of threads. None means 1 unless in a `joblib.parallel_config`
        context, -1 means all cores. Trees and predictions are the same to the last bit
        for any number.
    random_state : int, RandomState instance or None, default=None
        Growing a single tree draws no random numbers; accepted for a uniform interface.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays.
    alpha_ : float
        The penalty that was used: `alpha`, or the one that leave-one-out chose.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where `X` had names that are all strings.
    n_outputs_ : int
        Number of columns of `y`.
    feature_importances_ : array of shape (n_features_in_,)
        See the property.

    References
    ----------
    S.-H. Lyu, Y.-X. He, Y. Wang, Z. Qu, B. Tang and B. Ye, "Enhance Learning Efficiency
    of Oblique Decision Tree via Feature Concatenation", arXiv:2502.00465, 2025.

    Examples
    --------
    >>> from fctree import FCODTRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> tree = FCODTRegressor(max_depth=2, min_samples_leaf=20).fit(X, y)
    >>> tree.get_n_leaves()
    4
    >>> tree.predict(X[:3]).shape
    (3,)

    Splits of at most three features, chosen by the linear models on their two sides:

    >>> tree = FCODTRegressor(
    ...     max_depth=2, min_samples_leaf=20, directions="all", split_criterion="ridge", max_coef=3
    ... ).fit(X, y)
    >>> int((tree.tree_.coef[tree.tree_.children_left >= 0] != 0).sum(axis=1).max())
    3
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers; missing values are refused.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. With several outputs every node fits one ridge regression per output
            and splits along the one whose best cut lowers the summed squared error most.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A weight of 2 counts as two samples, except for the
            limits on numbers of samples; a sample of weight 0 is left out.

        Returns
        -------
        self : FCODTRegressor

        Raises
        ------
        ValueError
            For NaN or infinity, shapes that disagree, negative or all-zero weights.
        """
        with unchanged_on_failure(self):
            X, y, sample_weight = check_training_data(self, X, y, sample_weight, multi_output=True)
            targets = check_targets(y)
            n_outputs = targets.shape[1]
            arrays = self._grow(X, targets, sample_weight, impurity_scale=1.0 / n_outputs)
            arrays["value"] = arrays["value"][:, :, np.newaxis]
            self.tree_ = ObliqueTree(**arrays)
            self.n_outputs_ = n_outputs
            self._single_target = y.ndim == 1
        return self

    def predict(self, X):
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        values = self._predict_scores(X)
        return values[:, 0] if self._single_target else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
