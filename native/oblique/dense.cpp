#include "oblique/dense.hpp"

#include "core/cpu.hpp"

namespace fctree {

namespace baseline {
extern const DenseKernels dense_table;
}
#if defined(FCTREE_BUILT_AVX2)
namespace avx2 {
extern const DenseKernels dense_table;
}
#endif
#if defined(FCTREE_BUILT_AVX512)
namespace avx512 {
extern const DenseKernels dense_table;
}
#endif

const DenseKernels& dense_kernels() {
  switch (instruction_set_in_use()) {
#if defined(FCTREE_BUILT_AVX512)
    case InstructionSet::avx512:
      return avx512::dense_table;
#endif
#if defined(FCTREE_BUILT_AVX2)
    case InstructionSet::avx2:
      return avx2::dense_table;
#endif
    default:
      return baseline::dense_table;
  }
}

}  // namespace fctree
