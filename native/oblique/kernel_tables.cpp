// Picks the tables of kernels (dense.hpp, side_kernels.hpp, spd.hpp) of the instruction set in use.
#include "core/cpu.hpp"
#include "oblique/dense.hpp"
#include "oblique/side_kernels.hpp"
#include "oblique/spd.hpp"

namespace fctree {

namespace baseline {
extern const DenseKernels dense_table;
extern const SideKernels side_table;
extern const SpdKernels spd_table;
}  // namespace baseline
#if defined(FCTREE_BUILT_AVX2)
namespace avx2 {
extern const DenseKernels dense_table;
extern const SideKernels side_table;
extern const SpdKernels spd_table;
}  // namespace avx2
#endif
#if defined(FCTREE_BUILT_AVX512)
namespace avx512 {
extern const DenseKernels dense_table;
extern const SideKernels side_table;
extern const SpdKernels spd_table;
}  // namespace avx512
#endif

namespace {

struct KernelTables {
  const DenseKernels* dense;
  const SideKernels* side;
  const SpdKernels* spd;
};

KernelTables tables() {
  switch (instruction_set_in_use()) {
#if defined(FCTREE_BUILT_AVX512)
    case InstructionSet::avx512:
      return {&avx512::dense_table, &avx512::side_table, &avx512::spd_table};
#endif
#if defined(FCTREE_BUILT_AVX2)
    case InstructionSet::avx2:
      return {&avx2::dense_table, &avx2::side_table, &avx2::spd_table};
#endif
    default:
      return {&baseline::dense_table, &baseline::side_table, &baseline::spd_table};
  }
}

}  // namespace

const DenseKernels& dense_kernels() { return *tables().dense; }
const SideKernels& side_kernels() { return *tables().side; }
const SpdKernels& spd_kernels() { return *tables().spd; }

}  // namespace fctree
