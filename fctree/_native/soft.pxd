# Declarations of the core for soft.pyx; names and order of fields are those of the headers.
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from fctree._native.core cimport Execution, LossChoice, RoundListener, Table, set_python_error


cdef extern from "soft/ensemble.hpp" namespace "fctree::soft" nogil:
    cpdef enum class Routing(int):
        smooth_step
        logistic
        erf

    cdef cppclass Ensemble[T]:
        const T* split_weights
        const T* leaf_weights
        const int32_t* children
        int64_t n_trees
        int64_t n_splits
        int64_t n_features
        int64_t n_outputs
        Routing routing
        double gamma
        double scale


cdef extern from "soft/params.hpp" namespace "fctree::soft" nogil:
    cpdef enum class Optimizer(int):
        adam
        gradient_descent

    cdef struct SoftTreeParams:
        int64_t n_trees
        double gamma
        Routing routing
        double scale
        cbool batch_norm
        cbool fit_intercept
        Optimizer optimizer
        double learning_rate
        int64_t batch_size
        int64_t max_epochs
        double l2_regularization
        double l2_leaf_reg
        int64_t n_iter_no_change
        double tol
        uint64_t seed


cdef extern from "soft/layer.hpp" namespace "fctree::soft" nogil:
    cpdef enum class PassKind(int):
        automatic
        conditional
        dense

    cdef cppclass EnsembleGradients[T]:
        T* split_weights
        T* leaf_weights
        uint8_t* touched

    cdef cppclass LayerPass[T]:
        LayerPass(PassKind) except +set_python_error
        void forward(const Ensemble[T]&, const T*, int64_t, T*, const Execution&) except +set_python_error
        void find_derivatives(const Ensemble[T]&, const T*,
                              const Execution&) except +set_python_error
        void add_all_gradients(const Ensemble[T]&, const T*, const EnsembleGradients[T]&,
                               const Execution&) except +set_python_error
        void input_gradient(const Ensemble[T]&, T*, const Execution&) except +set_python_error
        cbool was_of(const Ensemble[T]&, int64_t)
        int64_t n_reached_leaves()
        size_t bytes()


cdef extern from "soft/standardize.hpp" namespace "fctree::soft" nogil:
    cdef cppclass Standardization:
        const double* mean
        const double* factor
        cbool intercept

    void inverse_deviations(const double*, const double*, int64_t, double*)


cdef extern from "soft/predict.hpp" namespace "fctree::soft" nogil:
    void predict_soft[T](const Ensemble[T]&, const Table&, int64_t, const Standardization&, T*,
                         const Execution&) except +set_python_error
    void count_reachable_leaves[T](const Ensemble[T]&, const Table&, int64_t,
                                   const Standardization&, int32_t*,
                                   const Execution&) except +set_python_error


cdef extern from "soft/train.hpp" namespace "fctree::soft" nogil:
    cdef cppclass SoftSamples:
        Table x
        int64_t n_samples
        const double* y
        const double* weight

    cdef cppclass SoftTask:
        SoftSamples train
        const SoftSamples* eval
        vector[double] past_losses
        LossChoice loss
        int64_t n_targets
        int64_t n_outputs
        const double* offset
        double multiplier

    cdef cppclass SoftWeights[T]:
        T* splits
        T* leaves
        double* mean
        double* variance

    cdef cppclass SoftState[T]:
        const int32_t* children
        int64_t n_splits
        SoftWeights[T] last
        SoftWeights[T] best
        T* split_first_moment
        T* split_second_moment
        T* leaf_first_moment
        T* leaf_second_moment
        double* reached_leaves
        int64_t n_batches
        int64_t n_epochs

    cdef cppclass SoftHistory:
        vector[double] train_loss
        vector[double] eval_loss
        vector[double] reached
        vector[double] judged

    cdef struct InitialSpread:
        double splits
        double intercepts
        double leaves
        cbool has_intercept

    void c_draw_weights "fctree::soft::draw_weights"[T](
        const Ensemble[T]&, const InitialSpread&, uint64_t, T*, T*, const Execution&
    ) except +set_python_error
    SoftHistory train_soft[T](const SoftTask&, const SoftTreeParams&, SoftState[T]&,
                              const RoundListener&, const Execution&) except +set_python_error
