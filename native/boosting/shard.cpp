#include "boosting/shard.hpp"

#include <algorithm>

#include "boosting/grow.hpp"

namespace fctree {

namespace {

constexpr std::int64_t kNotCounted = -1;

index_t leaf_stride(const FeatureGroup& group) { return (group.n_codes + 1) * kCellLanes; }

// The rows of a tile that are counted, by leaf.
struct CountedRows {
  std::vector<std::uint16_t> rows;
  std::vector<std::vector<std::int64_t>> values;  // a channel each
  std::vector<index_t> begin;                     // (n_counted + 1,)
};

// Orders them by counting sort; place[leaf] is the number of a counted leaf, or kNotCounted.
CountedRows order_rows(const ShardRows& shard, index_t tile,
                       const std::vector<std::int64_t>& place, index_t n_counted) {
  const index_t begin = shard.tiles.begin(tile), end = shard.tiles.end(tile);
  const LeafAssignment& leaves = shard.leaves;
  const auto place_of = [&](index_t i) {
    return leaves.in_bag == nullptr || leaves.in_bag[i] != 0 ? place[leaves.leaf[i]] : kNotCounted;
  };
  CountedRows out;
  out.begin.assign(n_counted + 1, 0);
  for (index_t i = begin; i < end; ++i)
    if (place_of(i) != kNotCounted) ++out.begin[place_of(i) + 1];
  for (index_t j = 0; j < n_counted; ++j) out.begin[j + 1] += out.begin[j];
  std::vector<index_t> next(out.begin.begin(), out.begin.end() - 1);
  out.rows.resize(out.begin[n_counted]);
  for (index_t i = begin; i < end; ++i) {
    const std::int64_t at = place_of(i);
    if (at != kNotCounted) out.rows[next[at]++] = static_cast<std::uint16_t>(i - begin);
  }
  std::vector<std::int64_t> all(end - begin);
  for (index_t c = 0; c < shard.channels.n_channels(); ++c) {
    shard.channels.write(c, begin, end, all.data());
    out.values.emplace_back(out.rows.size());
    for (std::size_t i = 0; i < out.rows.size(); ++i) out.values[c][i] = all[out.rows[i]];
  }
  return out;
}

}  // namespace

index_t count_cells(const BinnedMatrix& x, index_t n_channels, index_t n_counted) {
  index_t cells = 0;
  for (const FeatureGroup& group : x.groups())
    cells += n_channels * n_counted * leaf_stride(group);
  return cells;
}

void count_level(const ShardRows& shard, const std::vector<std::uint8_t>& smaller_is_right,
                 std::int64_t* out, const Execution& execution) {
  const index_t n_above = static_cast<index_t>(smaller_is_right.size());
  const index_t n_counted = std::max<index_t>(n_above, 1);
  std::vector<std::int64_t> place(n_above == 0 ? 1 : 2 * n_above, kNotCounted);
  if (n_above == 0) place[0] = 0;
  for (index_t i = 0; i < n_above; ++i) place[2 * i + smaller_is_right[i]] = i;

  std::vector<CountedRows> counted(shard.tiles.count());
  parallel_for(execution, shard.tiles.count(), [&](index_t tile) {
    counted[tile] = order_rows(shard, tile, place, n_counted);
  });
  const index_t n_channels = shard.channels.n_channels();
  const std::vector<FeatureGroup>& groups = shard.x.groups();
  std::vector<index_t> first(1, 0);
  for (const FeatureGroup& group : groups)
    first.push_back(first.back() + n_channels * n_counted * leaf_stride(group));
  parallel_for(execution, static_cast<index_t>(groups.size()), [&](index_t g) {
    std::int64_t* cells = out + first[g];
    std::fill(cells, out + first[g + 1], 0);
    for (index_t tile = 0; tile < shard.tiles.count(); ++tile) {
      const CountedRows& rows = counted[tile];
      const std::uint8_t* codes =
          shard.x.codes(groups[g]) + shard.tiles.begin(tile) * groups[g].width;
      for (index_t c = 0; c < n_channels; ++c)
        for (index_t i = 0; i < n_counted; ++i)
          scan_kernels().add_rows({rows.rows.data() + rows.begin[i],
                                   rows.values[c].data() + rows.begin[i],
                                   rows.begin[i + 1] - rows.begin[i]},
                                  codes, groups[g].width,
                                  cells + (c * n_counted + i) * leaf_stride(groups[g]));
    }
  });
}

void descend_leaves(const BinnedMatrix& x, const LevelSplit& split, const Tiles& tiles,
                    std::uint16_t* leaf, const Execution& execution) {
  const FeatureGroup& group = x.group_of(split.feature);
  const std::uint8_t* codes = x.codes(split.feature);
  const RightCodes right_codes(split, group);
  parallel_for(execution, tiles.count(), [&](index_t tile) {
    for (index_t i = tiles.begin(tile); i < tiles.end(tile); ++i)
      leaf[i] = static_cast<std::uint16_t>(2 * leaf[i] + right_codes.contain(codes[i * group.width]));
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

LevelChoice choose_level(const LevelTask& task, const BoostingParams& params,
                         const std::vector<LevelSplit>& above, const Execution& execution) {
  std::vector<std::uint8_t> used(params.colsample < 1.0 ? task.shape.n_features() : 0);
  if (!used.empty()) draw_features(params, task.noise.iteration, nullptr, used);
  const Tiles no_tiles(0);
  const Channels channels(no_tiles, nullptr, nullptr, task.units);
  LevelScores scores(task.shape, no_tiles, channels,
                     {params, task.monotone, used.empty() ? nullptr : used.data()});
  const CandidateChoice choice(task.shape, params);
  LevelChoice out;
  with_team(execution, [&](const Execution& team) {
    scores.restart();
    for (std::size_t level = 0; level <= above.size(); ++level) {
      scores.compute(task.counted[level], team);
      if (level < above.size()) scores.descend(above[level]);
    }
    out.split = choice.choose(scores, task.noise, above);
  });
  if (out.split && static_cast<index_t>(above.size()) + 1 < params.max_depth) {
    scores.descend(*out.split);
    out.smaller_is_right = scores.smaller_is_right();
  }
  return out;
}

}  // namespace fctree
