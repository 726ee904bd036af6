#include "oblique/row_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fctree {

namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection that spreads all bits.
std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

std::uint64_t combined(std::uint64_t hash, double value) {
  value += 0.0;  // -0 is 0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return mixed(hash + 0x9E3779B97F4A7C15u + bits);
}

}  // namespace

RowSampler::RowSampler(const double* x, const double* y, index_t n_samples, index_t n_features,
                       index_t n_targets, std::uint64_t seed)
    : hash_(n_samples, 0), seed_(seed) {
  for (index_t i = 0; i < n_samples; ++i) {
    for (index_t j = 0; j < n_features; ++j) hash_[i] = combined(hash_[i], x[i * n_features + j]);
    for (index_t k = 0; k < n_targets; ++k) hash_[i] = combined(hash_[i], y[k * n_samples + i]);
  }
  std::vector<std::uint64_t> sorted = hash_;
  std::sort(sorted.begin(), sorted.end());
  n_distinct_ = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
}

void RowSampler::draw_part(index_t tree, double fraction, std::vector<std::uint8_t>& drawn) const {
  const Random random(seed_, Purpose::row_sample);
  drawn.resize(hash_.size());
  bool any = false;
  for (std::size_t i = 0; i < hash_.size(); ++i) {
    drawn[i] = uniform(random, tree, static_cast<index_t>(i)) < fraction;
    any = any || drawn[i] != 0;
  }
  if (!any) std::fill(drawn.begin(), drawn.end(), 1);
}

void RowSampler::draw_counts(index_t tree, double mean, std::vector<std::uint8_t>& count) const {
  const Random random(seed_, Purpose::row_sample);
  count.resize(hash_.size());
  bool any = false;
  for (std::size_t i = 0; i < hash_.size(); ++i) {
    // The least k with P(at most k) above a uniform number.
    double rest = uniform(random, tree, static_cast<index_t>(i));
    double probability = std::exp(-mean);
    std::uint8_t k = 0;
    while (rest >= probability && k < 255) {
      rest -= probability;
      probability *= mean / ++k;
    }
    count[i] = k;
    any = any || k > 0;
  }
  if (!any) std::fill(count.begin(), count.end(), 1);
}

}  // namespace fctree
