#include "ensembles/equal_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/collective.hpp"

namespace fctree::ensembles {

namespace {

constexpr std::size_t kMostDifferent = 1 << 16;  // rows that are looked at
constexpr index_t kManyTimes = 8;  // each of few
constexpr index_t kFew = 256;
constexpr double kLargestMixed = 0.05;  // share of samples

// Samples that are equal.
struct EqualSamples {
  std::uint64_t features;
  std::uint64_t all;
  std::uint64_t number;
};

// Ascending by features and targets, equal ones as one.
void unite(std::vector<EqualSamples>& found) {
  std::sort(found.begin(), found.end(), [](const EqualSamples& a, const EqualSamples& b) {
    return a.features != b.features ? a.features < b.features : a.all < b.all;
  });
  std::size_t n = 0;
  for (const EqualSamples& samples : found) {
    if (n > 0 && found[n - 1].all == samples.all)
      found[n - 1].number += samples.number;
    else
      found[n++] = samples;
  }
  found.resize(n);
}

// The different samples whose features' hash ends in zeros, as many zeros as make them few enough: the same
// ones in whatever order they come. Those of each range of hashes are united by themselves.
class DifferentSamples {
 public:
  explicit DifferentSamples(const Execution& execution) : execution_(execution), of_range_(kRanges) {}

  void add(const EqualSamples& samples) {
    if ((samples.features & mask_) != 0) return;
    of_range_[samples.features >> kShift].push_back(samples);
    if (++size_ >= 2 * kMostDifferent) unite_all();
  }

  std::vector<EqualSamples> found() {
    unite_all();
    std::vector<EqualSamples> all;
    for (const std::vector<EqualSamples>& range : of_range_) all.insert(all.end(), range.begin(), range.end());
    return all;
  }

 private:
  static constexpr int kShift = 58;
  static constexpr index_t kRanges = 64;

  // Does this to all ranges, and counts what they have then.
  template <class Change>
  void change(const Change& change_range) {
    parallel_for(execution_, kRanges, [&](index_t r) { change_range(of_range_[r]); });
    size_ = 0;
    for (const std::vector<EqualSamples>& range : of_range_) size_ += range.size();
  }

  void unite_all() {
    change(unite);
    while (size_ > kMostDifferent) {
      mask_ = 2 * mask_ + 1;
      const auto is_dropped = [&](const EqualSamples& s) { return (s.features & mask_) != 0; };
      change([&](std::vector<EqualSamples>& range) {
        range.erase(std::remove_if(range.begin(), range.end(), is_dropped), range.end());
      });
    }
  }

  const Execution& execution_;
  std::vector<std::vector<EqualSamples>> of_range_;
  std::size_t size_ = 0;
  std::uint64_t mask_ = 0;
};

// Those of all places.
std::vector<EqualSamples> united(const std::vector<EqualSamples>& found, const Execution& execution) {
  if (execution.all == nullptr) return found;
  std::vector<double> own(found.size() * sizeof(EqualSamples) / sizeof(double));
  if (!found.empty()) std::memcpy(own.data(), found.data(), found.size() * sizeof(EqualSamples));
  const std::vector<double> gathered = gather(execution.all, own);
  std::vector<EqualSamples> parts(gathered.size() * sizeof(double) / sizeof(EqualSamples));
  if (!parts.empty()) std::memcpy(parts.data(), gathered.data(), parts.size() * sizeof(EqualSamples));
  DifferentSamples everywhere(execution);
  for (const EqualSamples& samples : parts) everywhere.add(samples);
  return everywhere.found();
}

}  // namespace

bool are_coincidences(const SampleHashes& samples, const Execution& execution) {
  DifferentSamples here(execution);
  for (std::size_t i = 0; i < samples.all.size(); ++i)
    here.add({samples.features[i], samples.all[i], 1});
  const std::vector<EqualSamples> found = united(here.found(), execution);
  index_t n_samples = 0, n_mixed = 0;
  const auto same_features = [&](std::size_t i, std::size_t j) {
    return j < found.size() && found[i].features == found[j].features;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const index_t number = static_cast<index_t>(found[i].number);
    n_samples += number;
    if ((i > 0 && same_features(i, i - 1)) || same_features(i, i + 1)) n_mixed += number;
  }
  const index_t n_different = static_cast<index_t>(found.size());
  const bool few = n_different < kFew && n_samples >= kManyTimes * n_different;
  return n_samples > n_different && (n_mixed > kLargestMixed * n_samples || few);
}

}  // namespace fctree::ensembles
