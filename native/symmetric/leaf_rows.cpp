#include "symmetric/leaf_rows.hpp"

namespace fctree::symmetric {

RowsByLeaf::RowsByLeaf(const Tiles& tiles, const QuantizedGradients& channels, index_t max_depth)
    : tiles_(tiles), channels_(channels), stride_((index_t{1} << max_depth) + 1) {
  for (int side = 0; side < 2; ++side) {
    rows_[side] = Buffer<std::uint16_t>(tiles.n_samples());
    for (index_t c = 0; c < channels.n_channels(); ++c) values_[side].emplace_back(tiles.n_samples());
    begins_[side].resize(tiles.count() * stride_);
  }
}

void RowsByLeaf::reset(const RowSample& sample) {
  sample_ = sample;
  side_ = 0;
  n_leaves_ = 1;
}

void RowsByLeaf::reset_tile(index_t tile) {
  const index_t begin = tiles_.begin(tile), end = tiles_.end(tile);
  std::uint16_t* rows = rows_[0].data() + begin;
  index_t n = 0;
  for (index_t i = 0; i < end - begin; ++i) {
    rows[n] = static_cast<std::uint16_t>(i);
    n += sample_.drawn == nullptr || sample_.drawn[begin + i] != 0;
  }
  // Neighbours are written together.
  for (index_t i = 0, next; i < n; i = next) {
    next = rows[n - 1] - rows[i] == n - 1 - i ? n : i + 1;
    while (next < n && rows[next] == rows[next - 1] + 1) ++next;
    for (index_t c = 0; c < channels_.n_channels(); ++c)
      channels_.write(c, begin + rows[i], begin + rows[next - 1] + 1, values_[0][c].data() + begin + i);
  }
  begins(tile, 0)[0] = 0;
  begins(tile, 0)[1] = n;
}

void RowsByLeaf::split() {
  side_ = 1 - side_;
  n_leaves_ *= 2;
}

// Left rows fill a leaf's place from the front, right rows from the back, in reverse: rows of
// a leaf stay in ascending or descending order, so their codes are read in one direction.
void RowsByLeaf::split_tile(const BinnedMatrix& x, const LevelSplit& split, index_t tile) {
  const FeatureGroup& group = x.group_of(split.feature);
  const index_t first = tiles_.begin(tile);
  const std::uint8_t* codes = x.codes(split.feature) + first * group.width;
  const index_t width = group.width;
  const RightCodes right_codes(split, group);
  const index_t n_channels = channels_.n_channels();
  const std::uint16_t* from = rows_[1 - side_].data() + first;
  std::uint16_t* to = rows_[side_].data() + first;
  const index_t* old_begin = begins(tile, 1 - side_);
  index_t* new_begin = begins(tile, side_);
  for (index_t leaf = 0; leaf < n_leaves_ / 2; ++leaf) {
    const index_t begin = old_begin[leaf], end = old_begin[leaf + 1];
    index_t left = begin, right = end - 1;
    const std::int64_t* value = values_[1 - side_][0].data() + first;
    std::int64_t* new_value = values_[side_][0].data() + first;
    for (index_t i = begin; i < end; ++i) {
      const bool goes_right = right_codes.contain(codes[from[i] * width]);
      to[left] = to[right] = from[i];
      new_value[left] = new_value[right] = value[i];
      left += !goes_right;
      right -= goes_right;
    }
    for (index_t c = 1; c < n_channels; ++c) {
      const std::int64_t* other = values_[1 - side_][c].data() + first;
      std::int64_t* new_other = values_[side_][c].data() + first;
      index_t l = begin, r = end - 1;
      for (index_t i = begin; i < end; ++i) {
        const bool goes_right = right_codes.contain(codes[from[i] * width]);
        new_other[l] = new_other[r] = other[i];
        l += !goes_right;
        r -= goes_right;
      }
    }
    new_begin[2 * leaf] = begin;
    new_begin[2 * leaf + 1] = left;
  }
  new_begin[n_leaves_] = old_begin[n_leaves_ / 2];
}

LeafRows RowsByLeaf::rows(index_t tile, index_t leaf, index_t channel) const {
  const index_t* begin = begins_[side_].data() + tile * stride_ + leaf;
  const index_t first = tiles_.begin(tile) + begin[0];
  return {rows_[side_].data() + first, values_[side_][channel].data() + first,
          begin[1] - begin[0]};
}

void LeafCounter::count(const FeatureGroup& group, const Stretch& stretch,
                        const std::vector<index_t>& leaves,
                        const std::vector<std::int64_t*>& cells) const {
  const auto n_leaves = static_cast<index_t>(leaves.size());
  const auto n_channels = static_cast<index_t>(cells.size()) / n_leaves;
  const std::uint8_t* all = x_.codes(group);
  for (index_t tile = stretch.first; tile < stretch.last; ++tile) {
    check_interrupt();
    const std::uint8_t* codes = all + tiles_.begin(tile) * group.width;
    // The rows of a small leaf are too far apart for hardware prefetching: the next tile is
    // prefetched while this one is counted, part by part with each leaf.
    const bool is_last = tile + 1 == stretch.last;
    const index_t first = tiles_.end(tile) / kBlockRows;
    const index_t ahead = is_last ? 0 : count_parts(tiles_.end(tile + 1), kBlockRows) - first;
    for (index_t i = 0; i < n_leaves; ++i) {
      for (index_t block = first + ahead * i / n_leaves; block < first + ahead * (i + 1) / n_leaves; ++block)
        if (rows_.may_have(block * kBlockRows))
          for (index_t line = block * group.width; line < (block + 1) * group.width; ++line)
            __builtin_prefetch(all + line * kBlockRows, 0, 2);  // as many bytes
      for (index_t c = 0; c < n_channels; ++c)
        histogram_kernels().add_rows(rows_.rows(tile, leaves[i], c), codes, group.width,
                                     cells[c * n_leaves + i]);
    }
  }
}

}  // namespace fctree::symmetric
