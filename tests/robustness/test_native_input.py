"""The public classes of arrays refuse what compiled code would read or write outside of."""

from dataclasses import fields, replace

import numpy as np
import pytest

from fctree import ObliqueTrees, SymmetricTrees
from fctree.persistence.registry import ESTIMATORS

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
Y = X[:, 3] + X[:, 1]


def trees_of(cls):
    """Fitted arrays of this class, from any estimator that keeps them."""
    for entry in ESTIMATORS.values():
        parameters = {"max_iter": 3, "n_estimators": 3, "max_depth": 2, "random_state": 0}
        known = entry.cls().get_params().keys() & parameters
        if entry.cls.__name__.endswith("Regressor") and "max_depth" in known:
            model = entry.cls(**{name: parameters[name] for name in known}).fit(X, Y)
            if isinstance(getattr(model, "trees_", None), cls):
                return model.trees_
    raise LookupError(cls)


CLASSES = (SymmetricTrees, ObliqueTrees)
TREES = {cls.__name__: trees_of(cls) for cls in CLASSES}


@pytest.fixture(params=TREES.values(), ids=TREES)
def trees(request):
    return request.param


@pytest.mark.parametrize(
    "rows",
    [
        X.astype(bool),
        X.astype(np.int64),
        X.astype(">f8"),
        X.astype(np.longdouble),
        X.astype(object),
        X[:, :1],
        np.zeros((5, 0)),
        X[0],
        X[:, :, np.newaxis],
        X.tolist(),
        None,
    ],
)
def test_rows_of_other_types_and_shapes_are_refused(trees, rows):
    with pytest.raises(ValueError, match="X must be|but X has"):
        trees.apply(rows)
    with pytest.raises(ValueError, match="X must be|but X has"):
        trees.add_to(rows, np.zeros((60, 1)))


@pytest.mark.parametrize(
    "scores",
    [
        np.zeros((1, 1)),
        np.zeros((60, 2)),
        np.zeros(60),
        np.zeros((60, 1), dtype=np.float32),
        np.zeros((120, 1))[::2],
        np.broadcast_to(np.zeros(1), (60, 1)),
        [[0.0]] * 60,
    ],
)
def test_scores_that_cannot_be_written_to_are_refused(trees, scores):
    with pytest.raises((ValueError, TypeError), match="scores"):
        trees.add_to(X, scores)


@pytest.mark.parametrize("first, last", [(0, 10**6), (-1, 2), (2, 1), (0, 2**70), (4, None)])
def test_trees_that_there_are_not_are_refused(trees, first, last):
    with pytest.raises(ValueError, match="first"):
        trees.add_to(X, np.zeros((60, 1)), first=first, last=last)


def test_some_trees_add_what_all_add(trees):
    parts, first, whole = np.zeros((3, 60, 1))
    trees.add_to(X, parts, last=1)
    trees.first(1).add_to(X, first)
    np.testing.assert_array_equal(parts, first)
    trees.add_to(X, parts, first=1)
    trees.add_to(X, whole)
    np.testing.assert_array_equal(parts, whole)
    assert len(trees.first(0)) == 0


@pytest.mark.parametrize("n_threads", [0, -1, -(2**70)])
def test_less_than_a_thread_is_refused(trees, n_threads):
    with pytest.raises(ValueError, match="n_threads"):
        trees.apply(X, n_threads=n_threads)


@pytest.mark.parametrize("n_threads", [10**6, 2**70])
def test_any_number_of_threads_gives_the_same(trees, n_threads):
    many = np.tile(X, (100, 1))
    np.testing.assert_array_equal(trees.apply(many, n_threads=n_threads), trees.apply(many))


def test_rows_of_any_layout_are_read_by_symmetric_trees():
    trees = TREES["SymmetricTrees"]
    expected = trees.apply(X)
    packed = np.zeros(60, dtype=[("gap", "i1"), ("x", "f8", 4)])
    packed["x"] = X
    for rows in (np.asfortranarray(X), np.tile(X, 2)[:, :4], packed["x"], X[::-1][::-1]):
        np.testing.assert_array_equal(trees.apply(rows), expected)


def test_arrays_that_do_not_fit_together_are_refused(trees):
    """Each array of each class, made one shorter, one longer, of another type or flat."""
    for field in fields(trees):
        array = getattr(trees, field.name)
        for changed in (
            array[:-1],
            np.concatenate([array, array[-1:]]),
            array.astype(np.complex128),
            array.ravel() if array.ndim > 1 else array[:, np.newaxis],
            None,
        ):
            with pytest.raises((ValueError, TypeError)):
                replace(trees, **{field.name: changed})


@pytest.mark.parametrize("wrong", [-(2**63), -2, 10**6, 2**62, 2**63 - 1])
@pytest.mark.parametrize(
    "field", ["node_offsets", "leaf_offsets", "children_left", "children_right", "leaf_index"]
)
def test_links_and_offsets_of_oblique_trees_are_checked(field, wrong):
    trees = TREES["ObliqueTrees"]
    for position in range(len(getattr(trees, field))):
        changed = getattr(trees, field).copy()
        changed[position] = wrong
        with pytest.raises(ValueError):
            replace(trees, **{field: changed})


def test_offsets_that_ascend_only_by_overflow_are_refused():
    trees = TREES["ObliqueTrees"]
    offsets = np.array([0, 2**62, -(2**63), trees.node_offsets[-1]])
    with pytest.raises(ValueError, match="ascending"):
        replace(trees, node_offsets=offsets)


def test_trees_cannot_be_changed_into_others():
    for trees in TREES.values():
        with pytest.raises(AttributeError):
            trees.split_feature = np.zeros((1, 1), dtype=np.int32)
