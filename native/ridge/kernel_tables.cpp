// The tables of kernels of the instruction set in use.
#include "core/kernel_table.hpp"
#include "ridge/dense.hpp"
#include "ridge/matrix_product.hpp"
#include "ridge/side_kernels.hpp"
#include "ridge/spd.hpp"

namespace fctree::ridge {

FCTREE_DECLARE_TABLE(DenseKernels, dense_table)
FCTREE_DECLARE_TABLE(ProductKernels, product_table)
FCTREE_DECLARE_TABLE(SideKernels, side_table)
FCTREE_DECLARE_TABLE(SpdKernels, spd_table)

const DenseKernels& dense_kernels() { return FCTREE_TABLE_IN_USE(dense_table); }
const ProductKernels& product_kernels() { return FCTREE_TABLE_IN_USE(product_table); }
const SideKernels& side_kernels() { return FCTREE_TABLE_IN_USE(side_table); }
const SpdKernels& spd_kernels() { return FCTREE_TABLE_IN_USE(spd_table); }

}  // namespace fctree::ridge
