// Samples and their scores F while a model of oblique trees grows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/loss/registry.hpp"
#include "core/parallel.hpp"
#include "core/rounds.hpp"
#include "ensembles/ensemble.hpp"

namespace fctree::ensembles {

// Samples with their targets, (n_targets, n_samples).
struct BoostedSamples {
  const double* x;        // (n_samples, n_features), row-major
  const double* y;
  const double* weight;   // or null
  const double* initial;  // F of each sample before the first tree (n_outputs, n_samples), or
                          // null for the baseline
  index_t n_samples;
};

struct ObliqueBoostingTask {
  BoostedSamples train;
  const BoostedSamples* eval;  // or null
  index_t n_features;
  index_t n_targets;
  index_t n_outputs;
  LossChoice loss;
  const double* baseline;            // (n_outputs,) of a model to continue, or null to find it
  const ObliqueTreesView* continued; // the trees of that model, or null
  index_t first_iteration;           // how many they are
};

class BoostedSet {
 public:
  // The scores are those that the samples bring, or 0.
  BoostedSet(const BoostedSamples& samples, const ObliqueBoostingTask& task);

  index_t n() const { return samples_.n_samples; }
  index_t n_features() const { return n_features_; }
  index_t n_targets() const { return n_targets_; }
  const double* x() const { return samples_.x; }
  ScoredSamples view() const {
    return {samples_.y, raw_.data(), samples_.weight, n(), n_outputs_};
  }

  // Scores (n_outputs) of samples that bring none.
  void start(const std::vector<double>& baseline);
  // Takes the steps of trees first .. last - 1.
  void add(const ObliqueTreesView& trees, index_t first, index_t last, const Execution& execution);
  // The loss, and the derivatives if wanted. Summed tile by tile.
  LossSum evaluate(const Loss& loss, const Derivatives* out, const Execution& execution) const;

 private:
  BoostedSamples samples_;
  index_t n_features_;
  index_t n_targets_;
  index_t n_outputs_;
  std::vector<double> raw_;
  double total_weight_;
};

// A copy of the samples that a round leaves out, with their scores.
class BoostedPart {
 public:
  BoostedPart(const BoostedSet& set, const std::vector<std::uint8_t>& in_bag);
  BoostedSamples samples() const;

 private:
  index_t n_;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> raw_;
  std::vector<double> weight_;  // empty: ones
};

}  // namespace fctree::ensembles
