# Declarations of the core for oblique.pyx and ensembles.pyx; names and order of fields are those
# of the headers.
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector


cdef extern from "ridge/moments.hpp" namespace "fctree::ridge" nogil:
    cdef struct TrainingData:
        const double* x
        const double* y
        const double* weight
        int64_t n_samples
        int64_t n_features
        int64_t n_outputs
        const int64_t* groups


cdef extern from "oblique/params.hpp" namespace "fctree::oblique" nogil:
    cdef struct NodeFeatures:
        int64_t max_features
        uint64_t seed
        int64_t tree
        bint once

    cdef struct ObliqueParams:
        cbool standardize
        double alpha
        cbool choose_alpha
        int64_t max_depth
        int64_t min_samples_split
        int64_t min_samples_leaf
        int64_t max_leaves
        double min_impurity_decrease
        cbool feature_concatenation
        cbool ridge_leaves
        cbool fit_intercept
        double impurity_scale
        double target_unit
        int64_t direction_kinds
        int64_t n_curvature
        int64_t max_coef
        int64_t n_screened
        cbool ridge_criterion
        int64_t max_thresholds
        cbool refines_cuts
        double parent_weight
        double split_margin
        NodeFeatures node_features


cdef extern from "oblique/split_search/directions.hpp" namespace "fctree::oblique" nogil:
    cdef struct DirectionKind:
        const char* name

    const vector[DirectionKind]& native_direction_kinds "fctree::oblique::direction_kinds"()


cdef TrainingData training_data(const double[:, ::1] X, const double[:, ::1] y,
                                const double[::1] weight) noexcept
