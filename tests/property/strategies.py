"""Hypothesis strategies: training tables and tree parameters, for all estimators.

A *table* is a small training set with the blemishes that real ones have: repeated rows,
constant and collinear columns, few rows, more columns than rows, weights of zero. The
numbers come from a drawn seed or, for shrinking and for exact ties, from small integers.

`tables` gives everything; `generic_tables` gives continuous data in general position,
for properties that compare two fits and so need cuts that rounding cannot decide.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from loss_cases import UNASKING_LOSSES


@dataclass(frozen=True)
class Table:
    """A training set: X (n, d), y (n,) or (n, K) or class labels, weights (n,) or None."""

    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None = None

    @property
    def weights(self):
        return np.ones(len(self.X)) if self.sample_weight is None else self.sample_weight

    @property
    def targets(self):
        """y as a matrix (n, K)."""
        return self.y.reshape(len(self.X), -1)


COLUMN_KINDS = ("continuous", "integers", "constant", "copy", "sum", "scaled", "binary")


def _column(kind, rng, n_samples, earlier):
    """One feature; `earlier` are the columns so far, which some kinds repeat."""
    if kind == "copy" and earlier:
        return earlier[-1].copy()
    if kind == "sum" and len(earlier) >= 2:
        return earlier[-1] + earlier[-2]
    if kind == "integers":
        return rng.integers(-3, 4, n_samples).astype(float)
    if kind == "binary":
        return rng.integers(0, 2, n_samples).astype(float)
    if kind == "constant":
        return np.full(n_samples, rng.choice([0.0, 1.0, -2.5]))
    if kind == "scaled":
        return 100.0 * rng.standard_normal(n_samples) + 30.0
    return rng.standard_normal(n_samples)


@st.composite
def feature_matrices(draw, min_rows=1, max_rows=60, max_features=8):
    """(n, d) finite float64, C-contiguous: mixed columns, small integers, or wide."""
    layout = draw(st.sampled_from(["mixed", "mixed", "grid", "wide"]))
    n_samples = draw(st.integers(min_rows, max_rows))
    n_features = draw(st.integers(1, max_features))
    if layout == "grid":
        return draw(hnp.arrays(np.float64, (n_samples, n_features),
                               elements=st.integers(-3, 3).map(float)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if layout == "wide":
        return rng.standard_normal((n_samples, n_samples + n_features))
    kinds = draw(st.lists(st.sampled_from(COLUMN_KINDS), min_size=n_features,
                          max_size=n_features))
    columns = []
    for kind in kinds:
        columns.append(_column(kind, rng, n_samples, columns))
    X = np.column_stack(columns)
    if draw(st.booleans()):  # repeated rows
        X = X[rng.integers(0, n_samples, n_samples)]
    return np.ascontiguousarray(X)


@st.composite
def sample_weights(draw, n_samples):
    """None, equal, positive, or with zeros (never all of them); of a mean of at least 1, since smaller ones are scaled."""
    kind = draw(st.sampled_from(["none", "equal", "positive", "zeros"]))
    if kind == "none":
        return None
    if kind == "equal":
        return np.full(n_samples, 3.0)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weight = rng.uniform(0.1, 5.0, n_samples)
    if kind == "zeros":
        weight[rng.random(n_samples) < 0.3] = 0.0
        weight[rng.integers(n_samples)] = 1.0
    return weight / min(1.0, weight[weight > 0.0].mean())


@st.composite
def targets(draw, X, max_outputs=3):
    """y (n,) or (n, K): functions of X with noise, steps, few values, or all equal."""
    n_samples = len(X)
    n_outputs = draw(st.integers(1, max_outputs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = []
    for _ in range(n_outputs):
        score = X @ rng.standard_normal(X.shape[1]) / (1 + np.abs(X).max())
        kind = draw(st.sampled_from(["smooth", "noise", "step", "integers", "equal"]))
        columns.append({
            "smooth": lambda s: np.maximum(s, 0) + 0.1 * rng.standard_normal(n_samples),
            "noise": lambda s: 10 * rng.standard_normal(n_samples) + 5,
            "step": lambda s: np.where(s > np.median(s), 2.0, -1.0),
            "integers": lambda s: rng.integers(0, 3, n_samples).astype(float),
            "equal": lambda s: np.full(n_samples, 0.1),
        }[kind](score))
    y = np.column_stack(columns)
    return y[:, 0] if n_outputs == 1 and draw(st.booleans()) else y


@st.composite
def tables(draw, min_rows=1, max_rows=60, max_features=8, max_outputs=3):
    """A regression table with anything in it."""
    X = draw(feature_matrices(min_rows, max_rows, max_features))
    return Table(X, draw(targets(X, max_outputs)), draw(sample_weights(len(X))))


@st.composite
def class_tables(draw, min_rows=2, max_rows=60, max_features=8, max_classes=4):
    """A classification table; labels are integers or strings, one class may be alone."""
    X = draw(feature_matrices(min_rows, max_rows, max_features))
    n_classes = draw(st.integers(1, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    score = X @ rng.standard_normal(X.shape[1])
    score = score / (1 + np.abs(score).max()) + draw(st.sampled_from([0.0, 0.3])) * (
        rng.standard_normal(len(X)))
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    if draw(st.booleans()):
        y = np.array(["ash", "birch", "cedar", "date"])[y]
    return Table(X, y, draw(sample_weights(len(X))))


@st.composite
def generic_tables(draw, min_rows=20, max_rows=80, max_features=6, max_outputs=1,
                   weighted=True):
    """Continuous data in general position and on one scale: no two cuts are equally good."""
    n_samples = draw(st.integers(min_rows, max_rows))
    n_features = draw(st.integers(1, max_features))
    n_outputs = draw(st.integers(1, max_outputs))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Times 0.9, because uniform draws lie on a grid on which differences are exact.
    X = 0.9 * rng.uniform(-1, 1, (n_samples, n_features))
    W = rng.standard_normal((n_features, n_outputs))
    Y = np.maximum(X @ W, 0) + 0.2 * rng.standard_normal((n_samples, n_outputs))
    weight = rng.uniform(0.5, 2, n_samples) if weighted and draw(st.booleans()) else None
    return Table(X, Y[:, 0] if n_outputs == 1 else Y, weight)


def tree_parameters(**fixed):
    """Keyword arguments of the FC-ODT estimators; `fixed` ones replace what is drawn."""
    drawn = {
        "alpha": st.sampled_from([0.0, 1e-2, 1.0, 100.0]),
        "max_depth": st.sampled_from([0, 1, 2, 3, 5, None]),
        "min_samples_split": st.sampled_from([2, 5, 20]),
        "min_samples_leaf": st.sampled_from([1, 2, 7]),
        "min_impurity_decrease": st.sampled_from([0.0, 0.01, 0.5]),
        "feature_concatenation": st.booleans(),
        "leaf_model": st.sampled_from(["ridge", "constant"]),
        "fit_intercept": st.booleans(),
    }
    drawn.update({name: st.just(value) for name, value in fixed.items()})
    return st.fixed_dictionaries(drawn)


def well_posed(parameters):
    """The same with enough samples in a node for least squares on six features at most,
    where there is no penalty: its solution is then unique and well conditioned."""
    return {**parameters, "min_samples_leaf": 12} if parameters["alpha"] == 0 else parameters


def boosting_parameters(**fixed):
    """Keyword arguments of the boosting estimators: few shallow trees of any kind."""
    drawn = {
        "loss": st.sampled_from(["squared_error", *UNASKING_LOSSES]),
        "max_iter": st.integers(1, 5),
        "max_depth": st.integers(1, 5),
        "max_bins": st.sampled_from([2, 3, 10, 254]),
        "learning_rate": st.sampled_from([0.1, 1.0]),
        "l2_leaf_reg": st.sampled_from([0.0, 0.5, 3.0]),
        "min_samples_leaf": st.sampled_from([1, 1, 3, 10]),
        "random_strength": st.sampled_from([0.0, 0.1, 1.0, 100.0]),
        "score_noise": st.sampled_from(["normal", "gumbel"]),
        "score_function": st.sampled_from(["l2", "cosine"]),
        "subsample": st.sampled_from([1.0, 0.6]),
        "colsample": st.sampled_from([1.0, 0.5]),
        "random_state": st.integers(0, 2**31),
    }
    drawn.update({name: st.just(value) for name, value in fixed.items()})
    return st.fixed_dictionaries(drawn)


@st.composite
def boosting_tables(draw, min_rows=1, max_rows=80, max_features=6, max_outputs=2):
    """Tables with missing and infinite features, and positive targets, which all losses take."""
    table = draw(tables(min_rows, max_rows, max_features, max_outputs))
    X, rng = table.X.copy(), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    if draw(st.integers(0, 4)) == 0:
        X[rng.random(X.shape) < 0.1] = np.inf
        X[rng.random(X.shape) < 0.1] = -np.inf
    y = np.exp(np.clip(table.y, -3, 3))
    return Table(X, y, table.sample_weight)
