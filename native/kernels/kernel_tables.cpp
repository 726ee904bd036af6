// Picks the tables of kernels/tile.hpp of the instruction set in use.
#include "core/cpu.hpp"
#include "kernels/tile.hpp"

namespace fctree {

#define FCTREE_DECLARE_TABLES(isa)                    \
  namespace isa {                                     \
  extern const TileKernels<double> tile_table_double; \
  extern const TileKernels<float> tile_table_float;   \
  extern const FunctionKernels function_table;        \
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

struct KernelTables {
  const TileKernels<double>* of_double;
  const TileKernels<float>* of_float;
  const FunctionKernels* functions;
};

KernelTables tables() {
  switch (instruction_set_in_use()) {
#if defined(FCTREE_BUILT_AVX512)
    case InstructionSet::avx512:
      return {&avx512::tile_table_double, &avx512::tile_table_float, &avx512::function_table};
#endif
#if defined(FCTREE_BUILT_AVX2)
    case InstructionSet::avx2:
      return {&avx2::tile_table_double, &avx2::tile_table_float, &avx2::function_table};
#endif
    default:
      return {&baseline::tile_table_double, &baseline::tile_table_float,
              &baseline::function_table};
  }
}

}  // namespace

template <>
const TileKernels<double>& tile_kernels<double>() {
  return *tables().of_double;
}
template <>
const TileKernels<float>& tile_kernels<float>() {
  return *tables().of_float;
}
const FunctionKernels& function_kernels() { return *tables().functions; }

}  // namespace fctree
