// One step of Adam (Kingma and Ba 2015), or of plain gradient descent, over rows of parameters.
#pragma once

#include <cstdint>

namespace fctree::soft {

// Parameters of a step: `step_size` includes Adam's bias corrections.
template <class T>
struct StepRule {
  T step_size;
  T first_decay;   // beta_1
  T second_decay;  // beta_2
  T epsilon;
  T penalty;  // adds penalty * parameter to the gradient
};

// Arrays of one length; the gradient is reset to zero after use.
template <class T>
struct Parameters {
  T* value;
  T* gradient;
  T* first_moment;   // null for plain descent
  T* second_moment;
};

template <class T>
struct StepKernels {
  void (*adam)(const StepRule<T>& rule, const Parameters<T>& parameters, std::int64_t n);
  void (*descend)(const StepRule<T>& rule, const Parameters<T>& parameters, std::int64_t n);
};

// The table of the instruction set in use (kernel_tables.cpp).
template <class T>
const StepKernels<T>& step_kernels();
template <>
const StepKernels<double>& step_kernels<double>();
template <>
const StepKernels<float>& step_kernels<float>();

}  // namespace fctree::soft
