// The tables of tile.hpp of the instruction set in use.
#include "core/kernel_table.hpp"
#include "kernels/tile.hpp"

namespace fctree::kernels {

FCTREE_TABLES_OF_TYPES(TileKernels, tile_kernels, tile_table)

}  // namespace fctree::kernels
