# What shards.pyx takes from the core; names and order of fields are those of the headers.
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.optional cimport optional
from libcpp.vector cimport vector

from fctree._native.symmetric cimport BoostingParams, FeatureMatrix
from fctree._native.core cimport Derivatives, Execution, LossChoice, ScoredSamples, set_python_error


cdef extern from "core/exact_sum.hpp" namespace "fctree" nogil:
    cdef struct TwoWords:
        int64_t high
        int64_t low

    double bound_of "fctree::ExponentCounts::bound_of"(const int64_t*)


cdef extern from "symmetric/quantized_gradients.hpp" namespace "fctree::symmetric" nogil:
    int c_count_bits "fctree::symmetric::count_bits_for"(int64_t)
    double c_channel_unit "fctree::symmetric::channel_unit"(double, int)


cdef extern from "symmetric/leaf_rows.hpp" namespace "fctree::symmetric" nogil:
    cdef struct LevelSplit:
        int64_t feature
        int64_t code
        cbool missing_right
        double gain


cdef extern from "symmetric/leaf_values.hpp" namespace "fctree::symmetric" nogil:
    cdef struct LeafAssignment:
        const uint16_t* leaf
        const uint8_t* in_bag
        int64_t n_leaves


cdef extern from "symmetric/thresholds.hpp" namespace "fctree::symmetric" nogil:
    vector[int64_t] c_quantile_rows "fctree::symmetric::quantile_rows"(int64_t, uint64_t) except +set_python_error

    cdef cppclass FewValues:
        vector[double] values
        cbool has_missing
        cbool too_many

    FewValues c_few_values "fctree::symmetric::find_few_values"(
        const FeatureMatrix&, const double*, int64_t, int64_t) except +set_python_error


cdef extern from "symmetric/candidate_choice.hpp" namespace "fctree::symmetric" nogil:
    cdef struct NoiseScale:
        int64_t iteration
        double gradient_rms
        double total_weight


cdef extern from "distributed/symmetric_shard.hpp" namespace "fctree::distributed" nogil:
    cdef cppclass ShardUnits "fctree::distributed::ChannelUnits":
        int count_bits
        double weight
        vector[double] gradient

    cdef cppclass Shard:
        void start(const double*, const ShardUnits&, const uint8_t*,
                   const Execution&) except +set_python_error
        void split(const LevelSplit&, const Execution&) except +set_python_error
        void count(const vector[uint8_t]&, int64_t*, const Execution&) except +set_python_error
        int64_t n_cells(int64_t)

    cdef cppclass LevelChoice:
        optional[LevelSplit] split
        vector[uint8_t] smaller_is_right

    cdef cppclass Chooser:
        void start(const ShardUnits&, const NoiseScale&) except +set_python_error
        LevelChoice choose(const int64_t*, const Execution&) except +set_python_error


cdef extern from "distributed/symmetric_arrays.hpp" namespace "fctree::distributed" nogil:
    cdef cppclass ShardShape:
        vector[int64_t] n_cuts
        vector[uint8_t] has_missing

    cdef cppclass ShardEvaluation:
        double loss
        vector[int64_t] counts
        vector[int] hessian_largest
        int square_largest

    cdef cppclass SumScales:
        vector[int] gradient
        vector[int] hessian
        int64_t n_samples

    cdef struct ShardStep:
        const uint16_t* leaf
        const double* values
        const double* origin
        int64_t n_outputs
        double keep

    void bin_shard(const FeatureMatrix&, const double*, const int64_t*, uint8_t*, uint8_t*,
                   const Execution&) except +set_python_error
    double fixed_value(int, int64_t, int64_t, int64_t) except +set_python_error
    unique_ptr[Shard] make_shard(const ShardShape&, int64_t, const uint8_t*, const double*,
                                 int64_t) except +set_python_error
    unique_ptr[Chooser] make_chooser(const ShardShape&, const BoostingParams&,
                                     const int8_t*) except +set_python_error
    void find_shard_leaves(const Shard&, const vector[LevelSplit]&, uint16_t*,
                           const Execution&) except +set_python_error
    void add_step(const ShardStep&, double*, int64_t, const Execution&) except +set_python_error
    TwoWords sum_shard_squares(const ScoredSamples&, const double*, int, int64_t,
                               const Execution&) except +set_python_error
    ShardEvaluation evaluate_shard(const LossChoice&, const ScoredSamples&, const Derivatives&,
                                   const Execution&) except +set_python_error
    vector[int64_t] sum_shard(const ScoredSamples&, const Derivatives&, const LeafAssignment&,
                              const SumScales&, const Execution&) except +set_python_error
    vector[double] leaf_step(const LossChoice&, const vector[int64_t]&, const SumScales&,
                             const BoostingParams&, const int8_t*, const vector[LevelSplit]&,
                             const vector[uint8_t]&) except +set_python_error
    void mean_baseline(const LossChoice&, const double*, int64_t, double*) except +set_python_error
    void draw_bag(uint64_t, double, int64_t, int64_t, int64_t, uint8_t*) except +set_python_error
