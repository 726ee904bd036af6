// Picks the tables of kernels of the instruction set in use.
#include "boosting/scan.hpp"
#include "boosting/vote.hpp"
#include "core/cpu.hpp"

namespace fctree {

namespace baseline {
extern const ScanKernels scan_table;
extern const VoteKernels vote_table;
}  // namespace baseline
#if defined(FCTREE_BUILT_AVX2)
namespace avx2 {
extern const ScanKernels scan_table;
extern const VoteKernels vote_table;
}  // namespace avx2
#endif
#if defined(FCTREE_BUILT_AVX512)
namespace avx512 {
extern const ScanKernels scan_table;
extern const VoteKernels vote_table;
}  // namespace avx512
#endif

namespace {

struct KernelTables {
  const ScanKernels* scan;
  const VoteKernels* vote;
};

KernelTables tables() {
  switch (instruction_set_in_use()) {
#if defined(FCTREE_BUILT_AVX512)
    case InstructionSet::avx512:
      return {&avx512::scan_table, &avx512::vote_table};
#endif
#if defined(FCTREE_BUILT_AVX2)
    case InstructionSet::avx2:
      return {&avx2::scan_table, &avx2::vote_table};
#endif
    default:
      return {&baseline::scan_table, &baseline::vote_table};
  }
}

}  // namespace

const ScanKernels& scan_kernels() { return *tables().scan; }
const VoteKernels& vote_kernels() { return *tables().vote; }

}  // namespace fctree
