# Declarations of the core for inspection.pyx; names and order of fields are those of the headers.
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from fctree._native.core cimport Execution, set_python_error
from fctree._native.ensembles cimport ObliqueTreesView
from fctree._native.symmetric cimport FeatureMatrix, SymmetricTreesView


cdef extern from "inspection/symmetric_game.hpp" namespace "fctree::inspection" nogil:
    cdef enum class CoalitionValue(int):
        interventional
        path_dependent


cdef extern from "inspection/symmetric_shapley.hpp" namespace "fctree::inspection" nogil:
    cdef cppclass SymmetricShapleyTask:
        SymmetricTreesView trees
        FeatureMatrix x
        FeatureMatrix background
        const int64_t* player
        int64_t n_players
        CoalitionValue kind

    void add_symmetric_shapley(
        const SymmetricShapleyTask&, double*, const Execution&) except +set_python_error


cdef extern from "inspection/oblique_attributions.hpp" namespace "fctree::inspection" nogil:
    cdef cppclass ObliqueAttributionTask:
        ObliqueTreesView trees
        int64_t n_trees
        const double* x
        int64_t n_samples
        const double* background
        int64_t n_background
        const int64_t* player
        int64_t n_players
        cbool along_lines

    void c_attribute_oblique "fctree::inspection::attribute_oblique"(
        const ObliqueAttributionTask&, double*, const Execution&) except +set_python_error
