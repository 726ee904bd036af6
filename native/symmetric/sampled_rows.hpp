// The rows that a tree is grown on.
//
//   bag       each row with the probability `subsample`: neither splits nor leaves see the others
//   searched  of a long table one of k rows, for its splits alone: one of each k neighbouring blocks of
//             rows, drawn anew for each tree. Leaves see all rows.
//
// Scores from one of k rows vary as if noise of sqrt(k - 1) root mean squares of the gradients had been added
// to those of all rows: that much less of `random_strength` is drawn (TreeGrower::drawn_strength). Without
// noise, or with more than one sample as the least of a leaf, all rows are searched.
//
// A draw is keyed by a row's number among those of all places.
#pragma once

#include <vector>

#include "core/collective.hpp"
#include "symmetric/derivative_scale.hpp"
#include "symmetric/params.hpp"

namespace fctree::symmetric {

// Rows of a block: so many that what is read of a table is whole lines of the cache.
constexpr index_t kBlockRows = 64;

struct RowSample {
  const std::uint8_t* drawn;  // (n_samples,), or null for all
  index_t one_of;             // k; 1 for a bag
};

class SampledRows {
 public:
  // Pieces of the rows of all places, one behind the other here; params is kept by reference.
  SampledRows(std::vector<Piece> pieces, const BoostingParams& params);

  // The rows of this round, whose derivatives have this scale.
  void draw(index_t iteration, const DerivativeScale& scale, const Execution& execution);
  // Those that leaves see, (n_samples,), or null for all.
  const std::uint8_t* bag() const { return bag_.empty() ? nullptr : bag_.data(); }
  RowSample searched() const { return {one_of_ == 1 ? bag() : searched_.data(), one_of_}; }

 private:
  index_t choose_one_of(const DerivativeScale& scale) const;
  // Calls draw(begin, end, drawn) for rows begin .. end - 1 of all places.
  template <class Draw>
  void for_each_stretch(const Execution& execution, std::vector<std::uint8_t>& drawn, const Draw& draw) const;

  std::vector<Piece> pieces_;
  index_t n_samples_ = 0;
  const BoostingParams& params_;
  index_t one_of_ = 1;
  std::vector<std::uint8_t> bag_;
  std::vector<std::uint8_t> searched_;
};

}  // namespace fctree::symmetric
