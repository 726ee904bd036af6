// The table of kernels of the instruction set in use.
#include "core/kernel_table.hpp"
#include "ensembles/shallow_kernels.hpp"

namespace fctree::ensembles {

FCTREE_DECLARE_TABLE(ShallowKernels, shallow_table)

const ShallowKernels& shallow_kernels() { return FCTREE_TABLE_IN_USE(shallow_table); }

}  // namespace fctree::ensembles
