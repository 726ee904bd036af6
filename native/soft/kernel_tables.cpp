// The tables of walk.hpp, dense.hpp and adam.hpp of the instruction set in use.
#include "core/kernel_table.hpp"
#include "soft/adam.hpp"
#include "soft/dense.hpp"
#include "soft/walk.hpp"

namespace fctree::soft {

FCTREE_DECLARE_TABLE(WalkKernels<double>, walk_table_double)
FCTREE_DECLARE_TABLE(WalkKernels<float>, walk_table_float)
FCTREE_DECLARE_TABLE(DenseKernels<double>, dense_table_double)
FCTREE_DECLARE_TABLE(DenseKernels<float>, dense_table_float)
FCTREE_DECLARE_TABLE(StepKernels<double>, step_table_double)
FCTREE_DECLARE_TABLE(StepKernels<float>, step_table_float)

template <>
const WalkKernels<double>& walk_kernels<double>() {
  return FCTREE_TABLE_IN_USE(walk_table_double);
}
template <>
const WalkKernels<float>& walk_kernels<float>() {
  return FCTREE_TABLE_IN_USE(walk_table_float);
}
template <>
const DenseKernels<double>& dense_kernels<double>() {
  return FCTREE_TABLE_IN_USE(dense_table_double);
}
template <>
const DenseKernels<float>& dense_kernels<float>() {
  return FCTREE_TABLE_IN_USE(dense_table_float);
}
template <>
const StepKernels<double>& step_kernels<double>() {
  return FCTREE_TABLE_IN_USE(step_table_double);
}
template <>
const StepKernels<float>& step_kernels<float>() {
  return FCTREE_TABLE_IN_USE(step_table_float);
}

}  // namespace fctree::soft
