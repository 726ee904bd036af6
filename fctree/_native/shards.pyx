# distutils: language = c++
"""Boosting on rows that lie in several places: ``native/symmetric/shard`` on NumPy arrays.

A shard's features are one array of bin codes (`bin_rows`), which `join_codes` of
``fctree.dask`` puts together from parts; ``shape`` is ``(n_cuts, has_missing)``, int64 and uint8
of shape (d,), the same for all shards.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from fctree._native.symmetric cimport BoostingParams, FeatureMatrix, ScoreNoise, matrix_of
from fctree._native.core cimport (
    Derivatives,
    Execution,
    LossChoice,
    ScoredSamples,
    copied,
    execution_on,
    loss_choice,
    pointer,
    pointer_1d,
)

import numpy as np

cnp.import_array()


cdef ShardShape shape_of(tuple shape) except *:
    cdef ShardShape out
    for n in shape[0]:
        out.n_cuts.push_back(n)
    for flag in shape[1]:
        out.has_missing.push_back(flag)
    return out


cdef ShardUnits units_of(tuple units) except *:
    cdef ShardUnits out
    out.count_bits = units[0]
    out.weight = units[1]
    for unit in units[2]:
        out.gradient.push_back(unit)
    return out


cdef LevelSplit split_of(tuple split) except *:
    cdef LevelSplit out
    out.feature, out.code, out.missing_right, out.gain = split
    return out


cdef vector[LevelSplit] splits_of(list splits) except *:
    cdef vector[LevelSplit] out
    for split in splits:
        out.push_back(split_of(split))
    return out


cdef SumScales scales_of(tuple scales) except *:
    cdef SumScales out
    for e in scales[0]:
        out.gradient.push_back(e)
    for e in scales[1]:
        out.hessian.push_back(e)
    out.n_samples = scales[2]
    return out


cdef LeafAssignment leaves_of(const uint16_t[::1] leaf, const uint8_t[::1] in_bag,
                              int64_t n_leaves) noexcept:
    cdef LeafAssignment out
    out.leaf = &leaf[0]
    out.in_bag = NULL
    if in_bag is not None:
        out.in_bag = &in_bag[0]
    out.n_leaves = n_leaves
    return out


def bin_rows(X, thresholds, int n_threads):
    """The codes of the rows, uint8 (n d,), group by group of features, and which features miss
    values, uint8 (d,)."""
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef const double[::1] values = np.concatenate([*thresholds, np.empty(0)])
    cdef const int64_t[::1] offsets = np.cumsum([0, *map(len, thresholds)], dtype=np.int64)
    codes = np.empty(X.shape[0] * X.shape[1], dtype=np.uint8)
    missing = np.zeros(X.shape[1], dtype=np.uint8)
    if X.shape[0] == 0:
        return codes, missing
    cdef uint8_t[::1] codes_view = codes
    cdef uint8_t[::1] missing_view = missing
    cdef Execution execution = execution_on(n_threads)
    cdef const double* value_data = pointer_1d(values)
    with nogil:
        bin_shard(matrix, value_data, &offsets[0], &codes_view[0], &missing_view[0], execution)
    return codes, missing


def evaluate(tuple loss, const double[:, ::1] y, const double[:, ::1] raw,
             const double[::1] weight, derivatives, int n_threads):
    """The sum of weight * loss over the rows; writes the derivatives if given.

    ``derivatives`` is ``(gradient, hessian or None)``, both (n_outputs, n). With them the result
    is ``(loss, counts, hessian_largest, square_largest)``: how many of the weighted gradients have
    which exponent (n_outputs, 2048), and the largest exponents of the weighted hessians and of
    the squares' terms.
    """
    cdef ScoredSamples samples
    samples.y = pointer(y)
    samples.raw = pointer(raw)
    samples.weight = pointer_1d(weight)
    samples.n_samples = raw.shape[1]
    samples.n_outputs = raw.shape[0]
    cdef Derivatives out
    out.gradient = NULL
    out.hessian = NULL
    cdef double[:, ::1] gradient, hessian
    if derivatives is not None:
        gradient = derivatives[0]
        out.gradient = &gradient[0, 0]
        if derivatives[1] is not None:
            hessian = derivatives[1]
            out.hessian = &hessian[0, 0]
    cdef Execution execution = execution_on(n_threads)
    cdef ShardEvaluation found
    cdef LossChoice choice = loss_choice(loss)
    with nogil:
        found = evaluate_shard(choice, samples, out, execution)
    if derivatives is None:
        return found.loss
    counts = copied(found.counts.data(), (found.counts.size(),), np.int64).reshape(raw.shape[0], -1)
    return found.loss, counts, list(found.hessian_largest), found.square_largest


cdef class ShardRows:
    """The rows of a shard, in the order of the leaves of the tree that is being grown."""

    cdef unique_ptr[Shard] shard
    cdef tuple held  # arrays that the shard reads

    def __init__(self, tuple shape, const uint8_t[::1] codes, const double[::1] weight,
                 int64_t n_samples, int64_t max_depth):
        self.held = (codes, weight, None, None)
        self.shard = make_shard(shape_of(shape), n_samples, &codes[0], pointer_1d(weight),
                                max_depth)

    def start(self, tuple units, const double[:, ::1] gradient, const uint8_t[::1] in_bag,
              int n_threads):
        """A new tree for these gradients (n_outputs, n), of all rows or of those in the bag."""
        self.held = (*self.held[:2], gradient, in_bag)
        cdef ShardUnits native_units = units_of(units)
        cdef const double* gradient_data = pointer(gradient)
        cdef const uint8_t* bag_data = NULL
        if in_bag is not None:
            bag_data = &in_bag[0]
        cdef Execution execution = execution_on(n_threads)
        with nogil:
            self.shard.get().start(gradient_data, native_units, bag_data, execution)

    def split(self, tuple split, int n_threads):
        """Sends every row to a child of its leaf."""
        cdef LevelSplit native_split = split_of(split)
        cdef Execution execution = execution_on(n_threads)
        with nogil:
            self.shard.get().split(native_split, execution)

    def count(self, smaller_is_right, int n_threads):
        """The histograms of the leaves that a level counts, int64."""
        cdef vector[uint8_t] smaller = smaller_is_right
        cdef Execution execution = execution_on(n_threads)
        out = np.empty(self.shard.get().n_cells(smaller.size()), dtype=np.int64)
        cdef int64_t[::1] cells = out
        with nogil:
            self.shard.get().count(smaller, &cells[0], execution)
        return out

    def find_leaves(self, list splits, uint16_t[::1] leaf, int n_threads):
        """Writes the leaf below these splits of every row."""
        cdef vector[LevelSplit] native_splits = splits_of(splits)
        cdef Execution execution = execution_on(n_threads)
        with nogil:
            find_shard_leaves(self.shard.get()[0], native_splits, &leaf[0], execution)


cdef class LevelChooser:
    """Chooses the splits of trees, level by level, from the sums of the shards' counts."""

    cdef unique_ptr[Chooser] chooser
    cdef object held  # the array that the chooser reads

    def __init__(self, tuple shape, const int8_t[::1] monotone, dict params):
        cdef BoostingParams native_params = params
        cdef const int8_t* directions = NULL
        if monotone is not None:
            directions = &monotone[0]
        self.held = monotone
        self.chooser = make_chooser(shape_of(shape), native_params, directions)

    def start(self, tuple units, tuple noise):
        """A new tree; ``noise`` is ``(iteration, gradient_rms, total_weight)``."""
        cdef NoiseScale scale
        scale.iteration, scale.gradient_rms, scale.total_weight = noise
        self.chooser.get().start(units_of(units), scale)

    def choose(self, const int64_t[::1] counted, int n_threads):
        """``(split or None, smaller_is_right)`` of the next level."""
        cdef Execution execution = execution_on(n_threads)
        cdef LevelChoice chosen
        with nogil:
            chosen = self.chooser.get().choose(&counted[0], execution)
        if not chosen.split.has_value():
            return None, []
        cdef LevelSplit found = chosen.split.value()
        split = (found.feature, found.code, found.missing_right, found.gain)
        return split, list(chosen.smaller_is_right)


def add_tree(double[:, ::1] raw, const double[::1] origin, double keep,
             const uint16_t[::1] leaf, const double[:, ::1] values, int n_threads):
    """Adds leaf values (n_leaves, n_outputs) to scores (n_outputs, n) that are kept in part."""
    cdef ShardStep step
    step.leaf = &leaf[0]
    step.values = &values[0, 0]
    step.origin = &origin[0]
    step.n_outputs = raw.shape[0]
    step.keep = keep
    cdef Execution execution = execution_on(n_threads)
    with nogil:
        add_step(step, &raw[0, 0], raw.shape[1], execution)


def sum_squares(const double[:, ::1] gradient, const double[::1] weight, int largest,
                int64_t n_terms, int n_threads):
    """The two words of the sum of w g^2 over all rows and outputs, int64 (2,)."""
    cdef ScoredSamples samples
    samples.y = NULL
    samples.raw = NULL
    samples.weight = pointer_1d(weight)
    samples.n_samples = gradient.shape[1]
    samples.n_outputs = gradient.shape[0]
    cdef const double* data = pointer(gradient)
    cdef Execution execution = execution_on(n_threads)
    cdef TwoWords sum
    with nogil:
        sum = sum_shard_squares(samples, data, largest, n_terms, execution)
    return np.array([sum.high, sum.low], dtype=np.int64)


def sum_leaves(const double[:, ::1] gradient, const double[:, ::1] hessian,
               const double[::1] weight, const uint16_t[::1] leaf, const uint8_t[::1] in_bag,
               int64_t n_leaves, tuple scales, int n_threads):
    """Fixed-point sums of w g and w h over each leaf's rows, int64 (n_leaves, n_outputs, 2, 2).

    ``scales`` is ``(gradient_largest, hessian_largest, n)``: the largest exponents, an output
    each, and the number of rows of all shards.
    """
    cdef ScoredSamples samples
    samples.y = NULL
    samples.raw = NULL
    samples.weight = pointer_1d(weight)
    samples.n_samples = leaf.shape[0]
    samples.n_outputs = gradient.shape[0]
    cdef Derivatives derivatives
    derivatives.gradient = <double*>pointer(gradient)
    derivatives.hessian = <double*>pointer(hessian)
    cdef LeafAssignment leaves = leaves_of(leaf, in_bag, n_leaves)
    cdef SumScales native_scales = scales_of(scales)
    cdef Execution execution = execution_on(n_threads)
    cdef vector[int64_t] sums
    with nogil:
        sums = sum_shard(samples, derivatives, leaves, native_scales, execution)
    return copied(sums.data(), (sums.size(),), np.int64).reshape(n_leaves, gradient.shape[0], 2, 2)


def leaf_values(tuple loss, const int64_t[:, :, :, ::1] sums, tuple scales, dict params,
                const int8_t[::1] monotone, list splits, parts_missing):
    """The leaf values that these sums give, the learning rate included, (n_leaves, n_outputs)."""
    cdef vector[int64_t] words = np.ravel(sums)
    cdef SumScales native_scales = scales_of(scales)
    cdef BoostingParams native_params = params
    cdef vector[LevelSplit] native_splits = splits_of(splits)
    cdef vector[uint8_t] missing = parts_missing
    cdef const int8_t* directions = NULL
    if monotone is not None:
        directions = &monotone[0]
    cdef vector[double] values = leaf_step(loss_choice(loss), words, native_scales, native_params,
                                           directions, native_splits, missing)
    return np.array(values).reshape(sums.shape[0], sums.shape[1])


def fixed_point_value(int largest_exponent, int64_t n, int64_t high, int64_t low):
    """The number that two words of a sum stand for."""
    return fixed_value(largest_exponent, n, high, low)


def exponent_bound(const int64_t[::1] counts):
    """A bound on a sum of magnitudes from how many have which exponent (2048,)."""
    return bound_of(&counts[0])


def channel_unit(double total, int64_t n):
    """The unit of a histogram channel of n samples whose magnitudes sum up to this."""
    return c_channel_unit(total, c_count_bits(n))


def count_bits(int64_t n):
    """Bits of a channel that count up to n samples."""
    return c_count_bits(n)


GUMBEL = ScoreNoise.gumbel


def baseline(tuple loss, const double[::1] means):
    """The starting scores that follow from the targets' means."""
    out = np.empty(means.shape[0])
    cdef double[::1] view = out
    mean_baseline(loss_choice(loss), &means[0], means.shape[0], &view[0])
    return out


def draw_rows(uint64_t seed, double subsample, int64_t iteration, int64_t begin, int64_t n):
    """Which of rows begin .. begin + n of all are in the bag of an iteration, uint8 (n,)."""
    out = np.empty(n, dtype=np.uint8)
    cdef uint8_t[::1] view = out
    if n:
        draw_bag(seed, subsample, iteration, begin, n, &view[0])
    return out


def quantile_rows(int64_t n_samples, uint64_t seed):
    """The rows that thresholds are quantiles of: all, or a fixed sample, ascending."""
    cdef vector[int64_t] rows = c_quantile_rows(n_samples, seed)
    return copied(rows.data(), (rows.size(),), np.int64)


def few_values(X, const double[::1] weight, int64_t limit):
    """For each feature its distinct values, NaN last, or None where there are more than ``limit``."""
    cdef FeatureMatrix matrix = matrix_of(X)
    cdef const double* weights = pointer_1d(weight)
    cdef FewValues found
    cdef int64_t feature
    out = []
    for feature in range(X.shape[1]):
        with nogil:
            found = c_few_values(matrix, weights, feature, limit)
        if found.too_many:
            out.append(None)
        else:
            values = np.array(<list>found.values, dtype=np.float64)
            out.append(np.append(values, np.nan) if found.has_missing else values)
    return out
