// The kernels of soft/adam.hpp, compiled once per instruction set.
#include "soft/adam.hpp"

namespace fctree::soft::FCTREE_ISA {

namespace {

inline float root(float v) { return __builtin_sqrtf(v); }
inline double root(double v) { return __builtin_sqrt(v); }

template <class T>
void adam(const StepRule<T>& rule, const Parameters<T>& parameters, std::int64_t n) {
  T* __restrict__ value = parameters.value;
  T* __restrict__ gradient = parameters.gradient;
  T* __restrict__ first = parameters.first_moment;
  T* __restrict__ second = parameters.second_moment;
  for (std::int64_t i = 0; i < n; ++i) {
    const T g = gradient[i] + rule.penalty * value[i];
    const T m = rule.first_decay * first[i] + (T(1) - rule.first_decay) * g;
    const T v = rule.second_decay * second[i] + (T(1) - rule.second_decay) * g * g;
    value[i] -= rule.step_size * m / (root(v) + rule.epsilon);
    first[i] = m;
    second[i] = v;
    gradient[i] = T(0);
  }
}

template <class T>
void descend(const StepRule<T>& rule, const Parameters<T>& parameters, std::int64_t n) {
  T* __restrict__ value = parameters.value;
  T* __restrict__ gradient = parameters.gradient;
  for (std::int64_t i = 0; i < n; ++i) {
    value[i] -= rule.step_size * (gradient[i] + rule.penalty * value[i]);
    gradient[i] = T(0);
  }
}

}  // namespace

extern const StepKernels<double> step_table_double;
const StepKernels<double> step_table_double = {adam<double>, descend<double>};
extern const StepKernels<float> step_table_float;
const StepKernels<float> step_table_float = {adam<float>, descend<float>};

}  // namespace fctree::soft::FCTREE_ISA
