// The order of values, sorted part by part as ranks are needed.
//
// Values are put into buckets, each of which is sorted when a rank in it is first asked for. So a few quantiles
// of n values cost little more than two passes over them; all ranks cost about as much as argsort.
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "core/types.hpp"

namespace fctree {

class LazyOrder {
 public:
  // Of n > 0 finite values, which stay where they are, and their weights, or null where all are 1.
  LazyOrder(const double* values, const double* weights, index_t n);

  index_t size() const { return n_; }
  double value(index_t rank) {
    look_at(bucket_of(rank));
    return values_[positions_[rank]];
  }
  // The last rank of this one's bucket if that has the same value, else this one.
  index_t last_alike(index_t rank);
  // Of all values up to a rank.
  double weight_up_to(index_t rank);
  // The first rank up to which there is this weight; size() if there is none.
  index_t rank_of_weight(double weight);
  // Positions by rank. Those of a bucket that nobody has looked at are in some order.
  const std::uint32_t* positions() const { return positions_.data(); }

 private:
  index_t bucket_of(index_t rank) const { return key_[positions_[rank]]; }
  index_t begin_of(index_t bucket) const { return bucket == 0 ? 0 : end_[bucket - 1]; }
  void find_keys();
  void fill_buckets();
  void look_at(index_t bucket);
  void sort(index_t begin, index_t end);

  const double* values_;
  const double* weights_;
  index_t n_;
  Buffer<std::uint16_t> key_;  // the bucket of each value
  Buffer<std::uint32_t> positions_;
  Buffer<double> weight_up_to_;     // each rank of the sorted buckets
  std::vector<index_t> end_;        // of each bucket
  std::vector<double> end_weight_;  // up to the end of each
  std::vector<char> is_sorted_;     // each
};

}  // namespace fctree
