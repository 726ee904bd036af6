#include "oblique/split_search/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "ridge/factors.hpp"
#include "ridge/row_blocks.hpp"
#include "ridge/side_losses.hpp"
#include "ridge/spd.hpp"

namespace fctree::oblique {

namespace {

// The leave-one-out residual of a nearly interpolated sample is meaningless.
constexpr double kLargestLeverage = 0.98;

// Samples that the decreases have to come from.
constexpr double kFewest = 4.0, kFewestShare = 1.0 / 16.0;

// A residual that is smaller than this share of what it is the difference of is rounding.
constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();

// Of one of the samples that a row is: one is left out at a time, and each is a decrease of its own.
double weight_of_one(const TrainingData& data, index_t row) {
  return data.has_curvatures ? data.unit_of(row) : 1.0;
}

}  // namespace

LeverageModel leverage_model(const Moments& pooled, const RidgeFit& fit, const Matrix& ancestors,
                             const Vector& origin, const RidgeOptions& options) {
  const index_t d = pooled.cross.rows();
  LeverageModel model;
  model.coef = fit.coef;
  model.intercept = fit.intercept;
  model.mean = Vector::Zero(d);
  model.base = 0.0;
  RowMatrix system = RowMatrix::Zero(d, spd_stride(d));
  system.leftCols(d) = pooled.scatter + options.alpha * penalty_matrix(ancestors);
  const Vector mean = (pooled.mean + origin).head(d);
  if (options.fit_intercept) {
    model.mean = mean;
    model.base = 1.0 / pooled.weight;
  } else {
    system.leftCols(d) += pooled.weight * mean * mean.transpose();
  }
  add_jitter(pooled, system.data(), spd_stride(d));
  model.inverse = RowMatrix::Zero(d, spd_stride(d));
  if (!invert_factor(system, model.inverse))
    model.inverse.setConstant(1.0);  // no leverage below the cap: the model is not trusted
  return model;
}

LeverageModel constant_model(const Vector& mean, double weight, index_t n_features) {
  return {Matrix::Zero(n_features, mean.size()), mean, Vector(), RowMatrix(), 1.0 / weight};
}

void find_leverages(const TrainingData& data, const NodeRows& samples, const LeverageModel& model,
                    double* out) {
  if (model.inverse.size() == 0) {
    std::fill_n(out, samples.size, 0.0);
    return;
  }
  constexpr double kWork = 1e9;  // between two looks for an interrupt
  const double d = static_cast<double>(data.n_features);
  const index_t step = std::max<index_t>(8, static_cast<index_t>(kWork / std::max(d * d, 1.0)));
  std::vector<double> tile(kTileRows * packed_width(data.n_features, 0));
  for (index_t begin = 0; begin < samples.size; begin += step) {
    check_interrupt();
    const index_t size = std::min(step, samples.size - begin);
    dense_kernels().leverages(select(data, {samples.rows + begin, size}), model.mean.data(), model.inverse.data(), tile.data(),
                              out + begin);
  }
}

namespace {

// Squared leave-one-out residuals of some samples, summed over outputs, (size).
Vector leave_one_out_losses(const TrainingData& data, const NodeRows& samples,
                            const LeverageModel& model) {
  const index_t n_outputs = data.n_outputs;
  Vector leverages(samples.size);
  find_leverages(data, samples, model, leverages.data());
  RowMatrix scores(n_outputs, samples.size);
  dense_kernels().project(select(data, samples), model.coef.data(), n_outputs, scores.data(), samples.size);
  Vector losses(samples.size);
  for (index_t i = 0; i < samples.size; ++i) {
    const double* y = data.y + samples.rows[i] * n_outputs;
    double squares = 0.0;
    for (index_t k = 0; k < n_outputs; ++k) {
      const double residual = y[k] - model.intercept[k] - scores(k, i);
      const double size = std::abs(y[k]) + std::abs(model.intercept[k]) + std::abs(scores(k, i));
      if (std::abs(residual) > kRounding * size) squares += residual * residual;
    }
    const double leverage = weight_of_one(data, samples.rows[i]) * (model.base + leverages[i]);
    const double rest = 1.0 - std::min(leverage, kLargestLeverage);
    losses[i] = squares / (rest * rest);
  }
  return losses;
}

}  // namespace

DecreaseSums sum_decreases(const TrainingData& data, const NodeRows& samples,
                           const LeverageModel& node, const LeverageModel& child, double unit) {
  const Vector decreases = (leave_one_out_losses(data, samples, node) -
                            leave_one_out_losses(data, samples, child)) / unit;
  DecreaseSums sums;
  for (index_t i = 0; i < samples.size; ++i) {
    const double weight = weight_of_one(data, samples.rows[i]);
    sums.add(weight * decreases[i], data.weight_of(samples.rows[i]) / weight);
  }
  return sums;
}

void DecreaseSums::add(double decrease, double count) {
  values_[0] += count;
  if (decrease == 0.0) return;
  const int exponent = std::isfinite(decrease)
                           ? std::clamp(std::ilogb(decrease) - kLeastExponent, 0, kExponents - 1)
                           : kExponents - 1;
  double* own = values_.data() + 1 + exponent * kSums;
  own[decrease > 0.0 ? gains : losses] += count;
  own[total] += count * decrease;
  own[squares] += count * decrease * decrease;
}

void DecreaseSums::add(const double* others) {
  for (double& value : values_) value += *others++;
}

DecreaseSums::Limited DecreaseSums::limited() const {
  std::array<std::array<double, kSums>, kExponents + 1> below{};
  for (int e = 0; e < kExponents; ++e)
    for (int s = 0; s < kSums; ++s) below[e + 1][s] = below[e][s] + of(e)[s];
  const auto& all = below.back();
  const double enough = std::min(kFewest, kFewestShare * (all[gains] + all[losses]));
  int e = kExponents - 1;  // decreases of the last power have no limit of their own
  const auto beyond = [&](int sum) { return all[sum] - below[e][sum]; };
  const auto limit = [&] { return std::ldexp(1.0, e + kLeastExponent); };
  const auto sum_of_squares = [&] {
    return below[e][squares] + limit() * limit() * (beyond(gains) + beyond(losses));
  };
  while (e > 1 && sum_of_squares() < enough * limit() * limit()) --e;
  return {values_[0], below[e][total] + limit() * (beyond(gains) - beyond(losses)), sum_of_squares()};
}

bool passes_leave_one_out(const DecreaseSums& sums, double n_tried, double split_margin) {
  const DecreaseSums::Limited limited = sums.limited();
  const double mean = limited.total / limited.count;
  const double variance = std::max(limited.squares / limited.count - mean * mean, 0.0);
  const double chance = std::sqrt(2.0 * std::log(std::max(n_tried, 2.0)));
  return limited.total > split_margin * chance * std::sqrt(limited.count * variance);
}

}  // namespace fctree::oblique
