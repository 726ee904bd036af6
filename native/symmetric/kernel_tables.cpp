// The tables of kernels of the instruction set in use.
#include "core/kernel_table.hpp"
#include "symmetric/histogram_kernels.hpp"
#include "symmetric/predict_kernels.hpp"

namespace fctree::symmetric {

FCTREE_DECLARE_TABLE(HistogramKernels, histogram_table)
FCTREE_DECLARE_TABLE(PredictKernels, predict_table)

const HistogramKernels& histogram_kernels() { return FCTREE_TABLE_IN_USE(histogram_table); }
const PredictKernels& predict_kernels() { return FCTREE_TABLE_IN_USE(predict_table); }

}  // namespace fctree::symmetric
