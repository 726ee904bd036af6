# distutils: language = c++
"""Growing and evaluating symmetric trees: ``native/symmetric`` on NumPy arrays."""

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

from fctree._native.core cimport (
    Execution,
    Listener,
    Places,
    RoundListener,
    check_size,
    copied,
    execution_on,
    pointer,
    pointer_1d,
)

import numpy as np

cnp.import_array()


cdef FeatureMatrix matrix_of(X):
    """A view of a two-dimensional float32 or float64 array of any strides."""
    cdef FeatureMatrix matrix
    cdef cnp.ndarray array = X
    matrix.data = cnp.PyArray_DATA(array)
    matrix.n_samples = array.shape[0]
    matrix.n_features = array.shape[1]
    matrix.row_stride = array.strides[0] // array.itemsize
    matrix.column_stride = array.strides[1] // array.itemsize
    matrix.single_precision = array.itemsize == 4
    return matrix


cdef LabelledSamples samples_of(tuple arrays):
    """Of ``(X, y, weight, initial, raw)``, which have to outlive it; X and the numbers of first
    samples may be lists, ``(parts, y, weight, initial, raw, first)``."""
    X, y, weight, initial, raw, *first = arrays
    cdef LabelledSamples samples
    for part in X if first else [X]:
        samples.x.push_back(matrix_of(part))
    if first:
        samples.first_sample = first[0]
    samples.y = pointer(y)
    samples.weight = pointer_1d(weight)
    samples.initial = pointer(initial)
    samples.raw = pointer(raw)
    return samples


cdef SymmetricTreesView view_of(trees) except *:
    """Of the arrays of ``fctree.SymmetricTrees``, which has to outlive it."""
    cdef const int32_t[:, ::1] split_feature = trees.split_feature
    cdef const double[:, ::1] split_threshold = trees.split_threshold
    cdef const uint8_t[:, ::1] missing_right = trees.missing_right.view(np.uint8)
    cdef const double[:, :, ::1] leaf_values = trees.leaf_values
    cdef SymmetricTreesView view
    view.n_trees = split_feature.shape[0]
    view.max_depth = split_feature.shape[1]
    view.n_outputs = leaf_values.shape[2]
    if view.n_trees > 0:
        view.split_feature = &split_feature[0, 0]
        view.split_threshold = &split_threshold[0, 0]
        view.missing_right = &missing_right[0, 0]
        view.leaf_values = &leaf_values[0, 0, 0]
    return view


def find_thresholds(X, const double[::1] sample_weight, *, int64_t max_bins, uint64_t seed,
                    int n_threads):
    """Each feature's candidate thresholds, ascending, as a list of float64 arrays.

    ``X`` is a float32 or float64 array (n, d); ``sample_weight`` is (n,) or None.
    """
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef ThresholdRules rules
    rules.max_bins = max_bins
    rules.seed = seed
    cdef Execution execution = execution_on(n_threads)
    cdef const double* weight = pointer_1d(sample_weight)
    cdef CandidateThresholds found
    with nogil:
        found = c_find_thresholds(matrix, weight, rules, execution)
    values = copied(found.values.data(), (found.values.size(),))
    offsets = copied(found.offsets.data(), (found.offsets.size(),), np.int64)
    return np.split(values, offsets[1:len(offsets) - 1])


def quantile_rows(int64_t n_samples, uint64_t seed):
    """The rows that thresholds are quantiles of: all, or a fixed sample, ascending."""
    cdef vector[int64_t] rows = c_quantile_rows(n_samples, seed)
    return copied(rows.data(), (rows.size(),), np.int64)


def few_values(X, int64_t limit):
    """For each feature its distinct values, NaN last, or None where there are more than ``limit``."""
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef FewValues found
    cdef int64_t feature
    out = []
    for feature in range(X.shape[1]):
        with nogil:
            found = c_few_values(matrix, feature, limit)
        if found.too_many:
            out.append(None)
        else:
            values = np.array(<list>found.values, dtype=np.float64)
            out.append(np.append(values, np.nan) if found.has_missing else values)
    return out


cdef class Task:
    """A fit's samples and settings, which the native task points to.

    ``train`` and those of ``evals`` are tuples ``(X, y, weight, initial, raw)`` with arrays of
    shapes (n, d), (n_targets, n), (n,) or None, (n_outputs, n) or None twice.
    ``interactions`` is None or a tuple (columns (d,) int64, sets (n_sets, n_columns) uint8, the
    limit of a tree's columns or 0). ``past_losses`` are those that early stopping went by in the
    fit that this one continues.
    """

    cdef BoostingTask native
    cdef const double[::1] values
    cdef const int64_t[::1] offsets
    cdef object arrays

    def __init__(self, train, list evals, Listener listener, *, thresholds,
                 const int8_t[::1] monotone, const double[::1] baseline, loss, int64_t n_outputs,
                 int64_t first_iteration, int64_t min_rounds=0, past_losses=(), interactions=None):
        self.arrays = train, evals, listener, monotone, baseline, interactions
        self.values = np.concatenate([*thresholds, np.empty(0)])
        self.offsets = np.cumsum([0, *map(len, thresholds)], dtype=np.int64)
        self.native.train = samples_of(train)
        check_size(self.native.train.n_samples())
        for arrays in evals:
            self.native.evals.push_back(samples_of(arrays))
        self.native.thresholds = pointer_1d(self.values)
        self.native.offsets = &self.offsets[0]
        self.native.monotone = NULL
        if monotone is not None:
            self.native.monotone = &monotone[0]
        self.native.masked = NULL
        self.native.interactions.column = NULL
        if interactions is not None:
            columns, sets, max_columns = interactions
            self.limit_interactions(columns, sets, max_columns)
        self.native.baseline = pointer_1d(baseline)
        self.native.loss = listener.choice(loss)
        self.native.n_outputs = n_outputs
        self.native.first_iteration = first_iteration
        self.native.min_rounds = min_rounds
        self.native.past_losses = past_losses

    cdef limit_interactions(self, const int64_t[::1] columns, const uint8_t[:, ::1] sets,
                            int64_t max_columns):
        cdef InteractionRules* rules = &self.native.interactions
        rules.column = &columns[0]
        rules.n_sets, rules.n_columns = sets.shape[0], sets.shape[1]
        rules.sets = &sets[0, 0] if sets.shape[0] > 0 else NULL
        rules.max_columns = max_columns


def boost(train, list evals, *, dict params, listener, int n_threads, judge=None,
          Places places=None, **settings):
    """Grow trees; returns their arrays by name, the baseline, the losses of the rounds.

    ``settings`` are those of `Task`, ``listener`` and ``judge`` the functions of `core.Listener`.
    """
    shapes = [(settings["n_outputs"], arrays[1].shape[1]) for arrays in evals]
    cdef Listener holder = Listener(listener, judge, shapes)
    cdef Task task = Task(train, evals, holder, **settings)
    cdef BoostingParams native_params = params
    cdef Execution execution = execution_on(n_threads, places)
    cdef RoundListener native_listener = holder.native()
    cdef BoostingResult result
    try:
        with nogil:
            result = c_boost(task.native, native_params, native_listener, execution)
    finally:
        holder.raise_error()
    cdef SymmetricTreesArrays* trees = &result.trees
    if places is not None:
        places.take_in(&result.history)
    cdef int64_t n_outputs = task.native.n_outputs
    cdef int64_t n_trees = max(result.history.best_iteration, 0)
    result.trees.truncate(n_trees)
    splits = (n_trees, native_params.max_depth)
    arrays = {
        "split_feature": copied(trees.split_feature.data(), splits, np.int32),
        "split_threshold": copied(trees.split_threshold.data(), splits),
        "missing_right": copied(trees.missing_right.data(), splits, np.bool_),
        "split_gain": copied(trees.split_gain.data(), splits),
        "leaf_values": copied(trees.leaf_values.data(),
                              (n_trees, 1 << native_params.max_depth, n_outputs)),
    }
    return (
        arrays,
        copied(result.baseline.data(), (n_outputs,)),
        np.array(result.history.train_loss, dtype=np.float64),
        np.array(result.history.eval_loss, dtype=np.float64),
        np.array(result.history.judged, dtype=np.float64),
    )


def boost_masked(train, eval, test_x, *, const uint8_t[:, ::1] masked,
                 const double[::1] replacement, trees, dict params, listener, int n_threads,
                 **settings):
    """Grow a model for each mask, its columns replaced; arrays by name.

    ``train`` and ``eval`` are as for `boost`, without scores; ``test_x`` is (n_test, d),
    ``masked`` (n_masks, d), ``replacement`` (d,). ``trees`` is None, or those of the model to continue.
    ``listener(mask, 0.0, 0.0)`` is called for each mask that is done.
    """
    cdef Listener holder = Listener(listener)
    cdef Task boosting = Task(train, [] if eval is None else [eval], holder, **settings)
    cdef SymmetricTreesView view
    cdef MaskedTask task
    task.boosting = boosting.native
    task.trees = NULL
    if trees is not None:
        view = view_of(trees)
        task.trees = &view
    task.test = matrix_of(test_x)
    task.masked = &masked[0, 0]
    task.replacement = pointer_1d(replacement)
    task.n_masks = masked.shape[0]
    cdef BoostingParams native_params = params
    cdef Execution execution = execution_on(n_threads)
    cdef RoundListener native_listener = holder.native()
    cdef MaskedResult result
    with nogil:
        result = c_boost_masked(task, native_params, native_listener, execution)
    holder.raise_error()
    count = (task.n_masks,)
    return {
        "test_raw": copied(result.test_raw.data(),
                           (task.n_masks, test_x.shape[0], task.boosting.n_outputs)),
        "n_rounds": copied(result.n_rounds.data(), count, np.int64),
        "seconds": copied(result.seconds.data(), count),
    }


def largest_feature(const int32_t[:, ::1] split_feature):
    """The largest number of a feature that trees split by, -1 without one."""
    cdef Py_ssize_t tree, level
    cdef int32_t largest = -1
    for tree in range(split_feature.shape[0]):
        for level in range(split_feature.shape[1]):
            largest = max(largest, split_feature[tree, level])
    return largest


def add_trees(trees, X, double[:, ::1] scores, int n_threads):
    """Add each row's leaf values, tree by tree, to ``scores`` (n, n_outputs), in place."""
    cdef SymmetricTreesView view = view_of(trees)
    if X.shape[0] == 0 or view.n_trees == 0:
        return
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_add_trees(view, matrix, &scores[0, 0], execution)


def find_scores(trees, X, const double[::1] start, int n_threads):
    """``start`` (n_outputs,) and each row's leaf values, tree by tree: the scores (n, n_outputs), and whether
    all are finite."""
    cdef SymmetricTreesView view = view_of(trees)
    out = np.empty((X.shape[0], start.shape[0]))
    if X.shape[0] == 0 or view.n_trees == 0:
        out[:] = start
        return out, bool(np.isfinite(start).all())
    cdef double* scores = <double*>cnp.PyArray_DATA(<cnp.ndarray>out)
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef Execution execution = execution_on(n_threads)
    cdef bint finite
    with nogil:
        finite = c_find_scores(view, matrix, &start[0], scores, execution)
    return out, finite


def apply(trees, X, int n_threads):
    """The leaf of each row in each tree, (n, n_trees) int32."""
    cdef SymmetricTreesView view = view_of(trees)
    out = np.zeros((X.shape[0], view.n_trees), dtype=np.int32)
    if out.size == 0:
        return out
    cdef int32_t[:, ::1] leaf = out
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_apply_trees(view, matrix, &leaf[0, 0], execution)
    return out


def add_leaf_kernel(const uint16_t[:, ::1] leaf_x, const uint16_t[:, ::1] leaf_y,
                    const double[:, ::1] weight, double[:, ::1] kernel, int n_threads):
    """Adds ``weight[t, j]`` of the trees t in which a row of each side are in leaf j.

    ``leaf_x`` is (n_trees, n_x), ``leaf_y`` (n_trees, n_y), ``weight`` (n_trees, n_leaves), ``kernel`` (n_x, n_y).
    """
    if kernel.size == 0 or leaf_x.shape[0] == 0:
        return
    cdef LeafKernelTask task
    task.leaf_x = &leaf_x[0, 0]
    task.leaf_y = &leaf_y[0, 0]
    task.weight = &weight[0, 0]
    task.n_x = leaf_x.shape[1]
    task.n_y = leaf_y.shape[1]
    task.n_trees = leaf_x.shape[0]
    task.n_leaves = weight.shape[1]
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_add_leaf_kernel(task, &kernel[0, 0], execution)
