# What the bindings share: errors and signals, where work runs, arrays out of the core, the losses,
# and the listener of a fit.
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "translate.hpp" namespace "fctree" nogil:
    void set_python_error()
    cbool signal_raised()
    cbool call_python(cbool (*call)(void*) noexcept, void* arguments)


cdef extern from "core/cpu.hpp" namespace "fctree" nogil:
    cpdef enum class InstructionSet(int):
        baseline
        avx2
        avx512

    InstructionSet instruction_set_in_use()


cdef extern from "core/collective.hpp" namespace "fctree" nogil:
    cdef struct Piece:
        int64_t begin
        int64_t size

    cdef struct Reduction:
        int64_t* sums
        int64_t n_sums
        double* largest
        int64_t n_largest
        double* block_sums
        int64_t n_block_sums
        const Piece* pieces
        int64_t n_pieces
        int64_t n_blocks

    cdef struct Collective:
        cbool (*combine)(void*, const Reduction&) noexcept
        void* context
        int64_t rank
        int64_t n_places
        InstructionSet highest


cdef extern from "core/parallel.hpp" namespace "fctree" nogil:
    cdef struct Execution:
        int n_threads
        cbool (*interrupted)()
        const Collective* all


cdef extern from "core/finite.hpp" namespace "fctree" nogil:
    cbool are_finite(const double*, int64_t, const Execution&) except +set_python_error
    cbool are_finite(const float*, int64_t, const Execution&) except +set_python_error


cdef extern from "core/loss/loss.hpp" namespace "fctree" nogil:
    cpdef enum class LeafRule(int):
        newton
        quantile
        clipped_mean

    cdef struct ScoredSamples:
        const double* y
        const double* raw
        const double* weight
        int64_t n_samples
        int64_t n_outputs

    cdef struct Derivatives:
        double* gradient
        double* hessian

    cdef struct LossValue:
        double reported

    vector[double] find_deviations(const ScoredSamples&, const Execution&) except +set_python_error

    cdef cppclass NativeLoss "fctree::Loss":
        LeafRule leaf_rule()
        cbool has_hessian()
        void prepare(const ScoredSamples&) except +set_python_error
        LossValue evaluate(const ScoredSamples&, int64_t, int64_t,
                           const Derivatives*) except +set_python_error


cdef extern from "core/loss/derivatives_function.hpp" namespace "fctree" nogil:
    cdef struct DerivativesFunction:
        cbool (*compute)(void*, const ScoredSamples&, const Derivatives&) noexcept
        void* context


cdef extern from "core/loss/registry.hpp" namespace "fctree" nogil:
    cdef struct LossParameter:
        const char* name
        double low
        double high
        double value

    cdef cppclass NativeLossInfo "fctree::LossInfo":
        const char* name
        const char* task
        const char* domain
        const char* link
        LossParameter parameter

    cdef cppclass LossChoice:
        string name
        double parameter
        const DerivativesFunction* function

    const vector[NativeLossInfo]& native_losses "fctree::losses"()
    unique_ptr[NativeLoss] make_loss(const LossChoice&, int64_t) except +set_python_error


cdef extern from "core/column_sums.hpp" namespace "fctree" nogil:
    cdef struct NumberTable:
        const double* values
        int64_t n_rows
        int64_t n_columns

    cdef struct ColumnUnits:
        const double* high
        const double* low

    cdef cppclass ColumnKernels:
        void (*find_largest)(const NumberTable&, double*, double*) noexcept
        void (*add_words)(const NumberTable&, const double*, const ColumnUnits&, double*) noexcept

    const ColumnKernels& column_kernels()


cdef extern from "core/table.hpp" namespace "fctree" nogil:
    cdef cppclass Table:
        const void* values
        cbool is_single
        int64_t n_columns


cdef extern from "core/patience.hpp" namespace "fctree" nogil:
    cdef cppclass NativePatience "fctree::Patience":
        NativePatience(int64_t, double)
        void start(double)
        cbool take(double)
        cbool is_over()


cdef extern from "core/rounds.hpp" namespace "fctree" nogil:
    cdef cppclass LossSum:
        double mean()

    cdef cppclass Evaluation:
        LossSum loss
        const double* raw

    cdef struct RoundListener:
        cbool (*after_round)(void*, int64_t, double, double) noexcept
        void* context
        cbool (*judge)(void*, const vector[Evaluation]&, double*) noexcept

    cdef cppclass RoundHistory:
        vector[double] train_loss
        vector[double] eval_loss
        vector[double] judged
        int64_t best_iteration
        cbool is_broken_off


cdef check_size(int64_t n_samples)
cdef Execution execution_on(int n_threads, Places places=*) noexcept
cdef LossChoice loss_choice(tuple loss) except *
cdef copied(const void* values, tuple shape, dtype=*)
cdef const double* pointer(const double[:, ::1] values) noexcept
cdef const double* pointer_1d(const double[::1] values) noexcept
cdef const void* elements(array, char kind, int n_axes) except? NULL


cdef class Places:
    cdef Collective native
    cdef object reduce
    cdef readonly object error
    cdef readonly object history

    cdef take_in(self, const RoundHistory* history)


cdef class Listener:
    cdef object after_round
    cdef object judge
    cdef list shapes
    cdef object loss
    cdef DerivativesFunction derivatives
    cdef object error

    cdef RoundListener native(self) noexcept
    cdef LossChoice choice(self, loss) except *
    cdef raise_error(self)
