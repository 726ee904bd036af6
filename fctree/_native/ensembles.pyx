# distutils: language = c++
"""Ensembles of oblique trees: ``native/ensembles`` on NumPy arrays."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from fctree._native.core cimport (
    Execution,
    Listener,
    Piece,
    Places,
    RoundListener,
    Table,
    check_size,
    copied,
    execution_on,
    elements,
    pointer,
    pointer_1d,
)
from fctree._native.oblique cimport ObliqueParams, TrainingData, training_data

import numpy as np

cnp.import_array()


cdef class Trees:
    """A view of the arrays of ``fctree.ObliqueTrees``, kept alive by it."""

    def __cinit__(self, trees):
        self.arrays = trees
        self.n_trees = len(trees.node_offsets) - 1
        self.view.node_offsets = <const int64_t*>elements(trees.node_offsets, b"i", 1)
        self.view.leaf_offsets = <const int64_t*>elements(trees.leaf_offsets, b"i", 1)
        self.view.children_left = <const int64_t*>elements(trees.children_left, b"i", 1)
        self.view.children_right = <const int64_t*>elements(trees.children_right, b"i", 1)
        self.view.threshold = <const double*>elements(trees.threshold, b"f", 1)
        self.view.coef = <const double*>elements(trees.coef, b"f", 2)
        self.view.leaf_index = <const int64_t*>elements(trees.leaf_index, b"i", 1)
        self.view.leaf_coef = <const double*>elements(trees.leaf_coef, b"f", 3)
        self.view.leaf_intercept = <const double*>elements(trees.leaf_intercept, b"f", 2)
        self.view.leaf_lower = <const double*>elements(trees.leaf_lower, b"f", 2)
        self.view.leaf_upper = <const double*>elements(trees.leaf_upper, b"f", 2)
        self.view.n_features = trees.coef.shape[1]
        self.view.n_outputs = trees.leaf_intercept.shape[1]


cdef class Coefficients:
    """Numbers of grown trees, the largest part of them, for an array that does not copy them."""

    cdef vector[double] numbers

    @staticmethod
    cdef taken(vector[double]& numbers, tuple shape):
        """An array of this shape with the numbers, which are gone from where they were."""
        cdef Coefficients owner = Coefficients()
        owner.numbers.swap(numbers)
        cdef cnp.npy_intp size = owner.numbers.size()
        if size == 0:
            return np.zeros(shape)
        cdef cnp.ndarray array = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_FLOAT64, owner.numbers.data())
        cnp.set_array_base(array, owner)
        return array.reshape(shape)


cdef arrays_of(ObliqueTreesArrays* trees):
    """Arrays by name; coefficients are taken from the trees, so that this is the last use of them."""
    cdef Py_ssize_t n_trees = trees.node_offsets.size() - 1
    cdef Py_ssize_t n_nodes = trees.children_left.size()
    cdef Py_ssize_t d = trees.n_features
    cdef Py_ssize_t n_outputs = trees.n_outputs
    cdef Py_ssize_t n_leaves = trees.leaf_intercept.size() // n_outputs
    return {
        "node_offsets": copied(trees.node_offsets.data(), (n_trees + 1,), np.int64),
        "leaf_offsets": copied(trees.leaf_offsets.data(), (n_trees + 1,), np.int64),
        "children_left": copied(trees.children_left.data(), (n_nodes,), np.int64),
        "children_right": copied(trees.children_right.data(), (n_nodes,), np.int64),
        "split_kind": copied(trees.split_kind.data(), (n_nodes,), np.int64),
        "threshold": copied(trees.threshold.data(), (n_nodes,)),
        "coef": Coefficients.taken(trees.coef, (n_nodes, d)),
        "value": copied(trees.value.data(), (n_nodes, n_outputs)),
        "impurity": copied(trees.impurity.data(), (n_nodes,)),
        "n_node_samples": copied(trees.n_node_samples.data(), (n_nodes,), np.int64),
        "weighted_n_node_samples": copied(trees.weighted_n_node_samples.data(), (n_nodes,)),
        "leaf_index": copied(trees.leaf_index.data(), (n_nodes,), np.int64),
        "leaf_coef": Coefficients.taken(trees.leaf_coef, (n_leaves, n_outputs, d)),
        "leaf_intercept": copied(trees.leaf_intercept.data(), (n_leaves, n_outputs)),
        "leaf_lower": copied(trees.leaf_lower.data(), (n_leaves, n_outputs)),
        "leaf_upper": copied(trees.leaf_upper.data(), (n_leaves, n_outputs)),
        "feature_gain": copied(trees.feature_gain.data(), (n_trees, d)),
    }


cdef RowBlocks blocks_of(tuple blocks) except *:
    """Of ``(rows of a block, first block, blocks here, blocks of all, pieces)``."""
    cdef RowBlocks out
    cdef Piece piece
    out.block_rows, out.first, out.n_here, out.n_blocks, pieces = blocks
    for begin, size in pieces:
        piece.begin = begin
        piece.size = size
        out.pieces.push_back(piece)
    return out


cdef Table table_of(cnp.ndarray X) except *:
    """A view of a C-contiguous array (n, d) of float64 or float32."""
    cdef Table table
    cdef int of_type = cnp.PyArray_TYPE(X)
    if (cnp.PyArray_NDIM(X) != 2 or not cnp.PyArray_ISCARRAY_RO(X)
            or of_type != cnp.NPY_FLOAT64 and of_type != cnp.NPY_FLOAT32):
        raise ValueError("expected a C-contiguous array of 2 axes and type f4 or f8")
    table.values = cnp.PyArray_DATA(X)
    table.is_single = of_type == cnp.NPY_FLOAT32
    table.n_columns = X.shape[1]
    return table


cdef BoostedSamples samples_of(tuple arrays) except *:
    """Of ``(X, y, weight, initial)``, which have to outlive it."""
    X, y, weight, initial = arrays
    cdef BoostedSamples samples
    samples.x = table_of(X)
    samples.y = pointer(y)
    samples.weight = pointer_1d(weight)
    samples.initial = pointer(initial)
    samples.n_samples = X.shape[0]
    return samples


cdef vector[GrownRound] rounds_of(tuple arrays) except *:
    """Of kinds and sums of steps."""
    cdef vector[GrownRound] rounds
    cdef GrownRound one
    cdef StepTerms terms
    for one.kind, steps in zip(*arrays, strict=True):
        one.steps.clear()
        for terms.decrease, terms.curvature in steps.reshape(-1, 2):
            one.steps.push_back(terms)
        rounds.push_back(one)
    return rounds


cdef tuple arrays_of_rounds(const vector[GrownRound]& rounds, Py_ssize_t n, Py_ssize_t n_outputs):
    """Those of the first n."""
    cdef double[:, :, ::1] steps = np.empty((n, 2 * n_outputs, 2))
    kinds, rates = np.empty(n, dtype=np.int64), np.empty(n)
    for i in range(n):
        kinds[i], rates[i] = rounds[i].kind, rounds[i].rate
        for k in range(2 * n_outputs):
            steps[i, k, 0], steps[i, k, 1] = rounds[i].steps[k].decrease, rounds[i].steps[k].curvature
    return kinds, np.asarray(steps).reshape(n, 2, n_outputs, 2), rates


cdef vector[ObliqueParams] kinds_of(list kinds) except *:
    """Of the fields of ``native/oblique/params.hpp`` for each kind of tree."""
    cdef vector[ObliqueParams] out
    for kind in kinds:
        out.push_back(<ObliqueParams>kind)
    return out


def boost(train, list evals, *, const double[::1] baseline, continued, loss,
          int64_t n_outputs, list kinds, dict params, listener, int n_threads,
          judge=None, Places places=None, placed=None, past_losses=(), past=None, const int64_t[::1] groups=None):
    """Grow trees; returns their arrays, of each the kind, the sums of steps up to it (native/ensembles/boost.hpp)
    and the learning rate; then the baseline, the losses and alpha.

    ``train`` and those of ``evals`` are tuples ``(X, y, weight, initial)`` of arrays of shapes
    (n, d) float64 or float32, (n_targets, n), (n,) or None, (n_outputs, n) or None. ``kinds`` are the fields of
    ``native/oblique/params.hpp`` for each kind of tree, ``continued`` an ObliqueTrees or None.
    ``listener`` and ``judge`` are the functions of `core.Listener`.
    Of samples that are in many ``places`` these are those of one, ``placed`` says which:
    ``(blocks of train, list of blocks of evals, numbers of the rows in the sample)``.
    ``groups`` as for `oblique.grow`. ``past_losses`` are those that early stopping went by in the fit that this one continues;
    ``past`` the kinds and sums of steps of the trees of ``continued``.
    """
    check_size(len(train[0]))
    cdef ObliqueBoostingTask task
    task.train = samples_of(train)
    for arrays in evals:
        task.evals.push_back(samples_of(arrays))
    cdef RowBlocks train_blocks
    cdef vector[RowBlocks] eval_blocks
    cdef size_t i
    cdef vector[int64_t] sample_rows
    cdef unique_ptr[DistributedBoostingStatistics] statistics
    if placed is not None:
        train_blocks = blocks_of(placed[0])
        task.train.blocks = &train_blocks
        for blocks in placed[1]:
            eval_blocks.push_back(blocks_of(blocks))
        for i in range(eval_blocks.size()):
            task.evals[i].blocks = &eval_blocks[i]
        sample_rows = placed[2]
        statistics.reset(new DistributedBoostingStatistics(task.train, sample_rows))
        task.statistics = statistics.get()
    task.sizes.n_features = train[0].shape[1]
    task.sizes.n_targets = train[1].shape[0]
    task.sizes.n_outputs = n_outputs
    task.past_losses = past_losses
    if groups is not None:
        task.groups = &groups[0]
    shapes = [(n_outputs, arrays[1].shape[1]) for arrays in evals]
    cdef Listener holder = Listener(listener, judge, shapes)
    task.loss = holder.choice(loss)
    task.baseline = pointer_1d(baseline)
    cdef Trees before
    task.continued = NULL
    if continued is not None:
        before = Trees(continued)
        task.continued = &before.view
        task.past = rounds_of(past)
    cdef vector[ObliqueParams] native_kinds = kinds_of(kinds)
    cdef ObliqueBoostingParams native_params = params
    cdef Execution execution = execution_on(n_threads, places)
    cdef RoundListener native_listener = holder.native()
    cdef ObliqueBoostingResult result
    try:
        with nogil:
            result = boost_oblique(task, native_kinds, native_params, native_listener, execution)
    finally:
        holder.raise_error()
    if places is not None:
        places.take_in(&result.history)
    n_kept = max(result.history.best_iteration, 0)
    return (
        arrays_of(&result.trees),
        *arrays_of_rounds(result.rounds, n_kept, n_outputs),
        copied(result.baseline.data(), (n_outputs,)),
        np.array(result.history.train_loss, dtype=np.float64),
        np.array(result.history.eval_loss, dtype=np.float64),
        np.array(result.history.judged, dtype=np.float64),
        result.alpha,
    )


def count_varying(X, const double[::1] sample_weight):
    """How many columns vary, all where none does."""
    cdef Table table = table_of(X)
    cdef const double* weight = pointer_1d(sample_weight)
    cdef int64_t n_rows = X.shape[0]
    cdef Execution execution = execution_on(1)
    cdef vector[int64_t] columns
    with nogil:
        columns = varying_columns(table, weight, n_rows, execution)
    return columns.size()


def hash_samples(X, y):
    """Hashes (n, 2), uint64, of the features of samples and of these with the targets ``y`` (n_targets, n)."""
    cdef BoostedSamples samples = samples_of((X, y, None, None))
    cdef int64_t n_targets = y.shape[0]
    cdef SampleHashes found
    with nogil:
        found = c_hash_samples(samples, n_targets)
    hashes = np.empty((len(X), 2), dtype=np.uint64)
    cdef uint64_t[:, ::1] out = hashes
    cdef int64_t i
    for i in range(samples.n_samples):
        out[i, 0], out[i, 1] = found.features[i], found.all[i]
    return hashes


def are_coincidences(const uint64_t[:, :] hashes):
    """Whether equal samples, by `hash_samples`, are independent rather than copies."""
    cdef SampleHashes samples
    cdef int64_t i
    for i in range(hashes.shape[0]):
        samples.features.push_back(hashes[i, 0])
        samples.all.push_back(hashes[i, 1])
    return c_are_coincidences(samples, execution_on(1))


def grow_forest(X, y, sample_weight, *, list trees, list kinds, dict params, int n_threads,
                const int64_t[::1] groups=None):
    """Grow trees, pairs of a number and a place in ``kinds``; returns their arrays by name.

    ``X`` is (n, d), ``y`` (n, n_outputs), ``sample_weight`` (n,) or None; ``kinds`` are the fields of
    `ObliqueParams`, ``groups`` as for `oblique.grow`.
    """
    check_size(len(X))
    cdef TrainingData data = training_data(X, y, sample_weight)
    if groups is not None:
        data.groups = &groups[0]
    cdef vector[ForestTree] wanted
    for number, kind in trees:
        wanted.push_back(ForestTree(number, kind))
    cdef vector[ObliqueParams] native_kinds = kinds_of(kinds)
    cdef ObliqueForestParams native_params = params
    cdef Execution execution = execution_on(n_threads)
    cdef ObliqueTreesArrays grown
    with nogil:
        grown = c_grow_forest(data, wanted, native_kinds, native_params, execution)
    return arrays_of(&grown)


def sum_out_of_bag(X, y, sample_weight, trees, numbers, *, int64_t n_groups, double share, dict params, int n_threads):
    """Out-of-bag predictions: sums of the scores of the trees without each sample, and how many these are.

    Of about this share of the samples, 0 of the others. The arrays are those that the trees with these numbers were
    grown on; of groups of as many trees, one after the other, returns (n_groups, n, n_outputs) and (n_groups, n).
    """
    cdef TrainingData data = training_data(X, y, sample_weight)
    cdef vector[int64_t] native_numbers = numbers
    cdef ObliqueForestParams native_params = params
    cdef Trees native_trees = Trees(trees)
    cdef Execution execution = execution_on(n_threads)
    sums = np.zeros((n_groups, X.shape[0], y.shape[1]))
    counts = np.zeros((n_groups, X.shape[0]), dtype=np.int64)
    cdef double[:, :, ::1] scores = sums
    cdef int64_t[:, ::1] n_trees = counts
    with nogil:
        c_sum_out_of_bag(data, native_trees.view, native_numbers, native_params,
                         OutOfBagSums(share, n_groups, &scores[0, 0, 0], &n_trees[0, 0]), execution)
    return sums, counts


def add_trees(trees, int64_t first, int64_t last, cnp.ndarray X, cnp.ndarray scores, int n_threads):
    """Add the scores of trees ``first`` .. ``last - 1`` to ``scores`` (n, n_outputs), in place."""
    if X.shape[0] == 0 or first >= last:
        return
    cdef Trees native_trees = Trees(trees)
    cdef Execution execution = execution_on(n_threads)
    cdef TreeRange wanted = TreeRange(first, last)
    cdef ScoreSpan out
    out.scores = <double*>elements(scores, b"f", 2)
    out.row_stride = scores.shape[1]
    out.output_stride = 1
    cdef Table x = table_of(X)
    cdef int64_t n_rows = X.shape[0]
    with nogil:
        c_add_trees(native_trees.view, wanted, x, n_rows, out, execution)


def apply(trees, const double[:, ::1] X, int n_threads, bint over_all=False):
    """The leaf of each row in each tree, (n, n_trees) int64: node numbers within the tree, or leaves' numbers over all
    trees."""
    cdef Trees native_trees = Trees(trees)
    out = np.zeros((X.shape[0], native_trees.n_trees), dtype=np.int64)
    if out.size == 0:
        return out
    cdef int64_t[:, ::1] leaf = out
    cdef LeafNumbers numbers = LeafNumbers(&leaf[0, 0], over_all)
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_apply_trees(native_trees.view, native_trees.n_trees, &X[0, 0], X.shape[0], numbers,
                      execution)
    return out


cdef LeafErrors leaf_errors(const int64_t[:, ::1] leaf, const double[::1] weight,
                            const double[:, ::1] size) noexcept:
    cdef LeafErrors errors
    errors.leaf, errors.weight, errors.size = &leaf[0, 0], &weight[0], &size[0, 0]
    errors.n_samples, errors.n_trees, errors.n_outputs = leaf.shape[0], leaf.shape[1], size.shape[1]
    return errors


def add_leaf_errors(const int64_t[:, ::1] leaf, const double[::1] weight,
                    const double[:, ::1] size, double[:, ::1] leaf_sums, int n_threads):
    """Add the weights and weighted errors of samples to those of their leaves.

    ``leaf`` is (n, n_trees), ``size`` (n, K), ``leaf_sums`` (n_leaves, 1 + K).
    """
    cdef Execution execution = execution_on(n_threads)
    if leaf.shape[0] == 0:
        return
    cdef LeafErrors errors = leaf_errors(leaf, weight, size)
    with nogil:
        c_add_leaf_errors(errors, &leaf_sums[0, 0], execution)


def mean_scales(const int64_t[:, ::1] leaf, const double[::1] weight, const double[:, ::1] size,
                const double[:, ::1] leaf_sums, const double[::1] prior, int n_threads):
    """The mean scale of each sample's leaves without itself, (n, K); ``prior`` (1 + K) is added to
    the sums of a leaf."""
    cdef double[:, ::1] out = np.empty((size.shape[0], size.shape[1]))
    cdef Execution execution = execution_on(n_threads)
    if leaf.shape[0] == 0:
        return np.asarray(out)
    cdef LeafErrors errors = leaf_errors(leaf, weight, size)
    with nogil:
        c_mean_scales(errors, &leaf_sums[0, 0], &prior[0], &out[0, 0], execution)
    return np.asarray(out)
