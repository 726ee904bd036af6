// Samples and their scores F while a model of oblique trees grows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/block_sums.hpp"
#include "core/buffer.hpp"
#include "core/loss/loss.hpp"
#include "core/rounds.hpp"
#include "core/table.hpp"
#include "ensembles/ensemble.hpp"

namespace fctree::ensembles {

// Samples with their targets, (n_targets, n_samples).
struct BoostedSamples {
  Table x;                // (n_samples, n_features)
  const double* y;
  const double* weight;   // or null
  const double* initial;  // F of each sample before the first tree (n_outputs, n_samples), or
                          // null for the baseline
  index_t n_samples;
  const RowBlocks* blocks = nullptr;  // of all places, where there are others
};

struct BoostedSizes {
  index_t n_features;
  index_t n_targets;
  index_t n_outputs;
  const double* unit = nullptr;  // of each output, or null for ones
};

class BoostedSet {
 public:
  // The scores are those that the samples bring, or 0.
  BoostedSet(const BoostedSamples& samples, const BoostedSizes& sizes, const Execution& execution);
  // The same samples with the scores of now.
  BoostedSet copy(const Execution& execution) const;

  double total_weight() const { return total_weight_; }
  index_t n() const { return samples_.n_samples; }
  const BoostedSizes& sizes() const { return sizes_; }
  const Table& x() const { return samples_.x; }
  const RowBlocks* blocks() const { return samples_.blocks; }
  ScoredSamples view() const {
    return {samples_.y, raw_.data(), samples_.weight, n(), sizes_.n_outputs, sizes_.unit};
  }

  // Adds to each output's scores (n_outputs).
  void start(const std::vector<double>& baseline);
  // Takes the steps of trees first .. last - 1.
  void add(const ObliqueTreesView& trees, index_t first, index_t last, const Execution& execution);
  // The loss, and the derivatives if wanted. Summed tile by tile.
  LossSum evaluate(const Loss& loss, const Derivatives* out, const Execution& execution) const;

 private:
  BoostedSamples samples_;
  BoostedSizes sizes_;
  Buffer<double> raw_;
  double total_weight_;
};

// How the loss falls along steps s of one output, to second order: the sums of w (-g) s and w h s^2.
struct StepTerms {
  double decrease = 0.0;
  double curvature = 0.0;

  void add(const StepTerms& other, double rate = 1.0) {
    decrease += other.decrease / rate;
    curvature += other.curvature / (rate * rate);
  }
};

// The effect of a step on samples, whose scores are in the outputs' units: their loss afterwards, and how it falls
// along the step.
struct StepSums {
  explicit StepSums(index_t n_outputs) : of_outputs(n_outputs) {}
  double loss = 0.0;
  double weight = 0.0;
  std::vector<StepTerms> of_outputs;

  StepTerms total() const {
    StepTerms sum;
    for (const StepTerms& terms : of_outputs) sum.add(terms);
    return sum;
  }
  // By how much the mean loss falls, which was `before`; of a loss that has derivatives only, up to second order.
  double gain(const Loss& of, double before) const {
    if (of.has_value()) return before - loss / weight;
    const StepTerms terms = total();
    return (terms.decrease - 0.5 * terms.curvature) / weight;
  }
};

struct ScoredRow {
  const ScoredSamples& samples;
  index_t row;
};
// Adds a sample's decrease and curvature. The derivatives are those of the samples before.
void add_step(const ScoredRow& before, const ScoredRow& after, const Derivatives& derivatives,
              StepSums& sums);

// The samples that a round leaves out, with their scores: copied, but for the features.
class BoostedPart {
 public:
  BoostedPart(const BoostedSet& set, const std::vector<std::uint8_t>& in_bag,
              const Execution& execution);
  BoostedPart(const BoostedPart&) = delete;  // its table knows where its rows are
  BoostedPart& operator=(const BoostedPart&) = delete;
  BoostedSamples samples() const;
  const Buffer<index_t>& rows() const { return rows_; }

 private:
  Table x_;
  Buffer<index_t> rows_;  // their numbers among all samples
  Buffer<double> y_;
  Buffer<double> raw_;
  Buffer<double> weight_;  // empty: ones
};

}  // namespace fctree::ensembles
