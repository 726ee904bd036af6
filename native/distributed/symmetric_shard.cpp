#include "distributed/symmetric_shard.hpp"

#include <algorithm>

#include "symmetric/grow.hpp"

namespace fctree::distributed {

Shard::Shard(const BinnedMatrix& x, const double* weight, index_t max_depth)
    : x_(x), tiles_(x.n_samples()), weight_(weight), max_depth_(max_depth) {}

void Shard::start(const double* gradient, const ChannelUnits& units, const std::uint8_t* in_bag,
                  const Execution& execution) {
  if (!rows_) {
    channels_.emplace(tiles_, weight_, units);
    rows_.emplace(tiles_, *channels_, max_depth_);
  }
  channels_->set_gradients(gradient, units);
  rows_->reset(in_bag, execution);
}

void Shard::split(const LevelSplit& split, const Execution& execution) {
  rows_->split(x_, split, execution);
}

index_t Shard::n_cells(index_t n_above) const {
  index_t cells = 0;
  for (const FeatureGroup& group : x_.groups())
    cells += (group.n_codes + 1) * kCellLanes * channels_->n_channels() *
             std::max<index_t>(n_above, 1);
  return cells;
}

void Shard::count(const std::vector<std::uint8_t>& smaller_is_right, std::int64_t* out,
                  const Execution& execution) const {
  std::vector<index_t> leaves(std::max<std::size_t>(smaller_is_right.size(), 1), 0);
  for (std::size_t i = 0; i < smaller_is_right.size(); ++i)
    leaves[i] = 2 * static_cast<index_t>(i) + smaller_is_right[i];
  const std::vector<FeatureGroup>& groups = x_.groups();
  const index_t n_blocks = channels_->n_channels() * static_cast<index_t>(leaves.size());
  std::vector<index_t> first(1, 0);
  for (const FeatureGroup& group : groups)
    first.push_back(first.back() + n_blocks * (group.n_codes + 1) * kCellLanes);
  parallel_for(execution, static_cast<index_t>(groups.size()), [&](index_t g) {
    std::fill(out + first[g], out + first[g + 1], 0);
    std::vector<std::int64_t*> cells;
    for (index_t i = 0; i < n_blocks; ++i)
      cells.push_back(out + first[g] + (first[g + 1] - first[g]) / n_blocks * i);
    count_leaves(x_, groups[g], tiles_, *rows_, leaves, cells);
  });
}

void draw_rows(const BoostingParams& params, index_t iteration, index_t begin, index_t n,
               std::uint8_t* in_bag) {
  const Random random(params.seed, Purpose::row_sample);
  const double limit = params.subsample * 0x1p32;
  for (index_t i = begin; i < begin + n;) {
    const auto words = random.words(static_cast<std::uint32_t>(iteration),
                                    static_cast<std::uint32_t>(i / 4), 0);
    const index_t end = std::min(begin + n, (i / 4 + 1) * 4);
    for (; i < end; ++i) in_bag[i - begin] = words[i % 4] < limit;
  }
}

Chooser::Chooser(const BinnedMatrix& x, const BoostingParams& params, const std::int8_t* monotone)
    : x_(x),
      params_(params),
      monotone_(monotone),
      no_tiles_(0),
      feature_used_(params.colsample < 1.0 ? x.n_features() : 0),
      choice_(x_, params_),
      noise_{} {}

void Chooser::start(const ChannelUnits& units, const NoiseScale& noise) {
  if (!scores_) {
    channels_.emplace(no_tiles_, nullptr, units);
    const std::uint8_t* used = feature_used_.empty() ? nullptr : feature_used_.data();
    scores_.emplace(x_, no_tiles_, *channels_, LevelRules{params_, monotone_, used});
  }
  channels_->set_gradients(nullptr, units);
  noise_ = noise;
  splits_.clear();
  if (!feature_used_.empty()) draw_features(params_, noise.iteration, nullptr, feature_used_);
  scores_->restart();
}

LevelChoice Chooser::choose(const std::int64_t* counted, const Execution& execution) {
  LevelChoice out;
  with_team(execution, [&](const Execution& team) { scores_->compute(counted, team); });
  out.split = choice_.choose(*scores_, noise_, splits_);
  if (!out.split) return out;
  splits_.push_back(*out.split);
  if (static_cast<index_t>(splits_.size()) < params_.max_depth) {
    scores_->descend(*out.split);
    out.smaller_is_right = scores_->smaller_is_right();
  }
  return out;
}

}  // namespace fctree::distributed
