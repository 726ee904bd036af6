# distutils: language = c++
"""Shared by the bindings."""

cimport numpy as cnp
from cython.operator cimport dereference
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from collections import namedtuple

import numpy as np

cnp.import_array()


cdef Execution execution_on(int n_threads, Places places=None) noexcept:
    cdef Execution execution
    execution.n_threads = n_threads
    execution.interrupted = signal_raised
    if places is not None:
        execution.all = &places.native
    return execution


cdef check_size(int64_t n_samples):
    """Raises ValueError for more samples than row numbers can count."""
    if n_samples >= 2**31:
        raise ValueError(f"X has {n_samples} samples; at most {2**31 - 1} are supported")


cdef cnp.ndarray view_of(const void* values, int64_t n_rows, int64_t n_columns, int type_number):
    """An array on memory of the core, not a copy."""
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = n_rows, n_columns
    return cnp.PyArray_SimpleNewFromData(2, shape, type_number, <void*>values)


cdef struct Call:  # of Python by the core
    void* context
    const void* given
    void* out


cdef cbool combine(void* context, const Reduction& given) noexcept nogil:
    cdef Call call
    call.context, call.given = context, &given
    return call_python(combine_python, &call)


cdef cbool combine_python(void* arguments) noexcept with gil:
    cdef Call* call = <Call*>arguments
    cdef Places places = <Places>call.context
    cdef const Reduction* given = <const Reduction*>call.given
    try:
        pieces = view_of(given.pieces, given.n_pieces, 2, cnp.NPY_INT64)
        n_rows = max(given.n_pieces, 1)
        sums = view_of(given.block_sums, n_rows, given.n_block_sums, cnp.NPY_FLOAT64)
        places.reduce(
            view_of(given.sums, 1, given.n_sums, cnp.NPY_INT64)[0],
            view_of(given.largest, 1, given.n_largest, cnp.NPY_FLOAT64)[0],
            (pieces, sums, given.n_blocks),
        )
    except BaseException as error:
        places.error = error
        return False
    return True


cdef class Places:
    """The places that the samples of a fit lie in, as the core of one of them knows them.

    ``reduce(sums, largest, (pieces, values, n_blocks))`` combines arrays with those of all others
    in place, as ``native/core/collective.hpp`` says. `error` is what it raised; `history` after a fit
    ``(whether it was broken off by that, rounds to keep)``.
    """

    def __init__(self, reduce, int64_t rank, int64_t n_places):
        self.reduce = reduce
        self.native.combine = combine
        self.native.context = <void*>self
        self.native.rank = rank
        self.native.n_places = n_places
        self.native.highest = instruction_set_in_use()

    def agree_on_instructions(self):
        """Makes all places use the instruction set that all of them have."""
        highest = np.array([-<double><int>self.native.highest])
        self.reduce(np.zeros(0, np.int64), highest, (np.zeros((0, 2), np.int64), np.zeros((1, 0)), 0))
        self.native.highest = <InstructionSet><int>-highest[0]

    cdef take_in(self, const RoundHistory* history):
        self.history = history.is_broken_off, history.best_iteration


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


cdef const void* elements(array, char kind, int n_axes) except? NULL:
    """The numbers of 8 bytes of a C-contiguous array, float64 or int64 by its ``kind`` of type; NULL
    of none. A memoryview is the same in half a microsecond, which is much where a row is predicted."""
    cdef cnp.ndarray values
    if isinstance(array, np.ndarray):
        values = array
        if (cnp.PyArray_ISCARRAY_RO(values) and cnp.PyArray_NDIM(values) == n_axes
                and cnp.PyArray_ITEMSIZE(values) == 8 and values.descr.kind == kind):
            return cnp.PyArray_DATA(values) if cnp.PyArray_SIZE(values) else NULL
    raise ValueError(f"expected a C-contiguous array of {n_axes} axes and type {chr(kind)}8")


def is_matrix(X, n_columns, bint single=False):
    """Whether ``X`` is an aligned, C-contiguous array (n, n_columns) of float64, or float32 where
    ``single``; no subclass of arrays."""
    return (type(X) is np.ndarray and cnp.PyArray_NDIM(X) == 2
            and (<cnp.ndarray>X).shape[1] == n_columns
            and cnp.PyArray_ISCARRAY_RO(X)
            and (cnp.PyArray_TYPE(X) == cnp.NPY_FLOAT64
                 or single and cnp.PyArray_TYPE(X) == cnp.NPY_FLOAT32))


cdef int are_numbers_finite(const void* values, cbool single, int64_t n,
                            Execution execution) except -1 nogil:
    if single:
        return are_finite(<const float*>values, n, execution)
    return are_finite(<const double*>values, n, execution)


def is_finite(cnp.ndarray values not None, int n_threads=1):
    """Whether all numbers of an array are finite."""
    cdef int64_t n = cnp.PyArray_SIZE(values)
    cdef cbool single = cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT32
    cdef const void* data = cnp.PyArray_DATA(values)
    cdef Execution execution = execution_on(n_threads)
    cdef int finite
    if not (cnp.PyArray_ISCARRAY_RO(values) and (single or cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT64)):
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())
    if n <= 4096:
        return bool(are_numbers_finite(data, single, n, execution))
    with nogil:
        finite = are_numbers_finite(data, single, n, execution)
    return bool(finite)


cdef class Listener:
    """Passes each round's losses to Python functions; what they return, or their first error, ends the
    fit.

    ``after_round(iteration, train_loss, eval_loss)``, or None, returns True to stop. ``judge(losses,
    scores)``, or None, takes the loss and the raw scores, valid during the call, of each evaluation
    set and returns what early stopping goes by, or None for the first loss; the scores have the ``shapes`` (n_outputs, n_samples).
    """

    def __init__(self, after_round, judge=None, list shapes=None):
        self.after_round = after_round
        self.judge = judge
        self.shapes = shapes

    cdef RoundListener native(self) noexcept:
        cdef RoundListener listener
        listener.after_round = tell
        listener.context = <void*>self
        if self.judge is not None:
            listener.judge = judge
        return listener

    cdef LossChoice choice(self, loss) except *:
        """Of ``(name, parameter)`` or a function ``loss(raw, gradient, hessian)`` that writes the last
        two, all of the shape (n_outputs, n_samples) and valid during the call."""
        cdef LossChoice found
        if isinstance(loss, tuple):
            return loss_choice(loss)
        self.loss = loss
        self.derivatives.compute = compute
        self.derivatives.context = <void*>self
        found.parameter = 0.0
        found.function = &self.derivatives
        return found

    cdef raise_error(self):
        """Raises what a function has raised."""
        if self.error is not None:
            raise self.error


cdef cbool tell(void* context, int64_t iteration, double train_loss,
                double eval_loss) noexcept nogil:
    cdef Call call
    cdef double[2] losses
    losses[0], losses[1] = train_loss, eval_loss
    call.context, call.given, call.out = context, &iteration, losses
    return call_python(tell_python, &call)


cdef cbool tell_python(void* arguments) noexcept with gil:
    cdef Call* call = <Call*>arguments
    cdef Listener listener = <Listener>call.context
    cdef double* losses = <double*>call.out
    if listener.after_round is None:
        return True
    try:
        return not listener.after_round((<const int64_t*>call.given)[0], losses[0], losses[1])
    except BaseException as error:  # Ctrl-C among them, if Python is running when it comes
        listener.error = error
        return False


cdef cbool judge(void* context, const vector[Evaluation]& evaluations, double* loss) noexcept nogil:
    cdef Call call
    call.context, call.given, call.out = context, &evaluations, loss
    return call_python(judge_python, &call)


cdef cbool judge_python(void* arguments) noexcept with gil:
    cdef Call* call = <Call*>arguments
    cdef Listener listener = <Listener>call.context
    cdef const vector[Evaluation]* evaluations = <const vector[Evaluation]*>call.given
    cdef size_t i
    try:
        losses, scores = [], []
        for i in range(evaluations.size()):
            n_outputs, n_samples = listener.shapes[i]
            losses.append(dereference(evaluations)[i].loss.mean())
            scores.append(view_of(dereference(evaluations)[i].raw, n_outputs, n_samples, cnp.NPY_FLOAT64))
        judged = listener.judge(losses, scores)
        if judged is not None:
            (<double*>call.out)[0] = judged
    except BaseException as error:
        listener.error = error
        return False
    return True


cdef cbool compute(void* context, const ScoredSamples& samples, const Derivatives& out) noexcept nogil:
    cdef Call call
    call.context, call.given, call.out = context, &samples, <void*>&out
    return call_python(compute_python, &call)


cdef cbool compute_python(void* arguments) noexcept with gil:
    cdef Call* call = <Call*>arguments
    cdef Listener listener = <Listener>call.context
    cdef const ScoredSamples* samples = <const ScoredSamples*>call.given
    cdef const Derivatives* out = <const Derivatives*>call.out
    cdef int64_t n_outputs = samples.n_outputs, n_samples = samples.n_samples
    try:
        listener.loss(
            view_of(samples.raw, n_outputs, n_samples, cnp.NPY_FLOAT64),
            view_of(out.gradient, n_outputs, n_samples, cnp.NPY_FLOAT64),
            view_of(out.hessian, n_outputs, n_samples, cnp.NPY_FLOAT64),
        )
    except BaseException as error:
        listener.error = error
        return False
    return True


cdef NumberTable number_table(const double[:, ::1] values) noexcept:
    cdef NumberTable table
    table.values = pointer(values)
    table.n_rows, table.n_columns = values.shape[0], values.shape[1]
    return table


def largest_numbers(const double[:, ::1] values, double[::1] largest, double[::1] missing):
    """Raise ``largest`` to the magnitudes in each column; ``missing`` is 1.0 where some are NaN or
    infinite, which do not count."""
    cdef NumberTable table = number_table(values)
    with nogil:
        column_kernels().find_largest(table, &largest[0], &missing[0])


def add_words(const double[:, ::1] values, const double[::1] share, const double[::1] high,
              const double[::1] low, double[:, ::1] words):
    """Add the two words of ``share * values`` in units ``high`` and ``low`` to those of each column,
    (2, n_columns); NaN and infinity count as 0."""
    cdef NumberTable table = number_table(values)
    cdef ColumnUnits units
    units.high, units.low = &high[0], &low[0]
    with nogil:
        column_kernels().add_words(table, &share[0], units, &words[0, 0])


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

    def __cinit__(self, tuple choice, int64_t n_outputs):
        self.native = make_loss(loss_choice(choice), n_outputs)
        self.leaf_rule = LeafRule(<int>dereference(self.native).leaf_rule()).name
        self.has_hessian = dereference(self.native).has_hessian()

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
        total = dereference(self.native).evaluate(samples, 0, samples.n_samples, &out).reported
        return total, np.asarray(gradient), np.asarray(hessian)


def deviations(const double[:, ::1] y, const double[::1] weight):
    """The standard deviations of targets (n_outputs, n), 1 for constants; ``weight`` (n,) or None."""
    cdef vector[double] found = find_deviations(scored(y, y, weight), execution_on(1))
    return copied(found.data(), (y.shape[0],))


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
