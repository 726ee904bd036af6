// The exponents (core/exact_sum.hpp) of a round's derivatives, by which the units of all its sums are
// chosen.
#pragma once

#include <vector>

#include "core/exact_sum.hpp"
#include "core/loss/loss.hpp"

namespace fctree::symmetric {

struct DerivativeScale {
  std::vector<ExponentCounts> gradient;  // of w g, one an output
  std::vector<int> hessian;              // the largest of w h, one an output
  int square = 0;                        // the largest of w g^2
  index_t n_samples = 0;

  void merge(const DerivativeScale& other);
  // The effective share of the samples, (sum |w g|)^2 / (n sum (w g)^2) over n numbers: 1 if all have the same
  // magnitude, small for a rare class or few large errors. Magnitudes between two powers of two count as
  // uniform.
  double share_that_tells() const;
};

// Of samples begin .. end.
DerivativeScale find_scale(const ScoredSamples& samples, const Derivatives& derivatives,
                           index_t begin, index_t end);

// A sample's term in the mean square of the gradients: w g^2.
inline double squared_term(double gradient, double weight) { return gradient * gradient * weight; }

}  // namespace fctree::symmetric
