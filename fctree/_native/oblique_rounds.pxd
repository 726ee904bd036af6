# What oblique_rounds.pyx takes from the core; names and order of fields are those of the headers.
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from fctree._native.core cimport Derivatives, Execution, NativeLoss, ScoredSamples, set_python_error
from fctree._native.ensembles cimport ObliqueTreesArrays
from fctree._native.oblique cimport ObliqueParams, TrainingData
from fctree._native.oblique_shards cimport ShardBlocks


cdef extern from "core/matrix.hpp" namespace "fctree" nogil:
    cdef cppclass VectorView:
        VectorView(const double*, int64_t)
    cdef cppclass Vector:
        Vector()
        Vector(const VectorView&)


cdef extern from "oblique/tree.hpp" namespace "fctree::oblique" nogil:
    cdef cppclass ObliqueTreeArrays:
        int64_t n_features
        int64_t n_outputs
        double alpha
        vector[int64_t] children_left
        vector[int64_t] children_right
        vector[double] threshold
        vector[double] coef
        vector[int64_t] leaf_index
        vector[double] leaf_coef
        vector[double] leaf_intercept


cdef extern from "ensembles/leaf_values.hpp" namespace "fctree::ensembles" nogil:
    cdef struct BoundRules:
        double extrapolation
        double largest_step

    void shrink_leaves(double, ObliqueTreeArrays&) except +set_python_error
    double largest_step(const NativeLoss&) except +set_python_error


cdef extern from "oblique/feature_map.hpp" namespace "fctree::oblique" nogil:
    cdef cppclass FeatureMap:
        pass
    Vector offset_of(const FeatureMap&) except +set_python_error
    void c_map_features "fctree::oblique::map_features"(
        const FeatureMap&, const double*, int64_t, int64_t, double*,
        const Execution&) except +set_python_error


cdef extern from "distributed/oblique_arrays.hpp" namespace "fctree::distributed" nogil:
    cdef struct MapArrays:
        const int64_t* columns
        int64_t width
        const double* mean
        const double* scale
        int64_t n_features

    cdef struct TreeArrays:
        const int64_t* children_left
        const int64_t* children_right
        const double* threshold
        const double* coef
        const int64_t* leaf_index
        const double* leaf_coef
        const double* leaf_intercept
        int64_t n_nodes
        int64_t n_leaves
        int64_t n_outputs
        int64_t n_features

    FeatureMap feature_map_of(const MapArrays&) except +set_python_error
    vector[double] c_mean_and_scale "fctree::distributed::mean_and_scale"(
        const double*, const double*, const double*, int64_t) except +set_python_error
    vector[double] shard_leaf_ranges(const TreeArrays&, const double*, const double*, int64_t,
                                     const Execution&) except +set_python_error
    ObliqueTreesArrays c_finish_tree "fctree::distributed::finish_tree"(
        const ObliqueTreeArrays&, const double*, const BoundRules&, const MapArrays&,
        double) except +set_python_error


cdef extern from "oblique/params.hpp" namespace "fctree::oblique" nogil:
    cbool c_sorts_axes "fctree::oblique::sorts_axes"(const ObliqueParams&)


cdef extern from "oblique/split_search/feature_bins.hpp" namespace "fctree::oblique" nogil:
    cdef cppclass FeatureBins:
        FeatureBins(const double*, int64_t, const Vector&, const Execution&) except +set_python_error
        int64_t n_bins() const
        const vector[double]& thresholds() const
    void c_find_bins "fctree::oblique::find_bins"(const double*, int64_t, int64_t, const double*, int64_t,
                                         uint8_t*, const Execution&) except +set_python_error


cdef extern from "oblique/split_search/histogram.hpp" namespace "fctree::oblique" nogil:
    cdef cppclass TermScale:
        vector[int] exponent
        int64_t n_samples
    vector[double] c_term_units "fctree::oblique::term_units"(const TermScale&) except +set_python_error


cdef extern from "distributed/distributed_statistics.hpp" namespace "fctree::distributed" nogil:
    cdef cppclass StepArgument:
        string name
        vector[double] values
        vector[int64_t] integers
        vector[int64_t] shape

    cdef struct Asker:
        cbool (*ask)(void*, const string&, const vector[StepArgument]&,
                     vector[double]&) noexcept
        void* context

    cdef cppclass DistributedStatistics:
        DistributedStatistics(const TrainingData&, int64_t, const Asker&,
                   const FeatureBins*) except +set_python_error
        void set_offset(Vector)


cdef extern from "oblique/grow.hpp" namespace "fctree::oblique" nogil:
    ObliqueTreeArrays grow_tree_of(DistributedStatistics&, const TrainingData&, const ObliqueParams&,
                                   const Execution&) except +set_python_error


cdef extern from "ensembles/working_response.hpp" namespace "fctree::ensembles" nogil:
    cdef cppclass WorkingResponse:
        vector[double] target
        vector[double] weight

    void find_working_response(const NativeLoss&, const ScoredSamples&, const Derivatives&,
                               const uint8_t*, WorkingResponse&,
                               const Execution&) except +set_python_error


cdef extern from "ensembles/row_sample.hpp" namespace "fctree::ensembles" nogil:
    cdef struct PartDraw:
        uint64_t seed
        int64_t tree
        double fraction

    vector[uint64_t] c_hash_samples "fctree::ensembles::hash_samples"(
        const double*, const double*, int64_t, int64_t, int64_t) except +set_python_error
    cbool draw_hashed(const uint64_t*, int64_t, const PartDraw&,
                      uint8_t*) except +set_python_error


cdef extern from "distributed/shard_boost.hpp" namespace "fctree::distributed" nogil:
    vector[double] shard_losses(const NativeLoss&, const ScoredSamples&, const Derivatives*,
                                const ShardBlocks&, const Execution&) except +set_python_error
    vector[double] shard_left_out_losses(const NativeLoss&, const ScoredSamples&, const uint8_t*,
                                         const ShardBlocks&,
                                         const Execution&) except +set_python_error
    vector[double] shard_weighted_sums(const double*, int64_t, const double*, int64_t,
                                       const ShardBlocks&,
                                       const Execution&) except +set_python_error
    vector[double] shard_feature_sums(const double*, const double*, int64_t, const Vector&,
                                      const ShardBlocks&,
                                      const Execution&) except +set_python_error


cdef extern from "oblique/split_search/feature_draw.hpp" namespace "fctree::oblique" nogil:
    vector[int64_t] c_draw_columns "fctree::oblique::draw_columns"(
        uint64_t, int64_t, double, int64_t) except +set_python_error
