#include "kernels/batch.hpp"

namespace fctree::kernels {

namespace {

// The rows of one problem.
template <class T>
Samples<T> samples_of(const Samples<T>& all, index_t n_problems, index_t problem) {
  if (all.data == nullptr) return all;
  const index_t n_rows = all.n_rows / n_problems;
  return {all.data + problem * n_rows * all.n_features, n_rows, all.n_features};
}

template <class T>
GramInput<T> input_of(const GramInput<T>& all, index_t n_problems, index_t problem) {
  return {samples_of(all.x, n_problems, problem), samples_of(all.y, n_problems, problem), all.scale};
}

template <class T>
index_t n_columns(const GramInput<T>& input) {
  return input.y.data == nullptr ? input.x.n_rows : input.y.n_rows;
}

// compute(problem, input, execution) for each problem.
template <class T, class Compute>
void for_each_problem(const GramInput<T>& all, index_t n_problems, const Execution& execution,
                      const Compute& compute) {
  // Above this an interrupt would wait too long for a whole problem on one thread.
  constexpr index_t kEntriesSideBySide = 1 << 20;
  const GramInput<T> first = input_of(all, n_problems, 0);
  const index_t entries = first.x.n_rows * n_columns(first);
  if (n_problems == 1 || n_problems < execution.n_threads || entries > kEntriesSideBySide) {
    for (index_t b = 0; b < n_problems; ++b) compute(b, input_of(all, n_problems, b), execution);
    return;
  }
  const double operations = static_cast<double>(first.x.n_features + 60) * entries;
  parallel_for(limit_threads(execution, operations * n_problems), n_problems, [&](index_t b) {
    compute(b, input_of(all, n_problems, b), Execution{});
  });
}

}  // namespace

template <class T>
void compute_gram_batch(const std::vector<KernelSpec>& specs, const GramInput<T>& input,
                        index_t n_problems, T* out, const Execution& execution) {
  for_each_problem(input, n_problems, execution,
                   [&](index_t b, const GramInput<T>& one, const Execution& with) {
    const index_t matrix = one.x.n_rows * n_columns(one);
    T* to = out + b * static_cast<index_t>(specs.size()) * matrix;
    if (specs.size() == 1) compute_gram(specs[0], one, to, n_columns(one), with);
    else compute_gram_path(specs, one, to, with);
  });
}

template <class T>
void multiply_gram_batch(const KernelSpec& spec, const GramInput<T>& input,
                         const BatchVectors<T>& batch, T* out, const Execution& execution) {
  for_each_problem(input, batch.n_problems, execution,
                   [&](index_t b, const GramInput<T>& one, const Execution& with) {
    multiply_gram(spec, one, batch.vectors + b * n_columns(one) * batch.n_vectors, batch.n_vectors,
                  out + b * one.x.n_rows * batch.n_vectors, with);
  });
}

#define FCTREE_INSTANTIATE(T)                                                                  \
  template void compute_gram_batch<T>(const std::vector<KernelSpec>&, const GramInput<T>&,     \
                                      index_t, T*, const Execution&);                          \
  template void multiply_gram_batch<T>(const KernelSpec&, const GramInput<T>&,                 \
                                       const BatchVectors<T>&, T*, const Execution&);
FCTREE_INSTANTIATE(double)
FCTREE_INSTANTIATE(float)
#undef FCTREE_INSTANTIATE

}  // namespace fctree::kernels
