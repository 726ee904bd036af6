// The tables of kernels of the instruction set in use.
#include "core/column_sums.hpp"
#include "core/kernel_table.hpp"
#include "core/random_words.hpp"

namespace fctree {

FCTREE_DECLARE_TABLE(ColumnKernels, column_table)
FCTREE_DECLARE_TABLE(RandomKernels, random_table)

const ColumnKernels& column_kernels() { return FCTREE_TABLE_IN_USE(column_table); }
const RandomKernels& random_kernels() { return FCTREE_TABLE_IN_USE(random_table); }

}  // namespace fctree
