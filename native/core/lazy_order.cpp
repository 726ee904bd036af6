#include "core/lazy_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/argsort.hpp"
#include "core/matrix.hpp"

namespace fctree {

namespace {

constexpr index_t kMostBuckets = 2048;
constexpr index_t kOfBucket = 3;  // values, where they are spread evenly
constexpr index_t kMostCompared = 256;  // in a bucket, above which argsort is faster

}  // namespace

LazyOrder::LazyOrder(const double* values, const double* weights, index_t n)
    : values_(values), weights_(weights), n_(n), key_(n), positions_(n),
      weight_up_to_(weights == nullptr ? 0 : n),
      end_(std::clamp<index_t>(n / kOfBucket, 1, kMostBuckets), 0), is_sorted_(end_.size(), false) {
  find_keys();
  fill_buckets();
}

void LazyOrder::find_keys() {
  const VectorView all(values_, n_);
  const double lowest = all.minCoeff();
  const double scale = static_cast<double>(end_.size()) / (all.maxCoeff() - lowest);
  if (!(scale > 0.0 && std::isfinite(scale))) {  // the range overflows, or is 0
    std::fill_n(key_.data(), n_, std::uint16_t{0});
    return;
  }
  const auto last = static_cast<std::int32_t>(end_.size() - 1);
  for (index_t i = 0; i < n_; ++i) {
    const auto key = static_cast<std::int32_t>((values_[i] - lowest) * scale);
    key_[i] = static_cast<std::uint16_t>(key < last ? key : last);
  }
}

void LazyOrder::fill_buckets() {
  for (index_t i = 0; i < n_; ++i) ++end_[key_[i]];
  index_t begin = 0;
  for (index_t& end : end_) begin += std::exchange(end, begin);
  for (index_t i = 0; i < n_; ++i) positions_[end_[key_[i]]++] = static_cast<std::uint32_t>(i);
  if (weights_ == nullptr) return;
  end_weight_.assign(end_.size(), 0.0);
  for (index_t i = 0; i < n_; ++i) end_weight_[key_[i]] += weights_[i];
  std::partial_sum(end_weight_.begin(), end_weight_.end(), end_weight_.begin());
}

void LazyOrder::sort(index_t begin, index_t end) {
  const index_t n = end - begin;
  std::uint32_t* const own = positions_.data() + begin;
  const auto is_before = [this](std::uint32_t a, std::uint32_t b) {
    return values_[a] < values_[b] || (values_[a] == values_[b] && a < b);
  };
  if (std::is_sorted(own, own + n, is_before)) return;  // as those of one value are
  if (n <= kMostCompared) return std::sort(own, own + n, is_before);
  const std::vector<std::uint32_t> unsorted(own, own + n);
  std::vector<double> values(n);
  for (index_t i = 0; i < n; ++i) values[i] = values_[unsorted[i]];
  std::vector<std::uint64_t> items(n), spare(n);
  const std::uint64_t* order = argsort(values.data(), n, {items.data(), spare.data()});
  for (index_t i = 0; i < n; ++i) own[i] = unsorted[position(order[i])];
}

void LazyOrder::look_at(index_t bucket) {
  if (is_sorted_[bucket]) return;
  is_sorted_[bucket] = true;
  const index_t begin = begin_of(bucket), end = end_[bucket];
  sort(begin, end);
  if (weights_ == nullptr) return;
  double up_to = bucket == 0 ? 0.0 : end_weight_[bucket - 1];
  for (index_t i = begin; i < end; ++i) weight_up_to_[i] = up_to += weights_[positions_[i]];
}

index_t LazyOrder::last_alike(index_t rank) {
  const index_t last = end_[bucket_of(rank)] - 1;
  return value(rank) == values_[positions_[last]] ? last : rank;
}

double LazyOrder::weight_up_to(index_t rank) {
  if (weights_ == nullptr) return static_cast<double>(rank + 1);
  look_at(bucket_of(rank));
  return weight_up_to_[rank];
}

index_t LazyOrder::rank_of_weight(double weight) {
  if (weights_ == nullptr) {
    const double rank = std::ceil(weight) - 1.0;
    return static_cast<index_t>(std::clamp(rank, 0.0, static_cast<double>(n_)));
  }
  const index_t bucket = std::lower_bound(end_weight_.begin(), end_weight_.end(), weight) - end_weight_.begin();
  if (bucket == static_cast<index_t>(end_.size())) return n_;
  look_at(bucket);
  const double* found = std::lower_bound(weight_up_to_.data() + begin_of(bucket),
                                         weight_up_to_.data() + end_[bucket], weight);
  return found - weight_up_to_.data();
}

}  // namespace fctree
