# distutils: language = c++
"""Growing oblique trees on rows that lie in several places, what each place does:
``native/distributed/shard_*`` on NumPy arrays.

A place has whole blocks of rows, described by ``blocks``: ``(rows of a block, first block, number of
blocks, pieces)``, pieces int64 (n_pieces, 2); all sums have one row a piece.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from fctree._native.core cimport Execution, copied, execution_on, pointer, pointer_1d

import numpy as np

cnp.import_array()


cdef ShardBlocks blocks_of(tuple blocks) except *:
    cdef ShardBlocks out
    cdef Piece piece
    out.block_rows, out.first, out.n_blocks, pieces = blocks
    for begin, size in pieces:
        piece.begin = begin
        piece.size = size
        out.pieces.push_back(piece)
    return out


cdef sums_of(const vector[double]& values, const ShardBlocks& blocks):
    """As one row a piece."""
    found = copied(values.data(), (values.size(),))
    return found.reshape(blocks.pieces.size(), -1)


cdef const double* flat(values) except? NULL:
    """The values of a contiguous float64 array of any shape, which has to outlive them."""
    cdef const double[::1] view = values.reshape(-1)
    return pointer_1d(view)


cdef NodeList list_of(const int64_t[::1] nodes) noexcept:
    cdef NodeList out
    out.node = &nodes[0]
    out.size = nodes.shape[0]
    return out


cdef Directions directions_of(const int64_t[::1] axis, direction, threshold) except *:
    cdef Directions out
    out.axis = &axis[0]
    out.direction = flat(direction)
    out.threshold = flat(threshold)
    out.n_thresholds = threshold.shape[1]
    return out


cdef class NodeRows:
    """The rows of a place while a tree grows, and the node that each is in.

    The methods are the steps of ``native/distributed/shard_steps.hpp``, named as `grow` asks for
    them; arrays have the shapes that are stated there.
    """
    cdef ShardRows rows
    cdef Execution execution
    cdef BinnedSamples binned
    cdef object held
    cdef object node
    cdef object bins

    def __init__(self, const double[:, ::1] x, const double[:, ::1] y, const double[::1] weight,
                 tuple blocks, int n_threads):
        self.held = (x, y, weight)
        self.rows.data.x = pointer(x)
        self.rows.data.y = pointer(y)
        self.rows.data.weight = pointer_1d(weight)
        self.rows.data.n_samples = x.shape[0]
        self.rows.data.n_features = x.shape[1]
        self.rows.data.n_outputs = y.shape[1]
        self.rows.blocks = blocks_of(blocks)
        self.execution = execution_on(n_threads)
        self.node = np.where(np.asarray(weight) > 0.0, 0, -1).astype(np.int32)
        self._group(1)

    def bin(self, const uint8_t[:, ::1] bins, int64_t n_bins, exponents, int64_t n_samples):
        """Makes ready for `bin_sums`: ``bins`` of `find_bins`, the exponents of `term_units`."""
        cdef TermScale scale
        scale.exponent = exponents
        scale.n_samples = n_samples
        self.bins = bins
        self.binned.bins = &bins[0, 0]
        self.binned.n_bins = n_bins
        self.binned.n_features = bins.shape[1]
        self.binned.n_terms = 1 + self.rows.data.n_outputs
        with nogil:
            self.binned.terms = fixed_terms(self.rows.data, scale)

    def _group(self, int64_t n_nodes):
        cdef const int32_t[::1] node = self.node
        order = np.empty(len(self.node), dtype=np.int32)
        offsets = np.empty((self.rows.blocks.n_blocks, n_nodes + 1), dtype=np.int64)
        cdef int32_t[::1] order_view = order
        cdef int64_t[:, ::1] offsets_view = offsets
        with nogil:
            c_group_rows(&node[0], node.shape[0], n_nodes, self.rows.blocks, &order_view[0],
                         &offsets_view[0, 0])
        self.rows.nodes.rows = &order_view[0]
        self.rows.nodes.offsets = &offsets_view[0, 0]
        self.rows.nodes.n_nodes = n_nodes
        self.held = (*self.held[:3], order, offsets)

    def part(self, nodes, axis, direction, threshold):
        cdef NodeList splits = list_of(nodes)
        cdef Directions cuts = directions_of(axis, direction, threshold)
        node = np.empty(len(self.node), dtype=np.int32)
        cdef int32_t[::1] out = node
        with nogil:
            shard_part(self.rows, splits, cuts, &out[0], self.execution)
        self.node = node
        self._group(2 * len(nodes))

    def products(self, nodes, shift):
        cdef NodeList list = list_of(nodes)
        cdef const double* about = flat(shift)
        cdef vector[double] found
        with nogil:
            found = shard_products(self.rows, list, about, self.execution)
        return sums_of(found, self.rows.blocks)

    def diagonals(self, nodes, shift):
        cdef NodeList list = list_of(nodes)
        cdef const double* about = flat(shift)
        cdef vector[double] found
        with nogil:
            found = shard_diagonals(self.rows, list, about, self.execution)
        return sums_of(found, self.rows.blocks)

    def target_diagonals(self, nodes, shift):
        """`diagonals` of the targets alone."""
        cdef NodeList list = list_of(nodes)
        cdef const double* about = flat(shift)
        cdef ShardRows targets = self.rows
        targets.data.n_features = 0
        cdef vector[double] found
        with nogil:
            found = shard_diagonals(targets, list, about, self.execution)
        return sums_of(found, self.rows.blocks)

    def residual_products(self, nodes, mean, coef, intercept):
        cdef NodeList list = list_of(nodes)
        cdef const double* about = flat(mean)
        cdef NodeModels models
        models.coef = flat(coef)
        models.intercept = flat(intercept)
        cdef vector[double] found
        with nogil:
            found = shard_residual_products(self.rows, list, about, models, self.execution)
        return sums_of(found, self.rows.blocks)

    def ranges(self, nodes):
        cdef NodeList list = list_of(nodes)
        cdef vector[double] found
        with nogil:
            found = shard_ranges(self.rows, list, self.execution)
        return copied(found.data(), (found.size(),))

    def heaviest(self, nodes):
        cdef NodeList list = list_of(nodes)
        cdef vector[double] found
        with nogil:
            found = shard_heaviest(self.rows, list)
        return copied(found.data(), (len(nodes), found.size() // len(nodes)))

    def screening(self, nodes, coef, intercept, column, centre, scale, range):
        cdef NodeList list = list_of(nodes)
        cdef NodeModels models
        models.coef = flat(coef)
        models.intercept = flat(intercept)
        cdef vector[FeatureRange] ranges = ranges_of(flat(range), range.size // 4)
        cdef ScreeningPlan plan
        plan.direction = flat(column)
        plan.centre = flat(centre)
        plan.scale = flat(scale)
        plan.n_columns = centre.shape[1]
        plan.range = ranges.data()
        cdef vector[double] found
        with nogil:
            found = shard_screening(self.rows, list, models, plan, self.execution)
        return sums_of(found, self.rows.blocks)

    def cut_products(self, nodes, axis, direction, threshold, shift):
        cdef NodeList list = list_of(nodes)
        cdef Directions candidates = directions_of(axis, direction, threshold)
        cdef const double* about = flat(shift)
        cdef vector[double] found
        with nogil:
            found = shard_cut_products(self.rows, list, candidates, about, self.execution)
        return sums_of(found, self.rows.blocks)

    def cut_sums(self, nodes, axis, direction, threshold, mean):
        cdef NodeList list = list_of(nodes)
        cdef Directions candidates = directions_of(axis, direction, threshold)
        cdef const double* about = flat(mean)
        cdef vector[double] found
        with nogil:
            found = shard_cut_sums(self.rows, list, candidates, about, self.execution)
        return sums_of(found, self.rows.blocks)

    def bin_sums(self, nodes):
        cdef NodeList list = list_of(nodes)
        found = np.zeros((len(nodes), self.rows.data.n_features, self.binned.n_bins,
                          2 + self.rows.data.n_outputs), dtype=np.int64)
        cdef int64_t[:, :, :, ::1] sums = found
        with nogil:
            shard_bin_sums(self.rows, list, self.binned, &sums[0, 0, 0, 0], self.execution)
        return found

    def decreases(self, nodes, unit, coef, intercept, mean, inverse, base):
        cdef NodeList list = list_of(nodes)
        cdef JudgementArrays arrays
        arrays.unit = flat(unit)
        arrays.coef = flat(coef)
        arrays.intercept = flat(intercept)
        arrays.mean = flat(mean)
        arrays.inverse = flat(inverse)
        arrays.base = flat(base)
        cdef vector[ChildJudgement] judgements = judgements_of(arrays, len(nodes), self.rows.data)
        cdef vector[double] found
        with nogil:
            found = shard_decreases(self.rows, list, judgements, self.execution)
        return sums_of(found, self.rows.blocks)

    def grid_errors(self, vectors, values, cross, mean, base):
        cdef SpectralArrays arrays
        arrays.vectors = flat(vectors)
        arrays.values = flat(values)
        arrays.cross = flat(cross)
        arrays.mean = flat(mean)
        arrays.base = base[0]
        arrays.rank = len(values)
        cdef SpectralFit fit = spectral_fit_of(arrays, self.rows.data)
        cdef vector[double] found
        with nogil:
            found = shard_grid_errors(self.rows, fit, self.execution)
        return sums_of(found, self.rows.blocks)
