// The tables of walk.hpp, dense.hpp and adam.hpp of the instruction set in use.
#include "core/kernel_table.hpp"
#include "soft/adam.hpp"
#include "soft/dense.hpp"
#include "soft/walk.hpp"

namespace fctree::soft {

FCTREE_TABLES_OF_TYPES(WalkKernels, walk_kernels, walk_table)
FCTREE_TABLES_OF_TYPES(DenseKernels, dense_kernels, dense_table)
FCTREE_TABLES_OF_TYPES(StepKernels, step_kernels, step_table)

}  // namespace fctree::soft
