# What the bindings share: errors and signals, where work runs, arrays out of the core, the losses,
# and the listener of a fit.
from cpython.pystate cimport PyGILState_STATE
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool


cdef extern from "translate.hpp" namespace "fctree" nogil:
    void set_python_error()
    cbool signal_raised()
    PyGILState_STATE take_gil()
    void give_gil(PyGILState_STATE)


cdef extern from "core/parallel.hpp" namespace "fctree" nogil:
    cdef struct Execution:
        int n_threads
        cbool (*interrupted)()


cdef extern from "core/loss.hpp" namespace "fctree" nogil:
    cpdef enum class LossKind(int):
        squared_error
        absolute_error
        huber
        quantile
        poisson
        gamma
        binary_log_loss
        multiclass_log_loss


cdef Execution execution_on(int n_threads) noexcept
cdef copied(const void* values, tuple shape, dtype=*)
cdef const double* pointer(const double[:, ::1] values) noexcept
cdef const double* pointer_1d(const double[::1] values) noexcept


cdef class Listener:
    cdef public object told
    cdef public object error


cdef cbool tell(void* context, int64_t iteration, double train_loss,
                double eval_loss) noexcept nogil
