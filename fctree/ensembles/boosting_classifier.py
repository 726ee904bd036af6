"""The boosting classifier of oblique trees."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin

from fctree._parameters import set_parameters, shares_documentation
from fctree._training.class_weights import CLASS_WEIGHT_CONSTRAINTS
from fctree._training.losses import loss_constraints
from fctree._training.targets import BoostedClasses
from fctree._typing import ArrayLike, CustomLossFunction, RandomState
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.ensembles.boosting_regressor import CurvatureBoostingRegressor

# Up to so many samples splits need the full margin, of more in proportion less, down to a share of it.
_FEW_SAMPLES, _LEAST_SHARE = 600, 2 / 3
# A parent's model counts as so many samples per class, but at most as this share of the samples.
_SAMPLES_OF_PARENT, _SHARE_OF_PARENT = 10.0, 0.2


@shares_documentation(CurvatureBoostingRegressor)
class CurvatureBoostingClassifier(BoostedClasses, ClassifierMixin, BaseCurvatureBoosting):
    """Gradient boosting of curvature trees with ridge leaves, for classification.

    Each tree is a shallow oblique tree fitted to the Newton step of the log-loss, with splits along curvature
    directions, axes or the ridge direction and linear models in the leaves; with more than two classes a leaf
    predicts one score per class. For targets with steps each round also grows a step tree (axis-parallel splits,
    constant leaves) and keeps the tree with the larger out-of-bag gain, after subtracting in-bag gain that later
    trees could also achieve. By default splits need clearer gains than in regression, and leaf models are shrunk more
    towards those of their parents. The trees' `split_margin` is 0.75 for two classes and 0.5 for more; with more than
    600 samples it decreases in proportion, down to two thirds of that. With more than two classes linear models compete
    with the trees up to 600 samples, and step trees of three levels from 500 samples for each class on. `parent_weight` is
    10 times the number of classes, but at most a fifth of the sum of the sample weights.

    Parameters
    ----------
    loss : {"log_loss"} or callable, default="log_loss"
        Loss to minimise. A function ``loss(y_true, raw_prediction)`` takes class indices (n_samples,) and
        raw scores, (n_samples,) for two classes, else (n_samples, n_classes). It returns the gradient and
        the non-negative hessian of each sample in the shape of the scores, without weights. Raw scores
        start at 0; probabilities are those of the log-loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: a dict (missing classes have weight 1),
        or "balanced" for equal total weights. They also weight the loss of evaluation and held-out samples,
        but not `eval_metric`.
    learning_rate : float or "auto", default="auto"
        Factor applied to the scores of each tree. "auto" starts at 0.05 and is doubled after 100, 150 and 200 rounds,
        as long as the steps of the previous 50 rounds also reduced the loss on out-of-bag samples; with
        ``subsample=1`` it stays at 0.05.
    max_iter, subsample
        As in `CurvatureBoostingRegressor`.
    colsample : float, default=1.0
        Share of the features used for each tree. With 1.0 and at least 12 columns, every second tree uses
        half of the features.
    l2_leaf_reg : float, default=1.0
        Weight of pseudo-samples with target 0 that shrink the mean of each leaf. With K > 4 classes it is multiplied
        by 4 / K.
    extrapolation, step_depth, max_depth, alpha
        As in `CurvatureBoostingRegressor`.
    min_samples_leaf : int, float or None, default=None
        Minimum number of samples in a leaf; a float is a fraction of the training samples of a tree, rounded up. The
        limit in step trees is a quarter of this number. With two classes it is at least 1 / p in step trees of more
        than three levels, where p is the share of the rarer class.
    max_coef
        As in `CurvatureBoostingRegressor`.
    tree : CurvatureTreeRegressor, FCODTRegressor or their classifiers, default=None
        Unfitted tree whose parameters all trees use. None means
        ``CurvatureTreeRegressor(n_screened=4, max_thresholds=8, split_margin=0.75, parent_weight=20, feature_concatenation=False)``
        for two classes and up to 600 samples; see above for other cases.
    categorical_features, \
            early_stopping, validation_fraction, n_iter_no_change, tol, warm_start, verbose, \
            n_jobs, random_state
        As in `CurvatureBoostingRegressor`.

    Attributes
    ----------
    trees_, tree_kinds_, step_sums_, learning_rates_
        As in `CurvatureBoostingRegressor`.
    baseline_ : ndarray of shape (n_outputs,)
        Raw scores to which the trees are added: the log-odds (two classes) or centred log-frequencies.
    alpha_
        As in `CurvatureBoostingRegressor`.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
    n_iter_, train_score_, validation_score_, evals_result_, feature_importances_, encoder_, \
            n_features_in_, feature_names_in_, n_outputs_
        As in `CurvatureBoostingRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fctree import CurvatureBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CurvatureBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    _parameter_constraints = {
        **BaseCurvatureBoosting._parameter_constraints,
        **loss_constraints("classification"),
        **CLASS_WEIGHT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        loss: str | CustomLossFunction = "log_loss",
        class_weight: dict[Any, float] | str | None = None,
        learning_rate: float | str = "auto",
        max_iter: int = 300,
        max_depth: int | None = None,
        alpha: float | str | None = None,
        min_samples_leaf: int | float | None = None,
        max_coef: int | None = None,
        step_depth: int | None = 8,
        subsample: float = 0.7,
        colsample: float = 1.0,
        l2_leaf_reg: float = 1.0,
        extrapolation: float | None = 0.0,
        tree: Any = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: int | float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())

    def _changed_defaults(self, samples):
        # Newton targets are noisy, and each of several classes has its own linear model in every leaf. Of many samples
        # a gain by chance costs little.
        n_classes = len(self.classes_)
        share = max(min(1.0, _FEW_SAMPLES / samples.n_samples), _LEAST_SHARE)
        return {"split_margin": share * (0.75 if n_classes <= 2 else 0.5),
                "parent_weight": min(_SAMPLES_OF_PARENT * n_classes, _SHARE_OF_PARENT * samples.total_weight)}

    def _linear_competes(self, n_samples):
        return self.tree is None and len(self.classes_) > 2 and n_samples <= _FEW_SAMPLES
