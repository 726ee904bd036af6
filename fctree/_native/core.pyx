# distutils: language = c++
"""Shared by the bindings."""

cimport numpy as cnp
from cpython.pystate cimport PyGILState_STATE
from cython.operator cimport dereference
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from collections import namedtuple

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
    """Passes each round's losses to a Python function, whose first error ends the fit."""


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


LossInfo = namedtuple("LossInfo", "name task domain link parameter low high default")
LossInfo.__doc__ = """A loss of native/core/loss/registry.hpp.

``parameter`` is the name of the estimators' parameter that it reads or None, a number between
``low`` and ``high``; ``default`` is NaN where the user has to give one.
"""


def losses():
    """All losses, a list of `LossInfo`."""
    cdef vector[NativeLossInfo] listed = native_losses()
    cdef NativeLossInfo info
    found = []
    for info in listed:
        parameter = None if info.parameter.name == NULL else info.parameter.name.decode()
        found.append(LossInfo(
            info.name.decode(), info.task.decode(), info.domain.decode(), info.link.decode(),
            parameter, info.parameter.low, info.parameter.high, info.parameter.value,
        ))
    return found


cdef LossChoice loss_choice(tuple loss) except *:
    """Of ``(name, parameter)``."""
    cdef LossChoice choice
    choice.name = loss[0].encode()
    choice.parameter = loss[1]
    return choice


cdef class Loss:
    """A loss of the core, ``choice`` being ``(name, parameter)``.

    y is float64 (n_targets, n), raw (n_outputs, n), weight (n,) or None.
    """
    cdef unique_ptr[NativeLoss] native
    cdef readonly object leaf_rule
    cdef readonly bint has_hessian
    cdef readonly double reported_factor

    def __cinit__(self, tuple choice, int64_t n_outputs):
        self.native = make_loss(loss_choice(choice), n_outputs)
        self.leaf_rule = LeafRule(<int>dereference(self.native).leaf_rule()).name
        self.has_hessian = dereference(self.native).has_hessian()
        self.reported_factor = dereference(self.native).reported_factor()

    def prepare(self, y, raw, weight=None):
        """Prepare for the samples of a round, as the core does before it evaluates them."""
        dereference(self.native).prepare(scored(y, raw, weight))

    def evaluate(self, y, raw, weight=None):
        """The sum of weight * loss, the gradients and the hessians, (n_outputs, n) each."""
        cdef ScoredSamples samples = scored(y, raw, weight)
        cdef double[:, ::1] gradient = np.empty_like(raw)
        cdef double[:, ::1] hessian = np.ones_like(raw)
        cdef Derivatives out
        out.gradient = &gradient[0, 0]
        out.hessian = &hessian[0, 0] if self.has_hessian else NULL
        total = dereference(self.native).evaluate(samples, 0, samples.n_samples, &out)
        return total, np.asarray(gradient), np.asarray(hessian)


cdef ScoredSamples scored(const double[:, ::1] y, const double[:, ::1] raw,
                          const double[::1] weight) noexcept:
    cdef ScoredSamples samples
    samples.y = pointer(y)
    samples.raw = pointer(raw)
    samples.weight = pointer_1d(weight)
    samples.n_samples = raw.shape[1]
    samples.n_outputs = raw.shape[0]
    return samples


cdef class Patience:
    """Early stopping as in the core's boosters: when training stops, and which round was best."""
    cdef unique_ptr[NativePatience] native

    def __cinit__(self, int64_t n_iter_no_change, double tol):
        self.native.reset(new NativePatience(n_iter_no_change, tol))

    def start(self, double loss):
        """Record the loss before the first round, if it counts."""
        dereference(self.native).start(loss)

    def take(self, double loss):
        """Record the loss after the next round; return whether it is the smallest so far."""
        return dereference(self.native).take(loss)

    @property
    def is_over(self):
        """Whether n_iter_no_change rounds have not lowered the loss by tol."""
        return dereference(self.native).is_over()

    @property
    def best_round(self):
        """The round with the smallest loss, 0 for the start."""
        return dereference(self.native).best_round()
