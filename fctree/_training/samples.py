"""Samples as the core takes them: training and validation sets, and scores to start from."""

from dataclasses import dataclass, field
from math import fsum

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array

from fctree._tables.copies import different_samples
from fctree._tables.frames import plain_rows, refuse_mask, taken
from fctree._tables.targets import plain_targets
from fctree._training.eval_metrics import EvalSet
from fctree._validation import check_sample_weight, count_samples


@dataclass(eq=False)
class Samples:
    """Features (n, d) and encoded targets (n_targets, n); weights (n,) and scores to start from
    (n_outputs, n), or None for equal ones and for the baseline; their rows of the table given, or None for all.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    initial: np.ndarray | None
    rows: np.ndarray | None = field(default=None, kw_only=True)

    @property
    def parts(self):
        """The features, as one array or several that follow each other."""
        return [self.X]

    @property
    def n_samples(self):
        """Number of samples of the fit."""
        return len(self.X)

    @property
    def total_weight(self):
        """Sum of the weights of the fit's samples, whatever their order."""
        return float(len(self.X)) if self.weight is None else fsum(self.weight)

    def native(self, raw):
        """The tuple that the core takes, with the scores of a model to continue or None."""
        return self.X, self.y, self.weight, self.initial, raw

    def take(self, rows):
        """The samples of these rows."""
        weight = None if self.weight is None else self.weight[rows]
        initial = None if self.initial is None else np.ascontiguousarray(self.initial[:, rows])
        of_table = rows if self.rows is None else self.rows[rows]
        return Samples(self.X[rows], np.ascontiguousarray(self.y[:, rows]), weight, initial, rows=of_table)

    def without_zero_weights(self):
        """The samples that count: others must not even make a bin or cut a leaf."""
        if self.weight is None or np.all(self.weight > 0.0):
            return self
        return self.take(np.flatnonzero(self.weight))


def hold_out(samples, by_class, fraction, seed, wanted="early_stopping"):
    """The samples in two parts, the second of them for validation; `wanted` names who needs it.

    All copies of a sample are in one part: those in the other one would be known already.
    """
    different = different_samples(samples.X, samples.y)
    n_different = len(different)
    if n_different < 2:
        raise ValueError(
            f"{wanted} needs at least 2 samples to hold some out, got n_samples={n_different}"
        )
    n_held = count_samples(fraction, n_different)
    if n_held >= n_different:
        name = "validation_fraction" if wanted == "early_stopping" else wanted
        raise ValueError(f"{name}={fraction} of {n_different} samples leaves none to train on: lower it")
    rows, stratify = different.first, None
    if by_class:
        stratify = samples.y[0].astype(np.intp)[rows]
        several = np.bincount(stratify)[stratify] > 1
        if np.count_nonzero(several) > n_held:  # the only sample of a class stays: without it the class is unknown
            rows, stratify = rows[several], stratify[several]
    seed %= 2**32
    try:
        _, held = train_test_split(rows, test_size=n_held, stratify=stratify, random_state=seed)
    except ValueError:  # fewer samples to hold out, or to keep, than classes
        if stratify is None:
            raise
        order = np.random.RandomState(seed).permutation(len(rows))
        spare = np.delete(order, np.unique(stratify[order], return_index=True)[1])  # one of each class stays
        held = rows[(spare if len(spare) else order)[:n_held]]
    held = different.rows(held)
    kept = np.delete(np.arange(len(samples.X)), held)
    return samples.take(kept), samples.take(held)


def unpack_eval_sets(eval_set):
    """Tuples ``(X, y, sample_weight, init_score)`` from a tuple of two to four, a list of such tuples, or None."""
    if eval_set is None:
        return []
    given = eval_set if isinstance(eval_set, list) and eval_set else [eval_set]
    for each in given:
        pairs = isinstance(each, tuple) and bool(each) and _holds_tables(each[0])
        if not isinstance(each, tuple) or len(each) not in (2, 3, 4) or pairs:
            several = f" of {len(each)}{' tuples' * pairs}" if isinstance(each, (tuple, list)) else ""
            raise ValueError(
                "eval_set must be a tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score), or a "
                f"list of such tuples, one at least, got {type(each).__name__}{several}"
            )
    return [(*each, None, None)[:4] for each in given]


def _holds_tables(given):
    """Whether this is a tuple (X, y) instead of an X, which may be a tuple of rows."""
    return isinstance(given, tuple) and bool(given) and len(getattr(given[0], "shape", ())) > 1


def chosen_eval_sets(eval_set, X_val, y_val, sample_weight_val):
    """The evaluation sets, in one or the other of the ways to pass them."""
    if X_val is None and y_val is None and sample_weight_val is None:
        return unpack_eval_sets(eval_set)
    if eval_set is not None:
        raise ValueError("eval_set and X_val, y_val exclude each other")
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val belong together, and sample_weight_val needs X_val and y_val: one of them is None")
    return [(X_val, y_val, sample_weight_val, None)]


def check_init_score(init_score, n_samples, n_outputs):
    """Scores to start from as (n_outputs, n_samples), C-contiguous, or None."""
    if init_score is None:
        return None
    refuse_mask("init_score", init_score)
    scores = check_array(init_score, dtype=np.float64, ensure_2d=False, input_name="init_score")
    if scores.size != n_samples * n_outputs or scores.shape[0] != n_samples:
        raise ValueError(
            f"init_score must have the shape ({n_samples},) or ({n_samples}, {n_outputs}), "
            f"got {scores.shape}"
        )
    return np.ascontiguousarray(scores.reshape(n_samples, n_outputs).T)


def validation_samples(estimator, X, train, eval_sets, watch):
    """The samples to grow a boosted estimator's trees on, and a list of those to validate with.

    ``X`` is the table that `fit` was given. ``watch.eval_sets`` becomes the validation samples as its scorers take them.
    """
    if eval_sets:
        if any((initial is None) != (train.initial is None) for *_, initial in eval_sets):
            raise ValueError(
                "the training samples and all evaluation sets have an init_score, or none has: that of an evaluation "
                "set is given as eval_set=(X, y, sample_weight, init_score), where sample_weight may be None"
            )
        evals = [_checked(estimator, eval_sets, at, bool(watch.scorers)) for at in range(len(eval_sets))]
        numeric = not estimator._classification
        watch.eval_sets = [
            EvalSet(X, plain_targets(y, numeric), samples.weight) for (X, y, *_), samples in zip(eval_sets, evals)
        ]
        return train, evals
    if estimator.early_stopping:
        train, held = hold_out(
            train,
            estimator._classification,
            estimator.validation_fraction,
            estimator._random_seed,
        )
        table = taken(plain_rows(X), held.rows) if watch.scorers else None
        watch.eval_sets = [EvalSet(table, estimator._decode_targets(held.y), held.weight)]
        return train, [held]
    if watch.scorers:
        raise ValueError("eval_metric needs an eval_set, or early_stopping=True, which holds one out")
    return train, []


def _checked(estimator, eval_sets, at, keeps_all):
    """Samples of the set ``(X, y, weight, initial)`` of this number; those of weight 0 too where scorers see them."""
    X, y, weight, initial = eval_sets[at]
    try:
        X, y = estimator._check_data(X, y, reset=False, classification=estimator._classification)
        targets = estimator._encode_targets(y, reset=False)
        initial = check_init_score(initial, len(X), estimator.n_outputs_)
        samples = Samples(X, targets, check_sample_weight(weight, X), initial)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"eval_set[{at}]: {error}") from error
    return samples if keeps_all else samples.without_zero_weights()
