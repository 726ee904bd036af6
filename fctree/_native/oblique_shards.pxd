# What oblique_shards.pyx takes from the core; names and order of fields are those of the headers.
from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.vector cimport vector

from fctree._native.core cimport Execution, set_python_error
from fctree._native.oblique cimport TrainingData


cdef extern from "distributed/shard_rows.hpp" namespace "fctree::distributed" nogil:
    cdef struct Piece:
        int64_t begin
        int64_t size

    cdef cppclass ShardBlocks:
        int64_t block_rows
        int64_t first
        int64_t n_blocks
        vector[Piece] pieces

    cdef struct ShardNodes:
        const int32_t* rows
        const int64_t* offsets
        int64_t n_nodes

    cdef cppclass ShardRows:
        TrainingData data
        ShardBlocks blocks
        ShardNodes nodes

    void c_group_rows "fctree::distributed::group_rows"(
        const int32_t*, int64_t, int64_t, const ShardBlocks&, int32_t*,
        int64_t*) except +set_python_error


cdef extern from "oblique/split_search/screening.hpp" namespace "fctree::oblique" nogil:
    cdef struct FeatureRange:
        double lowest
        double width
        double mean
        double spread


cdef extern from "oblique/split_search/histogram.hpp" namespace "fctree::oblique" nogil:
    cdef cppclass TermScale:
        vector[int] exponent
        int64_t n_samples

    cdef cppclass BinnedSamples:
        const uint8_t* bins
        int64_t n_bins
        int64_t n_features
        int64_t n_terms
        vector[int64_t] terms

    vector[int64_t] fixed_terms(const TrainingData&, const TermScale&) except +set_python_error


cdef extern from "distributed/shard_steps.hpp" namespace "fctree::distributed" nogil:
    cdef struct NodeList:
        const int64_t* node
        int64_t size

    cdef struct NodeModels:
        const double* coef
        const double* intercept

    cdef struct Directions:
        const int64_t* axis
        const double* direction
        const double* threshold
        int64_t n_thresholds

    cdef struct ScreeningPlan:
        const double* direction
        const double* centre
        const double* scale
        int64_t n_columns
        const FeatureRange* range

    cdef cppclass ChildJudgement:
        pass
    cdef cppclass SpectralFit:
        pass

    vector[double] shard_products(const ShardRows&, const NodeList&, const double*,
                                  const Execution&) except +set_python_error
    vector[double] shard_diagonals(const ShardRows&, const NodeList&, const double*,
                                   const Execution&) except +set_python_error
    vector[double] shard_residual_products(const ShardRows&, const NodeList&, const double*,
                                           const NodeModels&,
                                           const Execution&) except +set_python_error
    vector[double] shard_ranges(const ShardRows&, const NodeList&,
                                const Execution&) except +set_python_error
    vector[double] shard_heaviest(const ShardRows&, const NodeList&) except +set_python_error
    vector[double] shard_screening(const ShardRows&, const NodeList&, const NodeModels&,
                                   const ScreeningPlan&,
                                   const Execution&) except +set_python_error
    vector[double] shard_cut_products(const ShardRows&, const NodeList&, const Directions&,
                                      const double*, const Execution&) except +set_python_error
    vector[double] shard_cut_sums(const ShardRows&, const NodeList&, const Directions&,
                                  const double*, const Execution&) except +set_python_error
    void shard_bin_sums(const ShardRows&, const NodeList&, const BinnedSamples&, int64_t*,
                        const Execution&) except +set_python_error
    void shard_part(const ShardRows&, const NodeList&, const Directions&, int32_t*,
                    const Execution&) except +set_python_error
    vector[double] shard_decreases(const ShardRows&, const NodeList&,
                                   const vector[ChildJudgement]&,
                                   const Execution&) except +set_python_error
    vector[double] shard_grid_errors(const ShardRows&, const SpectralFit&,
                                     const Execution&) except +set_python_error


cdef extern from "distributed/oblique_arrays.hpp" namespace "fctree::distributed" nogil:
    cdef struct JudgementArrays:
        const double* unit
        const double* coef
        const double* intercept
        const double* mean
        const double* inverse
        const double* base

    cdef struct SpectralArrays:
        const double* vectors
        const double* values
        const double* cross
        const double* mean
        double base
        int64_t rank

    vector[ChildJudgement] judgements_of(const JudgementArrays&, int64_t,
                                         const TrainingData&) except +set_python_error
    SpectralFit spectral_fit_of(const SpectralArrays&, const TrainingData&) except +set_python_error
    vector[FeatureRange] ranges_of(const double*, int64_t) except +set_python_error


cdef ShardBlocks blocks_of(tuple blocks) except *
cdef sums_of(const vector[double]& values, const ShardBlocks& blocks)
cdef const double* flat(values) except? NULL
