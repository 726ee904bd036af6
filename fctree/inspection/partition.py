"""Training, validation and test samples, shared by all methods and all groups."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from fctree._tables.copies import different_samples
from fctree._tables.estimators import wanted_categories
from fctree._validation import check_inspection_data, check_labels
from fctree.inspection.adapters import classifies
from fctree.inspection.warm_start import Samples, WarmStartModel


@dataclass(eq=False)
class DataSplit:
    """Three disjoint parts of the data, names of the columns, and the replacements of withheld ones: their
    means in the training part, missing values aside, and NaN for those that the estimator takes for categories."""

    train: Samples
    validation: Samples
    test: Samples
    replacement: np.ndarray
    names: list

    @property
    def n_features(self):
        """Number of columns."""
        return len(self.names)


def partition(estimator, X, y, sample_weight, *, fractions, seed):
    """Split the data into parts; ValueError for bad data, or parts that lack a class.

    The estimator determines whether `y` holds classes, a model of the protocol whether `X` may contain NaN. ``fractions`` are
    the share of the validation part in the samples outside of the test part, and that of the test part. Copies of a sample
    are in one part.
    """
    classification, allow_nan = _tags(estimator)
    X, y, weight, names = check_inspection_data(
        X, y, sample_weight, classification=classification, allow_nan=allow_nan
    )
    if weight is not None and not np.all(weight > 0):
        kept = np.flatnonzero(weight)
        X, y, weight = X[kept], y[kept], weight[kept]
    classes = None
    if classification:
        check_labels(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"y has one class, {classes.tolist()[0]!r}; importances need two or more")
    samples = Samples(X, y, weight, classes)
    targets = np.unique(y, return_inverse=True)[1] if classification else y
    different = different_samples(X, targets.reshape(len(X), -1).T)
    validation_fraction, test_fraction = fractions
    rest, test = _split(samples, different.first, ("test_fraction", test_fraction), seed)
    if len(test) < 2:
        raise ValueError(f"test_fraction={test_fraction} leaves one test sample, whose error is not known: raise it")
    train, validation = _split(samples, rest, ("validation_fraction", validation_fraction), seed)
    parts = {"training": train, "validation": validation, "test": test}
    parts = {name: samples.take(different.rows(rows)) for name, rows in parts.items()}
    for name, part in parts.items():
        _check_classes(name, part)
    train = parts["training"]
    replacement = column_means(train)
    categories = wanted_categories(estimator, np.array(names), len(names))
    replacement[np.equal(categories, True)] = np.nan
    return DataSplit(train, parts["validation"], parts["test"], replacement, names)


def _tags(estimator):
    """Whether targets are classes, and whether features may be NaN; an estimator itself refuses what it does not take."""
    if isinstance(estimator, WarmStartModel):
        return estimator.classification, estimator.allow_nan
    return classifies(estimator), True


def _split(samples, rows, named_fraction, seed):
    name, fraction = named_fraction
    labels = None if samples.classes is None else samples.y[rows]
    try:
        return train_test_split(rows, test_size=fraction, random_state=seed, stratify=labels)
    except ValueError as error:
        raise ValueError(f"{name}={fraction} does not cut {len(rows)} samples: {error}") from error


def _check_classes(name, part):
    if part.classes is None:
        return
    missing = np.setdiff1d(part.classes, part.y)
    if len(missing):
        raise ValueError(
            f"the {name} part of {len(part)} samples has none of class {missing.tolist()[0]!r}: "
            "more data, or other fractions, are needed"
        )


def column_means(train):
    """Weighted means of the columns without their missing values; NaN where all are missing."""
    X = train.X.astype(np.float64, copy=False)
    known = ~np.isnan(X)
    weight = known if train.sample_weight is None else known * train.sample_weight[:, None]
    total = weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, X, 0.0)
        means = np.einsum("ij,ij->j", means, weight) / total
    # In the columns' own type, so that a replaced column is the same in every code path.
    return means.astype(train.X.dtype).astype(np.float64)
