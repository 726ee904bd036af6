// The tables of tile.hpp of the instruction set in use.
#include "core/kernel_table.hpp"
#include "kernels/tile.hpp"

namespace fctree::kernels {

FCTREE_DECLARE_TABLE(TileKernels<double>, tile_table_double)
FCTREE_DECLARE_TABLE(TileKernels<float>, tile_table_float)
FCTREE_DECLARE_TABLE(FunctionKernels, function_table)

template <>
const TileKernels<double>& tile_kernels<double>() {
  return FCTREE_TABLE_IN_USE(tile_table_double);
}
template <>
const TileKernels<float>& tile_kernels<float>() {
  return FCTREE_TABLE_IN_USE(tile_table_float);
}
const FunctionKernels& function_kernels() { return FCTREE_TABLE_IN_USE(function_table); }

}  // namespace fctree::kernels
