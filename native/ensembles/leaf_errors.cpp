#include "ensembles/leaf_errors.hpp"

#include <algorithm>

namespace fctree::ensembles {

namespace {

constexpr index_t kTreesAtOnce = 8;  // whose leaves are side by side
constexpr index_t kTaskRows = 256;

Execution for_samples(const LeafErrors& errors, const Execution& execution) {
  constexpr double kOfLeaf = 5.0;  // in multiply-adds
  return limit_threads(execution, kOfLeaf * static_cast<double>(errors.n_samples * errors.n_trees * errors.n_outputs));
}

}  // namespace

void add_leaf_errors(const LeafErrors& errors, double* leaf_sums, const Execution& execution) {
  const index_t n_outputs = errors.n_outputs;
  for_each_part(for_samples(errors, execution), errors.n_trees, kTreesAtOnce, [&](index_t, index_t begin, index_t end) {
    for (index_t i = 0; i < errors.n_samples; ++i)
      for (index_t t = begin; t < end; ++t) {
        double* sums = leaf_sums + errors.leaf[i * errors.n_trees + t] * (1 + n_outputs);
        sums[0] += errors.weight[i];
        for (index_t k = 0; k < n_outputs; ++k)
          sums[1 + k] += errors.weight[i] * errors.size[i * n_outputs + k];
      }
  });
}

void mean_scales(const LeafErrors& errors, const double* leaf_sums, const double* prior,
                 double* out, const Execution& execution) {
  const index_t n_outputs = errors.n_outputs;
  const double n_trees = static_cast<double>(errors.n_trees);
  for_each_part(for_samples(errors, execution), errors.n_samples, kTaskRows, [&](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const double own = errors.weight[i];
      for (index_t k = 0; k < n_outputs; ++k) {
        const double own_error = own * errors.size[i * n_outputs + k];
        double total = 0.0;
        for (index_t t = 0; t < errors.n_trees; ++t) {
          const double* sums = leaf_sums + errors.leaf[i * errors.n_trees + t] * (1 + n_outputs);
          const double rest = std::max(sums[1 + k] - own_error, 0.0);  // below it by rounding alone
          total += (rest + prior[1 + k]) / (sums[0] - own + prior[0]);
        }
        out[i * n_outputs + k] = total / n_trees;
      }
    }
  });
}

}  // namespace fctree::ensembles
