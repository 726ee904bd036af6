#include "ensembles/equal_rows.hpp"

#include <algorithm>
#include <cstring>

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

// The different samples whose features' hash ends in zeros, as many zeros as make them few enough: the same
// ones in whatever order they come.
class DifferentSamples {
 public:
  void add(const EqualSamples& samples) {
    if ((samples.features & mask_) != 0) return;
    found_.push_back(samples);
    if (found_.size() >= 2 * kMostDifferent) unite();
  }

  const std::vector<EqualSamples>& found() {
    unite();
    return found_;
  }

 private:
  void unite();

  std::vector<EqualSamples> found_;
  std::uint64_t mask_ = 0;
};

void DifferentSamples::unite() {
  std::sort(found_.begin(), found_.end(), [](const EqualSamples& a, const EqualSamples& b) {
    return a.features != b.features ? a.features < b.features : a.all < b.all;
  });
  std::size_t n = 0;
  for (const EqualSamples& samples : found_) {
    if (n > 0 && found_[n - 1].all == samples.all)
      found_[n - 1].number += samples.number;
    else
      found_[n++] = samples;
  }
  found_.resize(n);
  while (found_.size() > kMostDifferent) {
    mask_ = 2 * mask_ + 1;
    const auto is_dropped = [&](const EqualSamples& s) { return (s.features & mask_) != 0; };
    found_.erase(std::remove_if(found_.begin(), found_.end(), is_dropped), found_.end());
  }
}

// Those of all places.
DifferentSamples united(DifferentSamples here, const Collective* all) {
  if (all == nullptr) return here;
  const std::vector<EqualSamples>& found = here.found();
  std::vector<double> own(found.size() * sizeof(EqualSamples) / sizeof(double));
  if (!found.empty()) std::memcpy(own.data(), found.data(), found.size() * sizeof(EqualSamples));
  const std::vector<double> gathered = gather(all, own);
  std::vector<EqualSamples> parts(gathered.size() * sizeof(double) / sizeof(EqualSamples));
  if (!parts.empty()) std::memcpy(parts.data(), gathered.data(), parts.size() * sizeof(EqualSamples));
  DifferentSamples everywhere;
  for (const EqualSamples& samples : parts) everywhere.add(samples);
  return everywhere;
}

}  // namespace

bool are_coincidences(const SampleHashes& samples, const Collective* all) {
  DifferentSamples here;
  for (std::size_t i = 0; i < samples.all.size(); ++i)
    here.add({samples.features[i], samples.all[i], 1});
  DifferentSamples everywhere = united(std::move(here), all);
  const std::vector<EqualSamples>& found = everywhere.found();
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
