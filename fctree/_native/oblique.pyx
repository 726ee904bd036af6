# distutils: language = c++
"""Growing and evaluating one oblique tree: ``native/oblique`` on NumPy arrays."""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from fctree._native.core cimport (
    Execution,
    check_size,
    copied,
    elements,
    execution_on,
    pointer_1d,
    set_python_error,
)

import numpy as np

cnp.import_array()


cdef extern from "oblique/tree.hpp" namespace "fctree::oblique" nogil:
    cdef cppclass LeftOut:
        double* scores
        int64_t* leaf
        int64_t one_in
        cbool whole

    cdef cppclass ObliqueTreeArrays:
        double alpha
        vector[int64_t] children_left
        vector[int64_t] children_right
        vector[int64_t] split_kind
        vector[int64_t] split_output
        vector[double] threshold
        vector[double] coef
        vector[double] intercept
        vector[double] value
        vector[double] impurity
        vector[int64_t] n_node_samples
        vector[double] weighted_n_node_samples
        vector[int64_t] leaf_index
        vector[double] leaf_coef
        vector[double] leaf_intercept
        vector[double] feature_gain
        vector[double] feature_scale


cdef extern from "oblique/standardized.hpp" namespace "fctree::oblique" nogil:
    ObliqueTreeArrays grow_single_tree(const TrainingData&, const ObliqueParams&,
                                       const Execution&, const LeftOut&) except +set_python_error


cdef extern from "ridge/dense.hpp" namespace "fctree::ridge" nogil:
    cdef struct RoutingArrays:
        const int64_t* children_left
        const int64_t* children_right
        const double* threshold
        const double* coef
        int64_t n_features


cdef extern from "oblique/predict.hpp" namespace "fctree::oblique" nogil:
    cdef struct LeafModels:
        const int64_t* leaf_index
        const double* coef
        const double* intercept
        int64_t n_outputs

    void apply_tree(const RoutingArrays&, const double*, int64_t, int64_t*,
                    const Execution&) except +set_python_error
    void predict_tree(const RoutingArrays&, const LeafModels&, const double*, int64_t, double*,
                      const Execution&) except +set_python_error


cdef extern from "oblique/soft_predict.hpp" namespace "fctree::oblique" nogil:
    cdef struct SoftTree:
        RoutingArrays arrays
        const double* width
        int64_t n_nodes

    void predict_soft_tree(const SoftTree&, const LeafModels&, const double*, int64_t, double*,
                           const Execution&) except +set_python_error


cdef RoutingArrays routing_of(tree) except *:
    """Of the arrays of ``fctree.ObliqueTree``, which has to outlive it."""
    cdef RoutingArrays arrays
    arrays.children_left = <const int64_t*>elements(tree.children_left, b"i", 1)
    arrays.children_right = <const int64_t*>elements(tree.children_right, b"i", 1)
    arrays.threshold = <const double*>elements(tree.threshold, b"f", 1)
    arrays.coef = <const double*>elements(tree.coef, b"f", 2)
    arrays.n_features = (<cnp.ndarray>tree.coef).shape[1]
    return arrays


cdef TrainingData training_data(const double[:, ::1] X, const double[:, ::1] y,
                                const double[::1] weight) noexcept:
    cdef TrainingData data
    data.x = &X[0, 0]
    data.y = &y[0, 0]
    data.weight = pointer_1d(weight)
    data.n_samples = X.shape[0]
    data.n_features = X.shape[1]
    data.n_outputs = y.shape[1]
    return data


def direction_kinds():
    """Names of the kinds of candidate directions, in the order of ``split_kind``."""
    cdef vector[DirectionKind] kinds = native_direction_kinds()
    cdef DirectionKind kind
    return tuple([kind.name.decode() for kind in kinds])


def grow(const double[:, ::1] X, const double[:, ::1] y, const double[::1] sample_weight, *,
         dict params, int n_threads, double[:, ::1] left_out=None,
         int64_t[::1] leaf=None, int64_t one_in=1, bint whole=False, const int64_t[::1] groups=None):
    """Grow a tree on ``X`` (n, d) and ``y`` (n, K); returns its arrays by name, and alpha.

    ``params`` holds the fields of ``native/oblique/params.hpp``; ``sample_weight`` is
    (n,) or None. The tree is in the features of ``X``, standardized or not. ``left_out`` (n, K),
    if given, receives each sample's prediction by the leaf models fitted without it (with one unit less of
    a weight above 1, unless it is left out ``whole``), and ``leaf`` (n,) the leaves' numbers, of a random one in
    ``one_in`` samples. Features of the same number in ``groups`` (d,), if given, are one in ``feature_gain``: theirs
    add up to that of the sum of their terms.
    """
    check_size(X.shape[0])
    cdef TrainingData data = training_data(X, y, sample_weight)
    if groups is not None:
        data.groups = &groups[0]
    cdef ObliqueParams native_params = params
    cdef Execution execution = execution_on(n_threads)
    cdef ObliqueTreeArrays tree
    cdef LeftOut native_left_out
    if left_out is not None:
        native_left_out.scores = &left_out[0, 0]
    if leaf is not None:
        native_left_out.leaf = &leaf[0]
    native_left_out.one_in = one_in
    native_left_out.whole = whole
    with nogil:
        tree = grow_single_tree(data, native_params, execution, native_left_out)

    cdef Py_ssize_t n_nodes = tree.children_left.size()
    cdef Py_ssize_t d = X.shape[1]
    cdef Py_ssize_t n_outputs = y.shape[1]
    cdef Py_ssize_t n_leaves = tree.leaf_intercept.size() // n_outputs
    cdef Py_ssize_t n_models = tree.leaf_coef.size() // (n_outputs * d)
    arrays = {
        "children_left": copied(tree.children_left.data(), (n_nodes,), np.int64),
        "children_right": copied(tree.children_right.data(), (n_nodes,), np.int64),
        "split_kind": copied(tree.split_kind.data(), (n_nodes,), np.int64),
        "split_output": copied(tree.split_output.data(), (n_nodes,), np.int64),
        "threshold": copied(tree.threshold.data(), (n_nodes,)),
        "coef": copied(tree.coef.data(), (n_nodes, d)),
        "intercept": copied(tree.intercept.data(), (n_nodes,)),
        "value": copied(tree.value.data(), (n_nodes, n_outputs)),
        "impurity": copied(tree.impurity.data(), (n_nodes,)),
        "n_node_samples": copied(tree.n_node_samples.data(), (n_nodes,), np.int64),
        "weighted_n_node_samples": copied(tree.weighted_n_node_samples.data(), (n_nodes,)),
        "leaf_index": copied(tree.leaf_index.data(), (n_nodes,), np.int64),
        "leaf_coef": copied(tree.leaf_coef.data(), (n_models, n_outputs, d)),
        "leaf_intercept": copied(tree.leaf_intercept.data(), (n_leaves, n_outputs)),
        "feature_gain": copied(tree.feature_gain.data(), (d,)),
    }
    if tree.feature_scale.size() > 0:
        arrays["feature_scale"] = copied(tree.feature_scale.data(), (d,))
    return arrays, tree.alpha


def apply(tree, const double[:, ::1] X, int n_threads):
    """The leaf of a ``fctree.ObliqueTree`` that each row of ``X`` (n, d) reaches, (n,) int64."""
    out = np.empty(X.shape[0], dtype=np.int64)
    if X.shape[0] == 0:
        return out
    cdef int64_t[::1] leaf = out
    cdef RoutingArrays arrays = routing_of(tree)
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        apply_tree(arrays, &X[0, 0], X.shape[0], &leaf[0], execution)
    return out


def predict(tree, cnp.ndarray X, int n_threads):
    """The leaf models' values of a ``fctree.ObliqueTree``, (n, K) float64, for rows ``X`` (n, d)."""
    cdef cnp.ndarray leaf_intercept = tree.leaf_intercept
    out = np.empty((X.shape[0], leaf_intercept.shape[1]))
    if X.shape[0] == 0:
        return out
    cdef SoftTree soft
    soft.arrays = routing_of(tree)
    soft.n_nodes = len(tree.threshold)
    soft.width = NULL
    if tree.boundary_width is not None:
        soft.width = <const double*>elements(tree.boundary_width, b"f", 1)
    cdef LeafModels leaves
    leaves.leaf_index = <const int64_t*>elements(tree.leaf_index, b"i", 1)
    leaves.coef = <const double*>elements(tree.leaf_coef, b"f", 3)
    leaves.intercept = <const double*>elements(leaf_intercept, b"f", 2)
    leaves.n_outputs = leaf_intercept.shape[1]
    cdef const double* x = <const double*>elements(X, b"f", 2)
    cdef double* values = <double*>cnp.PyArray_DATA(out)
    cdef int64_t n_rows = X.shape[0]
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        if soft.width == NULL:
            predict_tree(soft.arrays, leaves, x, n_rows, values, execution)
        else:
            predict_soft_tree(soft, leaves, x, n_rows, values, execution)
    return out
