"""Weights of classes, which multiply those of the samples."""

from dataclasses import replace
from numbers import Real

import numpy as np

from fctree._sklearn import StrOptions
from fctree._training.weight_scale import rescale_small_weights

CLASS_WEIGHT_CONSTRAINTS = {"class_weight": [StrOptions({"balanced"}), dict, None]}


def class_weights(class_weight, classes, labels, sample_weight):
    """The weight of each class, (n_classes,); ``labels`` are the numbers of the samples' classes, ``sample_weight`` is
    None for ones.

    ValueError for weights that are negative or no finite numbers, and for labels that are no class where
    some class has no weight.
    """
    weights = np.ones(len(classes))
    if class_weight == "balanced":
        totals = np.bincount(labels, sample_weight, minlength=len(classes))
        present = totals > 0
        weights[present] = totals.sum() / (present.sum() * totals[present])
        return weights
    known = {label: number for number, label in enumerate(classes.tolist())}
    foreign = []
    for label, weight in class_weight.items():
        key = label.item() if isinstance(label, np.generic) else label
        if not isinstance(weight, Real) or not 0.0 <= weight < np.inf:
            raise ValueError(
                f"class_weight must be finite numbers of at least 0, got {weight!r} for {label!r}"
            )
        if key in known:
            weights[known.pop(key)] = weight
        else:
            foreign.append(key)
    if foreign and known:
        raise ValueError(
            f"class_weight has the labels {foreign}, which y lacks, and none for {list(known)} of y"
        )
    return weights


def weighted_by_class(estimator, labels, sample_weight):
    """Weights of samples times those of their classes, for an estimator with ``classes_``; as they are
    without ``class_weight``. ``labels`` are the numbers of the classes. ValueError where no weight is
    positive."""
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is None:
        return sample_weight
    of_class = class_weights(class_weight, estimator.classes_, labels, sample_weight)
    return _positive_somewhere(_times(of_class[labels], sample_weight))


def weigh_classes(estimator, train, evals):
    """Weighs Samples by class: those to train on that count, their weights rescaled, and a list of those evaluated."""
    class_weight = getattr(estimator, "class_weight", None)
    if class_weight is None:
        return _rescaled(train), evals
    of_class = class_weights(class_weight, estimator.classes_, train.y[0].astype(np.intp), train.weight)

    def weighed(samples):
        weight = _times(of_class[samples.y[0].astype(np.intp)], samples.weight)
        return replace(samples, weight=_positive_somewhere(weight))

    counted = weighed(train).without_zero_weights()
    return _rescaled(counted), [weighed(samples) for samples in evals]


def _times(of_class, sample_weight):
    return of_class if sample_weight is None else of_class * sample_weight


def _rescaled(samples):
    return replace(samples, weight=rescale_small_weights(samples.weight))


def _positive_somewhere(weight):
    if not np.any(weight > 0.0):
        raise ValueError("class_weight leaves no sample with a positive weight")
    return weight
