#include "core/loss/loss.hpp"

#include <stdexcept>
#include <vector>

#include "core/exact_sum.hpp"

namespace fctree {

void Loss::baseline(const ScoredSamples& s, const Execution& execution, double* out) const {
  const double total = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i); }, execution);
  std::vector<double> means(s.n_outputs);
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const double* y = s.y + k * s.n_samples;
    const auto term = [&](index_t i) { return s.weight_of(i) * y[i]; };
    means[k] = exact_sum(s.n_samples, term, execution) / total;
  }
  baseline_of_means(means.data(), s.n_outputs, out);
}

void Loss::baseline_of_means(const double*, index_t, double*) const {
  throw std::logic_error("the starting score of this loss is not a matter of means");
}

}  // namespace fctree
