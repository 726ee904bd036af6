// Random draws of a tree's samples.
//
// A draw depends on a sample's features (that vary) and targets, not on its position: equal samples are drawn
// together. So two equal samples are the same as one of twice the weight, the order of the samples
// does not matter, and a left-out sample has no duplicate among the tree's training samples. But where equal
// samples are coincidences (equal_rows.hpp) each is drawn by itself, by its position too.
#pragma once

#include <vector>

#include "core/collective.hpp"
#include "ensembles/boosted_set.hpp"
#include "ensembles/equal_rows.hpp"

namespace fctree::ensembles {

// The columns, units and seed that draws depend on.
struct DrawnBy {
  const std::vector<index_t>& columns;  // those that vary (feature_map.hpp)
  index_t n_targets;
  const double* unit;    // (n_targets) of the targets, whose first digits count, or null for ones
  bool rounds_features;  // to seven digits: some are sums over samples, whose last digits go by their order and units
  std::uint64_t seed;
  const double* origin = nullptr;  // (n_targets, n_samples) what is taken off the targets first, or null
};

// By all columns.
SampleHashes hash_samples(const BoostedSamples& samples, index_t n_targets);

class RowSampler {
 public:
  // O(n (d + n_targets)).
  RowSampler(const BoostedSamples& samples, const DrawnBy& by, const Execution& execution);

  // Draws each sample once with this probability, or one if none would be drawn; returns how many are left out.
  index_t draw_part(index_t tree, double fraction, const Execution& execution, std::vector<std::uint8_t>& drawn) const;
  // About how many different samples are left out, 256 at most: equal ones are one.
  index_t count_left_out(const std::vector<std::uint8_t>& drawn, const Collective* all) const;
  // The part to draw where this one is wanted: smaller for few samples, so that about 24 are left out, but not below a half for that.
  double part_of(double wanted, const Collective* all) const;
  // How many of these rows are different samples.
  index_t count_different(const std::vector<index_t>& rows) const;
  // How often each sample is drawn, a Poisson number with this mean: the bootstrap, without its
  // fixed total. One once if none would be drawn.
  void draw_counts(index_t tree, double mean, std::vector<std::uint8_t>& count) const;

 private:
  // About how many different samples there are, infinity for many.
  double estimate_different(const Collective* all) const;

  std::vector<std::uint64_t> hash_;  // what each sample is drawn by
  std::uint64_t seed_;
};

}  // namespace fctree::ensembles
