#include "core/loss/loss.hpp"

#include <algorithm>
#include <cmath>
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

TargetUnits find_units(const Loss& loss, const ScoredSamples& s, const Execution& execution) {
  return {loss.unit_of_loss(1.0) == 0.0 ? std::vector<double>() : find_deviations(s, execution)};
}

double TargetUnits::of_stopping(const Loss& loss) const {
  const double found = loss.unit_of_loss(of_single());
  return found > 0.0 ? std::min(found, 1.0) : 1.0;  // it underflows where losses do
}

std::vector<double> find_baseline(const double* continued, const double* initial, ScoredSamples samples,
                                  const Execution& execution, Loss& loss) {
  std::vector<double> baseline(samples.n_outputs, 0.0), constants;
  if (continued != nullptr)
    std::copy_n(continued, samples.n_outputs, baseline.begin());
  else if (initial == nullptr)
    loss.baseline(samples, execution, baseline.data());
  if (!loss.balances()) return baseline;
  if (initial == nullptr)
    for (const double score : baseline) constants.insert(constants.end(), samples.n_samples, score);
  samples.raw = initial == nullptr ? constants.data() : initial;
  loss.find_dispersion(samples, execution);
  if (initial != nullptr && continued == nullptr) return loss.find_shifts(samples, execution);
  return baseline;
}

std::vector<double> find_deviations(const ScoredSamples& s, const Execution& execution) {
  constexpr double kRounding = 1e-12, kInfinity = std::numeric_limits<double>::infinity();
  const double total = exact_sum(s.n_samples, [&](index_t i) { return s.weight_of(i); }, execution);
  std::vector<double> unit(s.n_outputs, 1.0);
  for (index_t k = 0; k < s.n_outputs; ++k) {
    const double* y = s.y + k * s.n_samples;
    double ends[] = {-kInfinity, -kInfinity};  // the largest, minus the least
    for (index_t i = 0; i < s.n_samples; ++i) {
      if (!(s.weight_of(i) > 0.0)) continue;
      ends[0] = std::max(ends[0], y[i]);
      ends[1] = std::max(ends[1], -y[i]);
    }
    take_largest(execution.all, ends, 2);
    const double middle = 0.5 * ends[0] - 0.5 * ends[1], reach = 0.5 * ends[0] + 0.5 * ends[1];
    if (!(reach > 0.0)) continue;
    const auto share = [&](index_t i) { return (y[i] - middle) / reach; };
    const auto sum = [&](const auto& term) {
      const auto weighted = [&](index_t i) { return s.weight_of(i) > 0.0 ? s.weight_of(i) * term(i) : 0.0; };
      return exact_sum(s.n_samples, weighted, execution) / total;
    };
    const double mean = sum(share);
    const double variance = sum([&](index_t i) { return (share(i) - mean) * (share(i) - mean); });
    const double found = std::max(reach * std::sqrt(variance), kRounding * std::max(ends[0], ends[1]));
    if (found > 0.0 && std::isfinite(found)) unit[k] = found;
  }
  return unit;
}

}  // namespace fctree
