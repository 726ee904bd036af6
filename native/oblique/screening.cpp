#include "oblique/screening.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace fctree {

namespace {

constexpr index_t kBins = 32;

// Weighted sums over the samples of a bin, x relative to the node's mean.
struct LineSums {
  double w = 0.0, x = 0.0, xx = 0.0, r = 0.0, xr = 0.0;
  void add(const LineSums& other, double sign) {
    w += sign * other.w;
    x += sign * other.x;
    xx += sign * other.xx;
    r += sign * other.r;
    xr += sign * other.xr;
  }
  // By how much the best line through the samples lowers the sum of squares of r.
  double decrease() const {
    if (!(w > 0.0)) return 0.0;
    const double spread = xx - x * x / w;
    const double slope = xr - x * r / w;
    return r * r / w + (spread > 1e-12 * xx ? slope * slope / spread : 0.0);
  }
};

using BinSums = std::array<LineSums, kBins>;

double best_decrease(const BinSums& bins) {
  LineSums left, right;
  for (const LineSums& bin : bins) right.add(bin, 1.0);
  const double whole = right.decrease();
  double best = 0.0;
  for (index_t b = 0; b + 1 < kBins; ++b) {
    left.add(bins[b], 1.0);
    right.add(bins[b], -1.0);
    best = std::max(best, left.decrease() + right.decrease() - whole);
  }
  return best;
}

}  // namespace

std::vector<index_t> screen_axes(const GrowState& state, const OpenNode& node) {
  const TrainingData& data = state.data;
  const index_t d = data.n_features;
  const NodeRows rows = state.rows_of(node);
  const Vector mean = (node.moments.mean + state.origin).head(d);
  Vector lowest = VectorView(data.x + rows.rows[0] * d, d);
  Vector highest = lowest;
  for (index_t i = 1; i < rows.size; ++i) {
    const VectorView x(data.x + rows.rows[i] * d, d);
    lowest = lowest.cwiseMin(x);
    highest = highest.cwiseMax(x);
  }
  const Vector range = highest - lowest;
  const Vector per_width = (range.array() > 0.0).select(kBins / range.array(), 0.0);

  Vector promise = Vector::Zero(d);
  std::vector<BinSums> bins(d);
  for (index_t k = 0; k < data.n_outputs; ++k) {
    std::fill(bins.begin(), bins.end(), BinSums());
    const double* scores = state.scores.data() + k * state.n_rows() + node.begin;
    for (index_t i = 0; i < rows.size; ++i) {
      const index_t row = rows.rows[i];
      const double* x = data.x + row * d;
      const double weight = data.weight == nullptr ? 1.0 : data.weight[row];
      const double residual =
          data.y[row * data.n_outputs + k] - node.fit.intercept[k] - scores[i];
      for (index_t j = 0; j < d; ++j) {
        const index_t bin =
            std::min<index_t>(static_cast<index_t>((x[j] - lowest[j]) * per_width[j]), kBins - 1);
        const double from_mean = x[j] - mean[j];
        const double weighted = weight * from_mean;
        bins[j][bin].add({weight, weighted, weighted * from_mean, weight * residual,
                          weighted * residual}, 1.0);
      }
    }
    for (index_t j = 0; j < d; ++j) promise[j] += best_decrease(bins[j]);
  }
  std::vector<index_t> features(d);
  std::iota(features.begin(), features.end(), 0);
  std::stable_sort(features.begin(), features.end(),
                   [&](index_t a, index_t b) { return promise[a] > promise[b]; });
  features.resize(std::min(state.params.n_screened, d));
  std::sort(features.begin(), features.end());
  return features;
}

}  // namespace fctree
