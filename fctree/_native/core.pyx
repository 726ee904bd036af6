# distutils: language = c++
"""What the bindings share."""

cimport numpy as cnp
from cpython.pystate cimport PyGILState_STATE
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool

import numpy as np

cnp.import_array()


cdef Execution execution_on(int n_threads) noexcept:
    cdef Execution execution
    execution.n_threads = n_threads
    execution.interrupted = signal_raised
    return execution


cdef copied(const void* values, tuple shape, dtype=np.float64):
    """A NumPy array of this shape with a copy of the values."""
    out = np.empty(shape, dtype=dtype)
    if out.size:
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>out), values, out.nbytes)
    return out


cdef const double* pointer(const double[:, ::1] values) noexcept:
    if values is None or values.shape[0] * values.shape[1] == 0:
        return NULL
    return &values[0, 0]


cdef const double* pointer_1d(const double[::1] values) noexcept:
    if values is None or values.shape[0] == 0:
        return NULL
    return &values[0]


cdef class Listener:
    """Hands each round's losses to a Python function, whose first error ends the fit."""


cdef cbool tell(void* context, int64_t iteration, double train_loss,
                double eval_loss) noexcept nogil:
    cdef PyGILState_STATE state = take_gil()
    cdef cbool goes_on = tell_python(context, iteration, train_loss, eval_loss)
    give_gil(state)
    return goes_on


cdef cbool tell_python(void* context, int64_t iteration, double train_loss,
                       double eval_loss) noexcept with gil:
    cdef Listener listener = <Listener>context
    if listener.told is None:
        return True
    try:
        listener.told(iteration, train_loss, eval_loss)
    except BaseException as error:  # Ctrl-C among them, if Python is running when it comes
        listener.error = error
        return False
    return True
