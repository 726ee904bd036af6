#include "ensembles/row_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/integer_sums.hpp"
#include "core/rng.hpp"

namespace fctree::ensembles {

namespace {

constexpr index_t kTaskRows = 1024;

// Of samples, to be left out of a draw: kinds of trees and the lengths of their steps are as good as what judges them, and fewer
// than a dozen judge nothing.
constexpr double kWantedLeftOut = 24.0;
constexpr double kLeastPart = 0.5;

std::uint64_t combined(std::uint64_t hash, double value) {
  value = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;  // -0 is 0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return mixed(hash + kMixStep + bits);
}

double uniform_of(const Random& random, index_t tree, std::uint64_t hash) {
  return random.uniform(static_cast<std::uint32_t>(tree), static_cast<std::uint32_t>(hash),
                        static_cast<std::uint32_t>(hash >> 32));
}

// y (n_targets, n_samples).
SampleHashes hash_samples(const BoostedSamples& samples, const DrawnBy& by, const Execution& execution) {
  const Table& x = samples.x;
  const double* y = samples.y;
  const index_t n_samples = samples.n_samples;
  SampleHashes hash = {std::vector<std::uint64_t>(n_samples), std::vector<std::uint64_t>(n_samples)};
  for_each_part(execution, n_samples, kTaskRows, [&](index_t, index_t begin, index_t end) {
    std::vector<double> buffer(x.n_columns);
    for (index_t i = begin; i < end; ++i) {
      const double* row = x.read(i, 1, buffer.data());
      std::uint64_t own = 0;
      for (const index_t j : by.columns) own = combined(own, by.rounds_features ? static_cast<float>(row[j]) : row[j]);
      hash.features[i] = own;
      // Of targets the first digits, which their units leave as they are.
      for (index_t k = 0; k < by.n_targets; ++k) {
        const double origin = by.origin == nullptr ? 0.0 : by.origin[k * n_samples + i];
        own = combined(own, static_cast<float>((y[k * n_samples + i] - origin) / (by.unit == nullptr ? 1.0 : by.unit[k])));
      }
      hash.all[i] = own;
    }
  });
  return hash;
}

}  // namespace

SampleHashes hash_samples(const BoostedSamples& samples, index_t n_targets) {
  const std::vector<index_t> columns = all_columns(samples.x.n_columns);
  return hash_samples(samples, DrawnBy{columns, n_targets, nullptr, false, 0}, Execution{});
}

RowSampler::RowSampler(const BoostedSamples& samples, const DrawnBy& by, const Execution& execution)
    : seed_(by.seed) {
  SampleHashes hash = hash_samples(samples, by, execution);
  const bool alone = are_coincidences(hash, execution);
  hash_ = std::move(hash.all);
  if (!alone) return;
  const index_t first =
      samples.blocks == nullptr ? 0 : samples.blocks->first * samples.blocks->block_rows;
  for (index_t i = 0; i < samples.n_samples; ++i)
    hash_[i] = mixed(hash_[i] + static_cast<std::uint64_t>(first + i));
}

index_t RowSampler::draw_part(index_t tree, double fraction, const Execution& execution,
                              std::vector<std::uint8_t>& drawn) const {
  const Random random(seed_, Purpose::row_sample);
  const index_t n = static_cast<index_t>(hash_.size());
  drawn.resize(n);
  const std::uint32_t edge = Random::word_of_uniform(fraction);
  index_t n_drawn = sum_integers(execution, count_parts(n, kTaskRows), 1, [&](index_t part) {
    std::array<std::uint32_t, kTaskRows> words;
    const index_t begin = part * kTaskRows, size = std::min(kTaskRows, n - begin);
    random.first_words_at(static_cast<std::uint32_t>(tree), hash_.data() + begin, size, words.data());
    index_t sum = 0;
    for (index_t i = 0; i < size; ++i) {
      const bool is_below = words[i] < edge || (words[i] == edge && uniform_of(random, tree, hash_[begin + i]) < fraction);
      sum += drawn[begin + i] = is_below;
    }
    return sum;
  });
  if (n_drawn == 0) {
    double least = 1.0;
    for (index_t i = 0; i < n; ++i) least = std::min(least, uniform_of(random, tree, hash_[i]));
    least = 0.0 - take_largest(execution.all, 0.0 - least);
    n_drawn = sum_integers(execution, n, kTaskRows, [&](index_t i) -> index_t {
      return drawn[i] = uniform_of(random, tree, hash_[i]) == least;
    });
  }
  return add_up(execution.all, n) - n_drawn;
}

index_t RowSampler::count_left_out(const std::vector<std::uint8_t>& drawn,
                                   const Collective* all) const {
  std::array<std::int64_t, 256> found{};
  std::size_t n_found = 0;
  for (std::size_t i = 0; i < hash_.size() && n_found < found.size(); ++i)
    if (drawn[i] == 0) n_found += std::exchange(found[hash_[i] >> 56], 1) == 0;
  add_up(all, found.data(), found.size());
  return static_cast<index_t>(found.size()) - std::count(found.begin(), found.end(), 0);
}

// Hashes are counted by their first byte: so many of 256 bytes are there if as many samples are drawn.
double RowSampler::estimate_different(const Collective* all) const {
  const std::vector<std::uint8_t> none(hash_.size(), 0);
  return -256.0 * std::log1p(-static_cast<double>(count_left_out(none, all)) / 256.0);
}

index_t RowSampler::count_different(const std::vector<index_t>& rows) const {
  std::vector<std::uint64_t> hashes;
  for (const index_t row : rows) hashes.push_back(hash_[row]);
  std::sort(hashes.begin(), hashes.end());
  return std::unique(hashes.begin(), hashes.end()) - hashes.begin();
}

double RowSampler::part_of(double wanted, const Collective* all) const {
  return std::min(wanted, std::max(1.0 - kWantedLeftOut / estimate_different(all), kLeastPart));
}

void RowSampler::draw_counts(index_t tree, double mean, std::vector<std::uint8_t>& count) const {
  const Random random(seed_, Purpose::row_sample);
  count.resize(hash_.size());
  bool any = false;
  double largest = 0.0;
  for (std::size_t i = 0; i < hash_.size(); ++i) {
    // The smallest k with P(at most k) above a uniform number.
    double rest = uniform_of(random, tree, hash_[i]);
    largest = std::max(largest, rest);
    double probability = std::exp(-mean);
    std::uint8_t k = 0;
    while (rest >= probability && k < 255) {
      rest -= probability;
      probability *= mean / ++k;
    }
    count[i] = k;
    any = any || k > 0;
  }
  for (std::size_t i = 0; i < hash_.size() && !any; ++i)
    count[i] = uniform_of(random, tree, hash_[i]) == largest;
}

}  // namespace fctree::ensembles
