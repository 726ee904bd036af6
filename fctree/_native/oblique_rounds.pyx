# distutils: language = c++
"""Rounds of boosting oblique trees on rows that lie in several places: ``native/distributed/shard_boost``
and ``remote_rows`` on NumPy arrays.

``blocks`` are those of ``oblique_shards``; all sums have one row a piece.
"""

cimport numpy as cnp
from cython.operator cimport dereference
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool

from fctree._native.core cimport (
    Derivatives,
    Execution,
    NativeLoss,
    ScoredSamples,
    copied,
    execution_on,
    loss_choice,
    make_loss,
    pointer,
    pointer_1d,
    scored,
)
from fctree._native.ensembles cimport ObliqueTreesArrays, arrays_of
from fctree._native.oblique cimport ObliqueParams, TrainingData
from fctree._native.oblique_shards cimport ShardBlocks, blocks_of, flat, sums_of

import numpy as np

cnp.import_array()


cdef class Question:
    """What the core asks through while it grows a tree."""
    cdef object ask
    cdef object error


cdef argument_of(const StepArgument& argument):
    cdef vector[int64_t] shape = argument.shape
    if argument.integers.size():
        return copied(argument.integers.data(), tuple(shape), np.int64)
    return copied(argument.values.data(), tuple(shape))


cdef cbool ask_places(void* context, const string& step, const vector[StepArgument]& arguments,
                     vector[double]& answer) noexcept with gil:
    cdef Question question = <Question>context
    cdef const double[::1] values
    cdef Py_ssize_t i
    cdef string name = step
    try:
        step_name = name.decode("ascii")
        named = {}
        for i in range(<Py_ssize_t>arguments.size()):
            name = arguments[i].name
            named[name.decode("ascii")] = argument_of(arguments[i])
        found = question.ask(step_name, named)
        if found is not None:
            values = np.ascontiguousarray(found, dtype=np.float64).reshape(-1)
            answer.assign(&values[0], &values[0] + values.shape[0])
    except BaseException as error:  # Ctrl-C among them
        question.error = error
        return False
    return True


cdef class GrownTree:
    """A tree as the core grew it, on mapped features and unbounded."""
    cdef ObliqueTreeArrays tree

    @property
    def alpha(self):
        return self.tree.alpha

    def shrink(self, double l2_leaf_reg):
        """Draws the leaves' mean scores to 0."""
        shrink_leaves(l2_leaf_reg, self.tree)

    def arrays(self):
        """What decides a row's score: the arguments of `leaf_ranges`."""
        cdef Py_ssize_t n_nodes = self.tree.children_left.size()
        cdef Py_ssize_t d = self.tree.n_features, n_outputs = self.tree.n_outputs
        cdef Py_ssize_t n_leaves = self.tree.leaf_intercept.size() // n_outputs
        coef = None
        if self.tree.leaf_coef.size():
            coef = copied(self.tree.leaf_coef.data(), (n_leaves, n_outputs, d))
        return {
            "children_left": copied(self.tree.children_left.data(), (n_nodes,), np.int64),
            "children_right": copied(self.tree.children_right.data(), (n_nodes,), np.int64),
            "threshold": copied(self.tree.threshold.data(), (n_nodes,)),
            "coef": copied(self.tree.coef.data(), (n_nodes, d)),
            "leaf_index": copied(self.tree.leaf_index.data(), (n_nodes,), np.int64),
            "leaf_coef": coef,
            "leaf_intercept": copied(self.tree.leaf_intercept.data(), (n_leaves, n_outputs)),
        }

    def finish(self, const double[::1] ranges, feature_map, *, tuple loss, double extrapolation,
               double factor):
        """The arrays of an ``ObliqueTrees`` of this tree alone, times ``factor``.

        ``ranges`` are the largest values of `leaf_ranges` over all rows, ``feature_map`` is
        ``(columns, mean, scale)``.
        """
        cdef MapArrays native_map = map_of(feature_map)
        cdef BoundRules rules
        rules.extrapolation = extrapolation
        cdef unique_ptr[NativeLoss] native_loss = make_loss(loss_choice(loss), self.tree.n_outputs)
        rules.largest_step = largest_step(dereference(native_loss))
        cdef ObliqueTreesArrays one = c_finish_tree(self.tree, &ranges[0], rules, native_map,
                                                    factor)
        return arrays_of(&one)


def sorts_axes(dict params):
    """Whether a tree with these parameters needs bins of the features."""
    cdef ObliqueParams native_params = params
    return c_sorts_axes(native_params)


cdef class Bins:
    """Bins of the mapped features ``x`` of a sample; `thresholds` are between them, float64
    (width, n - 1), filled up with infinity."""
    cdef unique_ptr[FeatureBins] native
    cdef readonly object thresholds

    def __init__(self, const double[:, ::1] x, feature_map, int n_threads):
        cdef Execution execution = execution_on(n_threads)
        cdef Vector offset = offset_of(feature_map_of(map_of(feature_map)))
        cdef const double* data = pointer(x)
        with nogil:
            self.native.reset(new FeatureBins(data, x.shape[0], offset, execution))
        cdef const FeatureBins* bins = self.native.get()
        shape = (x.shape[1], bins.n_bins() - 1)
        self.thresholds = copied(bins.thresholds().data(), shape)


def find_bins(const double[:, ::1] x, const double[:, ::1] thresholds, int n_threads):
    """The bin, uint8, of each number of x (n, width)."""
    out = np.empty((x.shape[0], x.shape[1]), dtype=np.uint8)
    if out.size == 0:
        return out
    cdef uint8_t[:, ::1] view = out
    cdef const double* data = pointer(x)
    cdef const double* cuts = pointer(thresholds)
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_find_bins(data, x.shape[0], x.shape[1], cuts, thresholds.shape[1], &view[0, 0],
                    execution)
    return out


def term_units(exponents, int64_t n_samples):
    """What 1 stands for in `bin_sums`, of the weight and of each output, (1 + K,)."""
    cdef TermScale scale
    scale.exponent = exponents
    scale.n_samples = n_samples
    return np.array(c_term_units(scale))


def grow(sample, int64_t n_samples, *, dict params, tuple feature_map, ask, Bins bins,
         int n_threads):
    """Grow a tree on ``n_samples`` rows that are elsewhere, their features mapped.

    ``sample`` is ``(x, y, weight)`` of some of them; ``ask(step, arguments)`` is the joined answer of
    all places to a step of `NodeRows`; ``bins`` is None unless `sorts_axes`.
    """
    x, y, weight = sample
    cdef const double[:, ::1] x_view = x
    cdef const double[:, ::1] y_view = y
    cdef const double[::1] weight_view = weight
    cdef TrainingData data
    data.x = pointer(x_view)
    data.y = pointer(y_view)
    data.weight = pointer_1d(weight_view)
    data.n_samples = x.shape[0]
    data.n_features = x.shape[1]
    data.n_outputs = y.shape[1]
    cdef ObliqueParams native_params = params
    cdef Question question = Question()
    question.ask = ask
    cdef Asker asker
    asker.ask = ask_places
    asker.context = <void*>question
    cdef Execution execution = execution_on(n_threads)
    cdef unique_ptr[DistributedStatistics] rows
    cdef const FeatureBins* native_bins = NULL
    if bins is not None:
        native_bins = bins.native.get()
    rows.reset(new DistributedStatistics(data, n_samples, asker, native_bins))
    dereference(rows).set_offset(offset_of(feature_map_of(map_of(feature_map))))
    cdef GrownTree grown = GrownTree()
    try:
        with nogil:
            grown.tree = grow_tree_of(dereference(rows), data, native_params, execution)
    except BaseException:
        if question.error is not None:
            raise question.error
        raise
    return grown


cdef MapArrays map_of(tuple feature_map) except *:
    cdef const int64_t[::1] columns = feature_map[0]
    cdef MapArrays out
    out.columns = &columns[0]
    out.width = columns.shape[0]
    out.mean = flat(feature_map[1])
    out.scale = flat(feature_map[2])
    out.n_features = len(feature_map[1])
    return out


def map_features(const double[:, ::1] X, feature_map, int n_threads):
    """The features (n, width) that a tree is grown on."""
    cdef MapArrays arrays = map_of(feature_map)
    cdef FeatureMap native_map = feature_map_of(arrays)
    out = np.empty((X.shape[0], arrays.width))
    if X.shape[0] == 0:
        return out
    cdef double[:, ::1] view = out
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        c_map_features(native_map, &X[0, 0], X.shape[0], X.shape[1], &view[0, 0], execution)
    return out


def mean_and_scale(const double[::1] sums, const double[::1] largest, const double[::1] first):
    """Means and scales, (d,) each, of the joined `feature_sums`."""
    cdef int64_t d = first.shape[0]
    cdef vector[double] found = c_mean_and_scale(&sums[0], &largest[0], &first[0], d)
    both = copied(found.data(), (2, d))
    return both[0].copy(), both[1].copy()


def draw_columns(seed, int64_t iteration, double share, int64_t n_features):
    """The features of a round, int64, ascending."""
    cdef vector[int64_t] found = c_draw_columns(seed, iteration, share, n_features)
    return copied(found.data(), (found.size(),), np.int64)


def hash_samples(const double[:, ::1] X, const double[:, ::1] y):
    """What rows are drawn by, uint64 (n,); y is (n_targets, n)."""
    cdef const double* x_data = pointer(X)
    cdef const double* y_data = pointer(y)
    cdef vector[uint64_t] found
    with nogil:
        found = c_hash_samples(x_data, y_data, X.shape[0], X.shape[1], y.shape[0])
    return copied(found.data(), (found.size(),), np.uint64)


def draw_part(const uint64_t[::1] hashes, seed, int64_t tree, double fraction):
    """Which rows a round takes, uint8 (n,)."""
    drawn = np.zeros(hashes.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] view = drawn
    cdef PartDraw draw
    draw.seed = seed
    draw.tree = tree
    draw.fraction = fraction
    with nogil:
        draw_hashed(&hashes[0], hashes.shape[0], draw, &view[0])
    return drawn


cdef Derivatives derivatives_of(derivatives) except *:
    cdef double[:, ::1] gradient = derivatives[0]
    cdef double[:, ::1] hessian
    cdef Derivatives out
    out.gradient = &gradient[0, 0]
    out.hessian = NULL
    if derivatives[1] is not None:
        hessian = derivatives[1]
        out.hessian = &hessian[0, 0]
    return out


def losses(tuple loss, y, raw, weight, derivatives, tuple blocks, int n_threads):
    """Sums of weight * loss; writes ``derivatives``, (gradient, hessian or None), if not None.

    y is (n_targets, n), raw (n_outputs, n).
    """
    cdef ScoredSamples samples = scored(y, raw, weight)
    cdef ShardBlocks native_blocks = blocks_of(blocks)
    cdef Derivatives out
    cdef const Derivatives* wanted = NULL
    if derivatives is not None:
        out = derivatives_of(derivatives)
        wanted = &out
    cdef Execution execution = execution_on(n_threads)
    cdef unique_ptr[NativeLoss] native_loss = make_loss(loss_choice(loss), samples.n_outputs)
    cdef vector[double] found
    with nogil:
        found = shard_losses(dereference(native_loss), samples, wanted, native_blocks, execution)
    return sums_of(found, native_blocks)


def left_out_losses(tuple loss, y, raw, weight, const uint8_t[::1] in_bag, tuple blocks,
                    int n_threads):
    """The same of the rows that are not in the bag."""
    cdef ScoredSamples samples = scored(y, raw, weight)
    cdef ShardBlocks native_blocks = blocks_of(blocks)
    cdef Execution execution = execution_on(n_threads)
    cdef unique_ptr[NativeLoss] native_loss = make_loss(loss_choice(loss), samples.n_outputs)
    cdef vector[double] found
    with nogil:
        found = shard_left_out_losses(dereference(native_loss), samples, &in_bag[0],
                                      native_blocks, execution)
    return sums_of(found, native_blocks)


def working_response(tuple loss, y, raw, weight, derivatives, const uint8_t[::1] in_bag,
                     int n_threads):
    """Targets (n, n_outputs) and weights (n,) of a round's least-squares problem."""
    cdef ScoredSamples samples = scored(y, raw, weight)
    cdef Derivatives given = derivatives_of(derivatives)
    cdef const uint8_t* bag = NULL
    if in_bag is not None:
        bag = &in_bag[0]
    cdef Execution execution = execution_on(n_threads)
    cdef unique_ptr[NativeLoss] native_loss = make_loss(loss_choice(loss), samples.n_outputs)
    cdef WorkingResponse response
    with nogil:
        find_working_response(dereference(native_loss), samples, given, bag, response, execution)
    n, n_outputs = raw.shape[1], raw.shape[0]
    return (copied(response.target.data(), (n, n_outputs)), copied(response.weight.data(), (n,)))


def weighted_sums(const double[:, ::1] values, const double[::1] weight, tuple blocks,
                  int n_threads):
    """The weight, and the weighted sums of the rows of ``values`` (m, n): (n_pieces, 1 + m)."""
    cdef ShardBlocks native_blocks = blocks_of(blocks)
    cdef Execution execution = execution_on(n_threads)
    cdef const double* data = pointer(values)
    cdef const double* weight_data = pointer_1d(weight)
    cdef vector[double] found
    with nogil:
        found = shard_weighted_sums(data, values.shape[0], weight_data, values.shape[1],
                                    native_blocks, execution)
    return sums_of(found, native_blocks)


def feature_sums(const double[:, ::1] X, const double[::1] weight, const double[::1] first,
                 tuple blocks, int n_threads):
    """Sums about ``first``, (n_pieces, 1 + 2 d), and the largest absolute values, (d,)."""
    cdef ShardBlocks native_blocks = blocks_of(blocks)
    cdef int64_t d = X.shape[1]
    cdef Vector about = Vector(VectorView(&first[0], d))
    cdef Execution execution = execution_on(n_threads)
    cdef const double* data = pointer(X)
    cdef const double* weight_data = pointer_1d(weight)
    cdef vector[double] found
    with nogil:
        found = shard_feature_sums(data, weight_data, X.shape[0], about, native_blocks,
                                   execution)
    values = copied(found.data(), (found.size(),))
    n_sums = values.size - d
    return values[:n_sums].reshape(native_blocks.pieces.size(), -1), values[n_sums:]


def leaf_ranges(tree, const double[:, ::1] X, const double[::1] weight, int n_threads):
    """The largest -score and score of each leaf over the rows with a weight: one array."""
    cdef const int64_t[::1] left = tree["children_left"]
    cdef const int64_t[::1] right = tree["children_right"]
    cdef const int64_t[::1] leaf_index = tree["leaf_index"]
    cdef TreeArrays arrays
    arrays.children_left = &left[0]
    arrays.children_right = &right[0]
    arrays.threshold = flat(tree["threshold"])
    arrays.coef = flat(tree["coef"])
    arrays.leaf_index = &leaf_index[0]
    arrays.leaf_coef = NULL
    if tree["leaf_coef"] is not None:
        arrays.leaf_coef = flat(tree["leaf_coef"])
    arrays.leaf_intercept = flat(tree["leaf_intercept"])
    arrays.n_nodes = left.shape[0]
    arrays.n_leaves, arrays.n_outputs = tree["leaf_intercept"].shape
    arrays.n_features = X.shape[1]
    cdef Execution execution = execution_on(n_threads)
    cdef const double* data = pointer(X)
    cdef const double* weight_data = pointer_1d(weight)
    cdef vector[double] found
    with nogil:
        found = shard_leaf_ranges(arrays, data, weight_data, X.shape[0], execution)
    return copied(found.data(), (found.size(),))
