// The loss of a possible child's ridge model, from sums of products alone.
//
// A child's model is fitted to its samples and to the node's own model as pseudo-samples
// (a prior of weight parent_weight: the node's samples with the node's fitted values as
// targets), with the ridge penalty shaped by the directions on the path. Its loss is the
// generalised cross-validation estimate (Golub, Heath and Wahba 1979)
//     rss / (1 - df / n)^2,
// df the sum of the samples' leverages and n their number: unlike rss it does not reward a child
// for having few samples.
#pragma once

#include <vector>

#include "core/matrix.hpp"
#include "ridge/moments.hpp"
#include "ridge/ridge.hpp"
#include "ridge/side_kernels.hpp"

namespace fctree::ridge {

// Shared by the models of a node's possible children. Sums are about `origin`.
struct ChildModels {
  index_t n_features;
  index_t n_outputs;
  Vector origin;        // (d + K), raw units
  RowMatrix base;       // (d, spd_stride(d)): alpha * penalty + the prior's x x' sums
  RowMatrix prior;      // packed products of the prior
  double mean_weight;   // of a sample
};

// The prior that a node's model is for its children: total weight parent_weight.
Moments prior_of(const Moments& moments, const RidgeFit& fit, const Vector& origin,
                 double parent_weight);

// `scale` are the moments of the node itself, in whose units rounding errors are measured; `origin`
// is what all moments are relative to.
ChildModels child_models(const Moments& prior, const Moments& scale, const Matrix& ancestors,
                         const Vector& origin, const RidgeOptions& options);

// Losses of sides, for one thread.
class SideLosses {
 public:
  // `whole`: packed sums over the node's samples about models.origin. Both have to stay.
  SideLosses(const ChildModels& models, const RowMatrix& whole);

  // losses (n) of n <= kSidesAtOnce sides; not finite where a model cannot be computed.
  // O(n d^2 (d / 2 + K)).
  void of(const Side* sides, index_t n, double* losses);

  // Whether systems are so large that nothing is gained by more sides in a call.
  bool one_at_a_time() const;

 private:
  SideSystems systems_;
  double mean_weight_;
  std::vector<double> scratch_;
};

// The loss of the whole node's model.
double node_loss(const ChildModels& models, const RowMatrix& whole);

// Added to the diagonal of a system, relative to its own size, so that collinear columns
// and rounding leave it positive definite.
constexpr double kSystemJitter = 1e-10;
void add_jitter(const Moments& scale, double* system, index_t stride);

}  // namespace fctree::ridge
