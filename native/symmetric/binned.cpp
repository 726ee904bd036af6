#include "symmetric/binned.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/collective.hpp"

namespace fctree::symmetric {

namespace {

constexpr index_t kRowsOfTask = 1024;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Group widths differ by at most one, and the number of groups is a multiple of the threads' if
// they are few: narrow groups make more work, which many threads share otherwise (level_scores.hpp).
index_t count_groups(index_t n_features, index_t n_threads) {
  constexpr index_t kFewThreads = 4;
  if (n_threads > kFewThreads) n_threads = 1;
  const index_t least = count_parts(n_features, kCellLanes);
  const index_t even = count_parts(least, n_threads) * n_threads;
  return std::min(even, n_features);
}

}  // namespace

void BinnedMatrix::lay_out_groups(index_t n_threads) {
  const index_t n_groups = count_groups(n_features_, n_threads);
  for (index_t g = 0; g < n_groups; ++g) {
    FeatureGroup group{};
    group.first_feature = n_features_ * g / n_groups;
    group.width = n_features_ * (g + 1) / n_groups - group.first_feature;
    group.offset = n_samples_ * group.first_feature;
    group.n_codes = 1;
    for (index_t f = group.first_feature; f < group.first_feature + group.width; ++f) {
      group_index_[f] = g;
      group.n_codes = std::max(group.n_codes, n_cuts_[f] + 1);
      group.has_missing |= has_missing_[f] != 0;
    }
    groups_.push_back(group);
  }
}

// Eight bytes are read at any sample of any group.
void BinnedMatrix::make_room() {
  const index_t size = n_samples_ * n_features_;
  codes_ = Buffer<std::uint8_t>(size + 8);
  std::fill_n(codes_.data() + size, 8, std::uint8_t{0});
}

BinnedMatrix::BinnedMatrix(const BinnedMatrix& from, const std::vector<index_t>& features)
    : n_samples_(from.n_samples_),
      n_features_(static_cast<index_t>(features.size())),
      group_index_(features.size()) {
  make_room();
  for (const index_t f : features) {
    n_cuts_.push_back(from.n_cuts_[f]);
    n_cuts_of_values_.push_back(from.n_cuts_of_values_[f]);
    has_missing_.push_back(from.has_missing_[f]);
    majority_.push_back(from.majority_[f]);
  }
  lay_out_groups(1);
  for (index_t f = 0; f < n_features_; ++f) {
    const FeatureGroup& group = group_of(f);
    const FeatureGroup& old_group = from.group_of(features[f]);
    const std::uint8_t* in = from.codes(features[f]);
    std::uint8_t* out = codes_.data() + group.offset + lane_of(f);
    const auto old_missing = static_cast<std::uint8_t>(old_group.missing_code());
    const auto missing = static_cast<std::uint8_t>(group.missing_code());
    const index_t in_step = old_group.width, out_step = group.width;
    if (has_missing_[f])
      for (index_t i = 0; i < n_samples_; ++i)
        out[i * out_step] = in[i * in_step] == old_missing ? missing : in[i * in_step];
    else
      for (index_t i = 0; i < n_samples_; ++i) out[i * out_step] = in[i * in_step];
  }
}

BinnedMatrix::BinnedMatrix(const std::vector<FeatureMatrix>& x, const double* thresholds,
                           const index_t* offsets, const Execution& execution)
    : n_samples_(0),
      n_features_(x[0].n_features),
      group_index_(n_features_),
      n_cuts_(n_features_),
      n_cuts_of_values_(n_features_),
      has_missing_(n_features_, 0),
      majority_(n_features_, 0) {
  for (const FeatureMatrix& part : x) n_samples_ += part.n_samples;
  make_room();
  for (index_t f = 0; f < n_features_; ++f) {
    n_cuts_[f] = offsets[f + 1] - offsets[f];
    const bool parts_missing = n_cuts_[f] > 0 && thresholds[offsets[f + 1] - 1] == kInfinity;
    n_cuts_of_values_[f] = n_cuts_[f] - parts_missing;
  }
  // The same groups in all places, however many threads they have.
  lay_out_groups(execution.all == nullptr ? execution.n_threads : 1);
  index_t first = 0;
  for (const FeatureMatrix& part : x) {
    find_codes(part, first, thresholds, offsets, execution);
    first += part.n_samples;
  }
  if (execution.all != nullptr) {
    std::vector<std::int64_t> n_places(has_missing_.begin(), has_missing_.end());
    add_up(execution.all, n_places.data(), n_features_);
    for (index_t f = 0; f < n_features_; ++f) has_missing_[f] = n_places[f] > 0;
  }
  for (FeatureGroup& group : groups_)
    for (index_t f = group.first_feature; f < group.first_feature + group.width; ++f)
      group.has_missing |= has_missing_[f] != 0;
  find_majorities(execution);
}

// Those of samples `first` and on of all.
void BinnedMatrix::find_codes(const FeatureMatrix& x, index_t first, const double* thresholds,
                              const index_t* offsets, const Execution& execution) {
  const Partition blocks = partition_range(x.n_samples, kRowsOfTask, x.n_samples);
  std::vector<std::uint8_t> block_has_missing(blocks.n_parts * n_features_, 0);
  const double work = 4.0 * static_cast<double>(x.n_samples) * static_cast<double>(n_features_);
  parallel_for(limit_threads(execution, work), blocks.n_parts, [&](index_t b) {
    const index_t begin = blocks.begin(b), end = blocks.end(b);
    const index_t n = end - begin;
    std::vector<double> values(kCellLanes * n);
    std::vector<std::uint8_t> found(n);
    for (const FeatureGroup& group : groups_) {
      check_interrupt();
      index_t features[kCellLanes];
      std::iota(features, features + group.width, group.first_feature);
      x.copy_columns(features, group.width, begin, end, values.data());
      for (index_t lane = 0; lane < group.width; ++lane) {
        const index_t f = features[lane];
        const ThresholdSearch search(thresholds + offsets[f], n_cuts_[f],
                                     static_cast<std::uint8_t>(group.missing_code()));
        block_has_missing[b * n_features_ + f] =
            histogram_kernels().find_codes(search, values.data() + lane * n, n, found.data());
        std::uint8_t* out = codes_.data() + group.offset + (first + begin) * group.width + lane;
        for (index_t i = 0; i < n; ++i) out[i * group.width] = found[i];
      }
    }
  });
  for (index_t b = 0; b < blocks.n_parts; ++b)
    for (index_t f = 0; f < n_features_; ++f)
      has_missing_[f] |= block_has_missing[b * n_features_ + f];
}

void BinnedMatrix::find_majorities(const Execution& execution) {
  constexpr index_t kCodes = 256;
  const auto n_groups = static_cast<index_t>(groups_.size());
  const double work = static_cast<double>(n_samples_) * static_cast<double>(n_features_);
  const Execution limited = limit_threads(execution, work);
  const Partition parts = partition_range(n_samples_, kRowsOfTask, count_parts(4 * limited.n_threads, n_groups));
  const index_t n_counts = n_features_ * kCodes;
  Buffer<std::int64_t> counts(parts.n_parts * n_counts);
  parallel_for(limited, n_groups * parts.n_parts, [&](index_t task) {
    const FeatureGroup& group = groups_[task / parts.n_parts];
    const index_t part = task % parts.n_parts, width = group.width;
    std::int64_t* of_group = counts.data() + part * n_counts + group.first_feature * kCodes;
    std::fill_n(of_group, width * kCodes, 0);
    for (index_t begin = parts.begin(part); begin < parts.end(part); begin += kRowsOfTask) {
      check_interrupt();
      const std::uint8_t* row = codes(group) + begin * width;
      const std::uint8_t* end = codes(group) + std::min(begin + kRowsOfTask, parts.end(part)) * width;
      for (index_t lane = 0; lane < width; ++lane)
        for (const std::uint8_t* code = row + lane; code < end; code += width) ++of_group[lane * kCodes + *code];
    }
  });
  parallel_for(limited, n_features_, [&](index_t f) {
    std::int64_t* sums = counts.data() + f * kCodes;
    for (index_t part = 1; part < parts.n_parts; ++part)
      for (index_t code = 0; code < kCodes; ++code) sums[code] += sums[part * n_counts + code];
  });
  add_up(execution.all, counts.data(), n_counts);
  for (index_t f = 0; f < n_features_; ++f) {
    const std::int64_t* count = counts.data() + f * kCodes;
    const std::int64_t n = std::accumulate(count, count + n_cuts_[f] + 1, std::int64_t{0});
    std::int64_t above = 0;
    for (majority_[f] = n_cuts_[f]; majority_[f] > 0; --majority_[f]) {
      above += count[majority_[f]];
      if (2 * above > n) break;
    }
  }
}

}  // namespace fctree::symmetric
