"""The FC-ODT classifier: ridge regressions on class indicators."""

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils.multiclass import check_classification_targets

from fctree._tree import ObliqueTree
from fctree._validation import check_training_data, unchanged_on_failure
from fctree.oblique.base import BaseFCODT
from fctree.oblique.indicators import IndicatorScores, class_indicators


class FCODTClassifier(IndicatorScores, ClassifierMixin, BaseFCODT):
    """An oblique classification tree with ridge splits and feature concatenation (FC-ODT).

    Ridge regressions are on class indicators: one indicator a class, or the single one of
    ``classes_[1]`` where there are two. Each indicator's direction is a candidate, and
    the decrease of the Gini impurity picks the cut.

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        Penalty of every ridge regression, with the meaning it has in
        `sklearn.linear_model.Ridge`: it acts on the squared coefficients, so it is not
        free of the features' scales; standardise or rescale them first. ``"loo"`` takes
        the penalty from 1e-4, 10^-3.5, .., 1e3 with the least leave-one-out error of the
        root's ridge regression.
    max_depth : int or None, default=3
        Largest number of splits on a path; None grows until nothing can be split.
    min_samples_split : int or float, default=2
        Smallest number of samples that a node needs to be split; a float is a fraction
        of the training samples, rounded up.
    min_samples_leaf : int or float, default=1
        Smallest number of samples that a leaf may hold, likewise.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the Gini impurity, weighted by the share of samples in the
        node, for which a node is split. Under ``split_criterion="ridge"``: of its loss, a
        sample.
    feature_concatenation : bool, default=True
        Whether the score of a node is handed to its children as one more feature.
    leaf_model : {"ridge", "constant"}, default="ridge"
        What leaves predict with: their own ridge regression on the indicators, or the
        class fractions of their samples.
    fit_intercept : bool, default=True
        Whether ridge regressions are centred within the node.
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
        What a cut is judged by: the decrease of the Gini impurity when
        children predict constants (the paper's),
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
        Number of threads, as in `FCODTRegressor`.
    random_state : int, RandomState instance or None, default=None
        Growing a single tree draws no random numbers; accepted for a uniform interface.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays.
    alpha_ : float
        The penalty that was used: `alpha`, or the one that leave-one-out chose.
    classes_ : array of shape (n_classes_,)
        The classes, sorted.
    n_classes_ : int
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where `X` had names that are all strings.
    feature_importances_ : array of shape (n_features_in_,)
        See the property.

    References
    ----------
    S.-H. Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via Feature
    Concatenation", arXiv:2502.00465, 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fctree import FCODTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = FCODTClassifier(max_depth=1).fit(scale(X), y)
    >>> bool(tree.score(scale(X), y) > 0.95)
    True
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers; missing values are refused.
        y : array-like of shape (n_samples,)
            Class labels: numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; a sample of weight 0 is left out.

        Returns
        -------
        self : FCODTClassifier

        Raises
        ------
        ValueError
            For NaN or infinity, shapes that disagree, targets that are not classes,
            negative or all-zero weights.
        """
        with unchanged_on_failure(self):
            X, y, sample_weight = check_training_data(self, X, y, sample_weight, multi_output=False)
            check_classification_targets(y)
            classes, labels = np.unique(y, return_inverse=True)
            n_classes = len(classes)
            targets = class_indicators(labels, n_classes)
            impurity_scale = 1.0 if n_classes > 2 else 2.0
            arrays = self._grow(X, targets, sample_weight, impurity_scale=impurity_scale)
            fractions = arrays["value"]
            if n_classes == 2:
                fractions = np.hstack([1.0 - fractions, fractions])
            elif n_classes == 1:
                fractions = np.ones_like(fractions)
            arrays["value"] = fractions[:, np.newaxis, :]
            self.tree_ = ObliqueTree(n_classes=n_classes, **arrays)
            self.classes_ = classes
            self.n_classes_ = n_classes
        return self
