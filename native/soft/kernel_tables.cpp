// Picks the tables of walk.hpp, dense.hpp and adam.hpp of the instruction set in use.
#include "core/cpu.hpp"
#include "soft/adam.hpp"
#include "soft/dense.hpp"
#include "soft/walk.hpp"

namespace fctree {

#define FCTREE_DECLARE_TABLES(isa)                     \
  namespace isa {                                      \
  extern const WalkKernels<double> walk_table_double;  \
  extern const WalkKernels<float> walk_table_float;    \
  extern const DenseKernels<double> dense_table_double; \
  extern const DenseKernels<float> dense_table_float;  \
  extern const StepKernels<double> step_table_double;  \
  extern const StepKernels<float> step_table_float;    \
  }

FCTREE_DECLARE_TABLES(baseline)
#if defined(FCTREE_BUILT_AVX2)
FCTREE_DECLARE_TABLES(avx2)
#endif
#if defined(FCTREE_BUILT_AVX512)
FCTREE_DECLARE_TABLES(avx512)
#endif
#undef FCTREE_DECLARE_TABLES

namespace {

template <class Table>
const Table& choose(const Table& baseline, [[maybe_unused]] const Table* avx2,
                    [[maybe_unused]] const Table* avx512) {
  switch (instruction_set_in_use()) {
    case InstructionSet::avx512: return *avx512;
    case InstructionSet::avx2: return *avx2;
    default: return baseline;
  }
}

}  // namespace

#if defined(FCTREE_BUILT_AVX2)
#define FCTREE_AVX2(table) &avx2::table
#else
#define FCTREE_AVX2(table) nullptr
#endif
#if defined(FCTREE_BUILT_AVX512)
#define FCTREE_AVX512(table) &avx512::table
#else
#define FCTREE_AVX512(table) nullptr
#endif
#define FCTREE_CHOOSE(table) choose(baseline::table, FCTREE_AVX2(table), FCTREE_AVX512(table))

template <>
const WalkKernels<double>& walk_kernels<double>() {
  return FCTREE_CHOOSE(walk_table_double);
}
template <>
const WalkKernels<float>& walk_kernels<float>() {
  return FCTREE_CHOOSE(walk_table_float);
}
template <>
const DenseKernels<double>& dense_kernels<double>() {
  return FCTREE_CHOOSE(dense_table_double);
}
template <>
const DenseKernels<float>& dense_kernels<float>() {
  return FCTREE_CHOOSE(dense_table_float);
}
template <>
const StepKernels<double>& step_kernels<double>() {
  return FCTREE_CHOOSE(step_table_double);
}
template <>
const StepKernels<float>& step_kernels<float>() {
  return FCTREE_CHOOSE(step_table_float);
}

}  // namespace fctree
