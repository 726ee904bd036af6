# Declarations of the core for ensembles.pyx; names and order of fields are those of the headers.
cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from fctree._native.core cimport (
    Execution,
    LossChoice,
    Piece,
    RoundHistory,
    RoundListener,
    Table,
    set_python_error,
)
from fctree._native.oblique cimport ObliqueParams, TrainingData


cdef extern from "core/block_sums.hpp" namespace "fctree" nogil:
    cdef cppclass RowBlocks:
        int64_t block_rows
        int64_t first
        int64_t n_here
        int64_t n_blocks
        vector[Piece] pieces


cdef extern from "ridge/feature_map.hpp" namespace "fctree::ridge" nogil:
    vector[int64_t] varying_columns(const Table&, const double*, int64_t, const Execution&) except +set_python_error


cdef extern from "ensembles/params.hpp" namespace "fctree::ensembles" nogil:
    cdef struct ObliqueBoostingParams:
        double learning_rate
        int64_t max_iter
        double subsample
        double colsample
        int64_t halved_from
        cbool linear_competes
        double l2_leaf_reg
        double extrapolation
        cbool early_stopping
        int64_t n_iter_no_change
        double tol
        cbool rounds_features
        uint64_t seed

    cdef struct ObliqueForestParams:
        double max_samples
        cbool bootstrap
        double extrapolation
        double target_unit
        cbool rounds_features
        uint64_t seed


cdef extern from "ensembles/ensemble.hpp" namespace "fctree::ensembles" nogil:
    cdef cppclass ObliqueTreesArrays:
        int64_t n_features
        int64_t n_outputs
        vector[int64_t] node_offsets
        vector[int64_t] leaf_offsets
        vector[int64_t] children_left
        vector[int64_t] children_right
        vector[int64_t] split_kind
        vector[double] threshold
        vector[double] coef
        vector[double] value
        vector[double] impurity
        vector[int64_t] n_node_samples
        vector[double] weighted_n_node_samples
        vector[int64_t] leaf_index
        vector[double] leaf_coef
        vector[double] leaf_intercept
        vector[double] leaf_lower
        vector[double] leaf_upper
        vector[double] feature_gain

    cdef cppclass ObliqueTreesView:
        const int64_t* node_offsets
        const int64_t* leaf_offsets
        const int64_t* children_left
        const int64_t* children_right
        const double* threshold
        const double* coef
        const int64_t* leaf_index
        const double* leaf_coef
        const double* leaf_intercept
        const double* leaf_lower
        const double* leaf_upper
        int64_t n_features
        int64_t n_outputs


cdef extern from "ensembles/predict.hpp" namespace "fctree::ensembles" nogil:
    cdef struct ScoreSpan:
        double* scores
        int64_t row_stride
        int64_t output_stride

    cdef struct TreeRange:
        int64_t first
        int64_t last

    cdef struct LeafNumbers:
        int64_t* leaf
        cbool over_all

    void c_add_trees "fctree::ensembles::add_trees"(
        const ObliqueTreesView&, const TreeRange&, const Table&, int64_t, const ScoreSpan&,
        const Execution&) except +set_python_error
    void c_apply_trees "fctree::ensembles::apply_trees"(
        const ObliqueTreesView&, int64_t, const double*, int64_t, const LeafNumbers&,
        const Execution&) except +set_python_error


cdef extern from "ensembles/boost.hpp" namespace "fctree::ensembles" nogil:
    cdef cppclass BoostedSamples:
        Table x
        const double* y
        const double* weight
        const double* initial
        int64_t n_samples
        const RowBlocks* blocks

    cdef struct BoostedSizes:
        int64_t n_features
        int64_t n_targets
        int64_t n_outputs

    cdef cppclass BoostingStatistics "fctree::ensembles::BoostingStatistics":
        pass

    cdef struct StepTerms:
        double decrease
        double curvature

    cdef struct GrownRound:
        int64_t kind
        double rate
        vector[StepTerms] steps

    cdef cppclass ObliqueBoostingTask:
        BoostedSamples train
        vector[BoostedSamples] evals
        BoostedSizes sizes
        LossChoice loss
        const double* baseline
        const ObliqueTreesView* continued
        const int64_t* groups
        BoostingStatistics* statistics
        vector[double] past_losses
        vector[GrownRound] past

    cdef cppclass ObliqueBoostingResult:
        ObliqueTreesArrays trees
        vector[double] baseline
        vector[GrownRound] rounds
        RoundHistory history
        double alpha

    ObliqueBoostingResult boost_oblique(
        const ObliqueBoostingTask&, const vector[ObliqueParams]&, const ObliqueBoostingParams&,
        const RoundListener&, const Execution&) except +set_python_error


cdef extern from "distributed/boosting_statistics.hpp" namespace "fctree::distributed" nogil:
    cdef cppclass DistributedBoostingStatistics(BoostingStatistics):
        DistributedBoostingStatistics(
            const BoostedSamples&, const vector[int64_t]&) except +set_python_error


cdef extern from "ensembles/row_sample.hpp" namespace "fctree::ensembles" nogil:
    cdef cppclass SampleHashes:
        vector[uint64_t] features
        vector[uint64_t] all

    SampleHashes c_hash_samples "fctree::ensembles::hash_samples"(const BoostedSamples&, int64_t) except +set_python_error
    cbool c_are_coincidences "fctree::ensembles::are_coincidences"(
            const SampleHashes&, const Execution&) except +set_python_error


cdef extern from "ensembles/forest.hpp" namespace "fctree::ensembles" nogil:
    cdef struct ForestTree:
        int64_t number
        int64_t kind

    cdef struct OutOfBagSums:
        double share
        int64_t n_groups
        double* scores
        int64_t* counts
    ObliqueTreesArrays c_grow_forest "fctree::ensembles::grow_forest"(
        const TrainingData&, const vector[ForestTree]&, const vector[ObliqueParams]&,
        const ObliqueForestParams&, const Execution&) except +set_python_error
    void c_sum_out_of_bag "fctree::ensembles::sum_out_of_bag"(
        const TrainingData&, const ObliqueTreesView&, const vector[int64_t]&,
        const ObliqueForestParams&, const OutOfBagSums&, const Execution&) except +set_python_error


cdef Table table_of(cnp.ndarray X) except *


cdef class Trees:
    cdef ObliqueTreesView view
    cdef object arrays
    cdef int64_t n_trees


cdef extern from "ensembles/leaf_errors.hpp" namespace "fctree::ensembles" nogil:
    cdef struct LeafErrors:
        const int64_t* leaf
        const double* weight
        const double* size
        int64_t n_samples
        int64_t n_trees
        int64_t n_outputs

    void c_add_leaf_errors "fctree::ensembles::add_leaf_errors"(
        const LeafErrors&, double*, const Execution&) except +set_python_error
    void c_mean_scales "fctree::ensembles::mean_scales"(
        const LeafErrors&, const double*, const double*, double*, const Execution&) except +set_python_error
