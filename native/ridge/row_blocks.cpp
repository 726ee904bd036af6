#include "ridge/row_blocks.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kBlockRows = 256;  // some tiles: few enough to stay in a cache

// A multiple of the rows of a tile and of those that are projected together (four).
index_t block_rows(index_t width) {
  const index_t step = rows_at_a_time(width);
  return step >= kTileRows ? std::min(kBlockRows, step) : 4 * step;
}

// A block of samples, copied; their numbers are those within it.
struct Block {
  std::vector<double> x, y, factor;
  std::vector<std::int32_t> rows;
};

RowSelection copy_block(const TrainingData& data, const NodeRows& rows, const double* factor,
                        Block& block) {
  const index_t n_outputs = data.n_outputs;
  block.x.resize(rows.size * data.n_features);
  data.features->read(rows, block.x.data());
  block.y.resize(rows.size * n_outputs);
  block.factor.resize(rows.size);
  block.rows.resize(rows.size);
  std::iota(block.rows.begin(), block.rows.end(), 0);
  for (index_t i = 0; i < rows.size; ++i) {
    std::copy_n(data.y + rows.rows[i] * n_outputs, n_outputs, block.y.data() + i * n_outputs);
    if (factor != nullptr) block.factor[i] = factor[rows.rows[i]];
  }
  return {block.x.data(), block.y.data(), factor == nullptr ? nullptr : block.factor.data(),
          block.rows.data(), rows.size, data.n_features, n_outputs};
}

}  // namespace

index_t rows_at_a_time(index_t width) {
  constexpr double kWork = 1e9;
  const double rows = kWork / (static_cast<double>(width) * static_cast<double>(width));
  if (rows >= kTileRows) return static_cast<index_t>(rows) / kTileRows * kTileRows;
  return std::max<index_t>(8, static_cast<index_t>(rows));
}

void for_each_selection(const TrainingData& data, const NodeRows& node, const double* factor,
                        const std::function<void(const RowSelection&, index_t first)>& use) {
  if (data.features == nullptr) {
    use(select(data, node, factor), 0);
    return;
  }
  const index_t length = block_rows(packed_width(data.n_features, data.n_outputs));
  Block block;
  for (index_t first = 0; first < node.size; first += length) {
    check_interrupt();
    const NodeRows rows = {node.rows + first, std::min(length, node.size - first)};
    use(copy_block(data, rows, factor, block), first);
  }
}

const double* read_block(const TrainingData& data, index_t first, index_t size,
                         std::vector<double>& buffer) {
  if (data.features == nullptr) return data.x + first * data.n_features;
  std::vector<std::int32_t> rows(size);
  std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(first));
  buffer.resize(size * data.n_features);
  data.features->read({rows.data(), size}, buffer.data());
  return buffer.data();
}

void read_feature(const TrainingData& data, const NodeRows& rows, index_t feature, double* out) {
  if (data.features != nullptr) return data.features->read_feature(rows, feature, out);
  for (index_t i = 0; i < rows.size; ++i) out[i] = data.x[rows.rows[i] * data.n_features + feature];
}

}  // namespace fctree::ridge
