"""Checks of what compiled code indexes with, the one place of them for public classes of arrays.

Compiled code follows types, shapes, offsets and child numbers without looking at them. Each check
here is O(size) and compares numbers as they are: differences and sums of what a file or a user
gives could wrap around.
"""

import math
import os
from numbers import Integral, Real
from typing import ClassVar

import numpy as np

from fctree._native.core import is_matrix
from fctree._zeros import with_zeros, without_zeros

REAL = (np.dtype(np.float64), np.dtype(np.float32))
_MOST = 2**40
# The least that compiled code can count with.
_COUNTS = {
    "max_iter": 0, "max_epochs": 0, "max_depth": 0, "max_coef": 1, "max_thresholds": 1, "min_samples_leaf": 1,
    "min_samples_split": 1, "batch_size": 1, "n_iter_no_change": 1, "n_curvature": 1, "n_trees": 1, "n_screened": 1,
}  # fmt: skip
_MOST_THREADS = max(64, 4 * (os.cpu_count() or 1))  # more than that helps no one


def require(condition, message):
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def is_integer(value):
    """Whether the value is an integer; `isinstance` with an abstract class alone takes as long as a tree."""
    return type(value) is int or isinstance(value, Integral)


def check_array(name, array, dtype, shape):
    """Refuse what is not a NumPy array (TypeError) of this type and shape (ValueError); None stands for any
    length."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, got {type(array).__name__}")
    if array.dtype != dtype:  # the names of types take longer than to compare them
        raise ValueError(f"{name} has values of type {array.dtype}, expected {np.dtype(dtype)}")
    require(array.ndim == len(shape), f"{name} has {array.ndim} axes, not {len(shape)}")
    fits = all(
        size is None or size == given for size, given in zip(shape, array.shape, strict=True)
    )
    wanted = tuple("any" if size is None else size for size in shape)
    require(fits, f"{name} has the shape {array.shape}, expected {wanted}")


def check_rows(X, n_features, *, dtypes=REAL[:1], c_contiguous=True):
    """``X`` of shape (n, n_features) as compiled code reads it, never converted: the same array, or a copy
    if its elements are not aligned."""
    if is_matrix(X, n_features, len(dtypes) > 1):
        return X
    valid = (
        isinstance(X, np.ndarray)
        and X.ndim == 2
        and X.dtype in dtypes
        and X.shape[1] == n_features
        and (X.flags.c_contiguous or not c_contiguous)
    )
    if not valid:
        layout = "C-contiguous " if c_contiguous else ""
        types = " or ".join(dtype.name for dtype in dtypes)
        raise ValueError(
            f"X must be a {layout}{types} array of shape (n_samples, {n_features}), got "
            f"{_described(X)}; the estimators' own methods accept and convert other input"
        )
    return strided_in_elements(X)


def strided_in_elements(X):
    """``X`` such that its strides count whole, aligned elements."""
    if X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides):
        return X
    return X.copy()  # aligned, whatever X is


def check_output(scores, shape):
    """Refuse an array that scores of this shape cannot be written to."""
    if is_matrix(scores, shape[1]) and len(scores) == shape[0] and scores.flags.writeable:
        return
    check_array("scores", scores, np.float64, shape)
    flags = scores.flags
    require(
        flags.c_contiguous and flags.aligned and flags.writeable,
        "scores must be C-contiguous, aligned and writeable",
    )


def check_count(name, value, least, most=math.inf):
    """A count of samples, features, rounds or levels for compiled code, also where scikit-learn's checks of parameters are off.

    It is cut off at 2**40: beyond that it means the same. ValueError outside of the range.
    """
    require(least <= value <= most, f"{name} must be from {least} to {most}, got {value}")
    return int(min(value, _MOST))


def native_params(params):
    """Parameters as the fields of the core's structs; ValueError for a number that no float64 holds, and for counts
    that are out of range."""
    native = {}
    for name, value in params.items():
        if name in _COUNTS:
            value = check_count(name, value, _COUNTS[name])
        elif isinstance(value, Real) and not isinstance(value, Integral | np.bool_):
            value = float(value)
        elif isinstance(value, Integral) and name != "seed" and not isinstance(value, bool):
            try:
                value = float(value) if abs(value) > _MOST else int(value)
            except OverflowError as error:
                raise ValueError(f"{name} is too large") from error
        native[name] = value
    return native


def check_threads(n_threads):
    """A number of threads that compiled code can take."""
    if not is_integer(n_threads):
        raise TypeError(f"n_threads must be an integer, got {n_threads!r}")
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, got {n_threads}")
    return int(min(n_threads, _MOST_THREADS))


def check_range(first, last, length):
    """Refuse what is not a range of the indices from 0 to ``length``."""
    if not is_integer(first) or not is_integer(last):
        raise TypeError(f"first and last must be integers, got {first!r} and {last!r}")
    if not 0 <= first <= last <= length:
        raise ValueError(f"0 <= first <= last <= {length} must hold, got first={first} and last={last}")


def check_parts(cls, parts):
    """The parts as a list, or TypeError or ValueError unless they are of this class, and some."""
    parts = list(parts)
    if not all(isinstance(part, cls) for part in parts):
        raise TypeError(f"the parts must be {cls.__name__}, got {parts!r}")
    require(parts, "there are no trees to concatenate")
    return parts


def check_offsets(name, offsets, total):
    """Refuse what is not 0 = offsets[0] < offsets[1] < .. = total."""
    check_array(name, offsets, np.int64, (None,))
    require(len(offsets) >= 1, f"{name} is empty")
    require(offsets[0] == 0 and offsets[-1] == total, f"{name} does not cover all entries")
    require(bool(np.all(offsets[:-1] < offsets[1:])), f"{name} is not ascending")


def check_tree_links(node_offsets, children_left, children_right):
    """Refuse nodes that are not trees, one after the other, numbered from 0 in each of them.

    In a tree children have numbers above their parent's, -1 for none, and each node but the first is the
    child of one node. Returns whether each node is a leaf, and its tree, both (n_nodes,).
    """
    n_nodes = len(children_left)
    sizes = np.diff(node_offsets)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    leaf = children_left == -1
    require(
        np.array_equal(leaf, children_right == -1),
        "children_left and children_right are -1 at the same nodes",
    )
    internal = np.flatnonzero(~leaf)
    start = node_offsets[:-1][tree[internal]]
    own, size = internal - start, sizes[tree[internal]]
    for name, children in (("left", children_left), ("right", children_right)):
        child = children[internal]
        require(np.all(child > own), f"a {name} child's number must be above its parent's")
        require(np.all(child < size), f"a {name} child lies outside of its tree")
    children = np.concatenate([children_left[internal] + start, children_right[internal] + start])
    parents = np.bincount(children, minlength=n_nodes)
    expected = np.ones(n_nodes, dtype=np.int64)
    expected[node_offsets[:-1]] = 0
    require(
        np.array_equal(parents, expected), "every node but the root must be the child of one node"
    )
    return leaf, tree


def check_leaf_numbers(leaf, numbers, first, n_leaves):
    """Refuse numbers that do not count the leaves: from 0 in each tree, -1 at internal nodes.

    Arrays are (n_nodes,): whether it is a leaf, its number, and of its tree the leaves before it and in it.
    """
    message = "leaf_index must number the leaves from 0 to n_leaves - 1 and be -1 at internal nodes"
    own = numbers[leaf]
    require(np.all(numbers[~leaf] == -1), message)
    require(np.all((own >= 0) & (own < n_leaves[leaf])), message)
    counts = np.bincount(own + first[leaf])
    require(np.all(counts == 1) and len(counts) == len(own), message)


def aligned(value):
    """The state with aligned arrays: those of a pickle that came in parts, as Dask sends it, may begin at any address,
    and are then copied."""
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy()
    if type(value) is dict:
        return {key: aligned(item) for key, item in value.items()}
    return type(value)(map(aligned, value)) if type(value) in (list, tuple) else value


class CheckedArrays:
    """A class of arrays that were checked together, once: compiled code follows those in `_structure`.

    They are read-only then, in copies and pickles too, which NumPy makes writeable.
    """

    _structure: ClassVar[tuple[str, ...]] = ()

    def _protect(self):
        attributes = vars(self)
        for name in self._structure:
            if attributes[name].flags.writeable:
                attributes[name] = attributes[name].copy()  # the caller may go on with its own
                attributes[name].flags.writeable = False

    def __getstate__(self):
        return {name: without_zeros(value) for name, value in vars(self).items()}

    def __setstate__(self, state):
        vars(self).update(aligned({name: with_zeros(value) for name, value in state.items()}))
        self._protect()


def _described(X):
    if not isinstance(X, np.ndarray):
        return f"a {type(X).__name__}"
    layout = "C-contiguous" if X.flags.c_contiguous else "not C-contiguous"
    return f"{layout} {X.dtype} of shape {X.shape}"


def plain_array(name, array, dtype, shape):
    """C-contiguous array of that type; copied only if needed, without loss of precision."""
    array = np.asarray(array)
    expected = tuple("any" if size is None else size for size in shape)
    if array.ndim != len(shape) or any(
        size not in (None, given) for size, given in zip(shape, array.shape)
    ):
        raise ValueError(f"{name} has shape {array.shape}, expected {expected}")
    try:
        return array.astype(dtype, order="C", casting="same_kind", copy=False)
    except TypeError:
        raise ValueError(
            f"{name} must hold {np.dtype(dtype).name} values, got {array.dtype}"
        ) from None
