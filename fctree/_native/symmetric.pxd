# Declarations of the core for symmetric.pyx; names and order of fields are those of the headers.
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from fctree._native.core cimport Execution, LossChoice, RoundHistory, RoundListener, set_python_error


cdef extern from "symmetric/params.hpp" namespace "fctree::symmetric" nogil:
    cpdef enum class ScoreNoise(int):
        normal
        gumbel

    cpdef enum class ScoreFunction(int):
        l2
        cosine

    cdef struct BoostingParams:
        double learning_rate
        int64_t max_iter
        int64_t max_depth
        double l2_leaf_reg
        int64_t min_samples_leaf
        double random_strength
        ScoreNoise score_noise
        ScoreFunction score_function
        double subsample
        double colsample
        double model_shrink_rate
        cbool early_stopping
        int64_t n_iter_no_change
        double tol
        uint64_t seed


cdef extern from "symmetric/feature_matrix.hpp" namespace "fctree::symmetric" nogil:
    cdef cppclass FeatureMatrix:
        const void* data
        int64_t n_samples
        int64_t n_features
        int64_t row_stride
        int64_t column_stride
        cbool single_precision


cdef extern from "symmetric/thresholds.hpp" namespace "fctree::symmetric" nogil:
    cdef struct ThresholdRules:
        int64_t max_bins
        uint64_t seed

    cdef struct CandidateThresholds:
        vector[double] values
        vector[int64_t] offsets

    vector[int64_t] c_quantile_rows "fctree::symmetric::quantile_rows"(
        int64_t, uint64_t) except +set_python_error

    cdef cppclass FewValues:
        vector[double] values
        cbool has_missing
        cbool too_many

    FewValues c_few_values "fctree::symmetric::find_few_values"(
        const FeatureMatrix&, int64_t, int64_t) except +set_python_error

    CandidateThresholds c_find_thresholds "fctree::symmetric::find_thresholds"(
        const FeatureMatrix&, const double*, const ThresholdRules&,
        const Execution&) except +set_python_error


cdef extern from "symmetric/model.hpp" namespace "fctree::symmetric" nogil:
    cdef cppclass SymmetricTreesArrays:
        vector[int32_t] split_feature
        vector[double] split_threshold
        vector[uint8_t] missing_right
        vector[double] split_gain
        vector[double] leaf_values
        void truncate(int64_t)

    cdef cppclass SymmetricTreesView:
        const int32_t* split_feature
        const double* split_threshold
        const uint8_t* missing_right
        const double* leaf_values
        int64_t n_trees
        int64_t max_depth
        int64_t n_outputs


cdef extern from "symmetric/boost.hpp" namespace "fctree::symmetric" nogil:
    cdef cppclass LabelledSamples:
        vector[FeatureMatrix] x
        const double* y
        const double* weight
        const double* initial
        const double* raw
        vector[int64_t] first_sample
        int64_t n_samples()

    cdef cppclass InteractionRules:
        const int64_t* column
        const uint8_t* sets
        int64_t n_sets
        int64_t n_columns
        int64_t max_columns

    cdef cppclass BoostingTask:
        LabelledSamples train
        vector[LabelledSamples] evals
        const double* thresholds
        const int64_t* offsets
        const int8_t* monotone
        const double* baseline
        LossChoice loss
        int64_t n_outputs
        int64_t first_iteration
        int64_t min_rounds
        const uint8_t* masked
        InteractionRules interactions
        vector[double] past_losses

    cdef cppclass BoostingResult:
        SymmetricTreesArrays trees
        vector[double] baseline
        RoundHistory history

    BoostingResult c_boost "fctree::symmetric::boost"(
        const BoostingTask&, const BoostingParams&, const RoundListener&,
        const Execution&) except +set_python_error


cdef extern from "symmetric/masked.hpp" namespace "fctree::symmetric" nogil:
    cdef cppclass MaskedTask:
        BoostingTask boosting
        const SymmetricTreesView* trees
        FeatureMatrix test
        const uint8_t* masked
        const double* replacement
        int64_t n_masks

    cdef cppclass MaskedResult:
        vector[double] test_raw
        vector[int64_t] n_rounds
        vector[double] seconds

    MaskedResult c_boost_masked "fctree::symmetric::boost_masked"(
        const MaskedTask&, const BoostingParams&, const RoundListener&,
        const Execution&) except +set_python_error


cdef extern from "symmetric/predict.hpp" namespace "fctree::symmetric" nogil:
    void c_add_trees "fctree::symmetric::add_trees"(
        const SymmetricTreesView&, const FeatureMatrix&, double*,
        const Execution&) except +set_python_error
    cbool c_find_scores "fctree::symmetric::find_scores"(
        const SymmetricTreesView&, const FeatureMatrix&, const double*, double*,
        const Execution&) except +set_python_error
    void c_apply_trees "fctree::symmetric::apply_trees"(
        const SymmetricTreesView&, const FeatureMatrix&, int32_t*,
        const Execution&) except +set_python_error


cdef extern from "symmetric/leaf_kernel.hpp" namespace "fctree::symmetric" nogil:
    cdef struct LeafKernelTask:
        const uint16_t* leaf_x
        const uint16_t* leaf_y
        const double* weight
        int64_t n_x
        int64_t n_y
        int64_t n_trees
        int64_t n_leaves

    void c_add_leaf_kernel "fctree::symmetric::add_leaf_kernel"(
        const LeafKernelTask&, double*, const Execution&) except +set_python_error


# For inspection.pyx too.
cdef FeatureMatrix matrix_of(X)
cdef SymmetricTreesView view_of(trees) except *
