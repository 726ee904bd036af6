// Losses that are sums over outputs of a function of one target y and one score f.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/loss/loss.hpp"

namespace fctree {

// `Point` derives from this and has value(y, f), gradient(y, f) and hessian(y, f).
template <class Point>
class PointwiseLoss : public Loss {
 public:
  // Where it has a prepare() of its own.
  bool prepares() const override {
    return !std::is_same<decltype(&Point::prepare), decltype(&Loss::prepare)>::value;
  }
  // The factor of an output's derivatives, and of its loss where it decides.
  double share_of(index_t) const { return 1.0; }
  // Constant subtracted from its scores before derivatives are taken.
  double centre_of(index_t) const { return 0.0; }
  // Score below which the hessian is held constant.
  double floor_of(index_t) const { return -std::numeric_limits<double>::infinity(); }
  LossValue evaluate(const ScoredSamples& s, index_t begin, index_t end,
                     const Derivatives* out) const override {
    const Point& point = static_cast<const Point&>(*this);
    LossValue sum;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const double* y = s.y + k * s.n_samples;
      const double* raw = s.raw + k * s.n_samples;
      const double unit = s.unit_of(k), in_units = 1.0 / unit;
      const double share = point.share_of(k), centre = point.centre_of(k);
      double of_output = 0.0;
      for (index_t i = begin; i < end; ++i)
        of_output += s.weight_of(i) * point.value(in_units * y[i], in_units * raw[i]);
      sum.scaled += share * reported_factor() * of_output;
      sum.reported += reported_factor() * of_output * (s.unit == nullptr ? 1.0 : unit_of_loss(unit));
      if (out == nullptr) continue;
      double* gradient = out->gradient + k * s.n_samples;
      for (index_t i = begin; i < end; ++i)
        gradient[i] = share * point.gradient(in_units * y[i], in_units * raw[i] - centre);
      if (out->hessian == nullptr) continue;
      const double floor = point.floor_of(k);
      double* hessian = out->hessian + k * s.n_samples;
      for (index_t i = begin; i < end; ++i)
        hessian[i] = share * point.hessian(in_units * y[i], std::max(in_units * raw[i] - centre, floor));
    }
    return sum;
  }
};

}  // namespace fctree
