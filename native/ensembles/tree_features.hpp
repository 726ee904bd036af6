// The features that the trees of a round of boosting are grown on.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "oblique/split_search/feature_draw.hpp"
#include "ridge/feature_map.hpp"

namespace fctree::ensembles {

using namespace oblique;

// Some features of the model, mapped, of all rows: in memory, or read anew whenever they are needed.
struct TreeFeatures {
  FeatureMap map;
  MappedTable reader;
  bool is_kept = false;  // in x
  Buffer<double> x;

  // Other columns, which are not in memory yet.
  void choose(std::vector<index_t> columns, const Table& table) {
    map.columns = std::move(columns);
    reader = MappedTable(map, table);
    is_kept = false;
  }
  // Reads them into memory, for trees that go over their rows again and again.
  void keep(index_t n_rows, const Execution& execution) {
    if (is_kept) return;
    is_kept = true;
    const index_t size = n_rows * map.width();
    if (size > x.size()) x = Buffer<double>();  // never both at once
    x.reserve(size);
    reader.read_all(n_rows, x.data(), execution);
  }
  void release() {
    is_kept = false;
    x = Buffer<double>();
  }
};

// The features of a round's trees, and the few of them that its curvature tree takes. Of many rows, which are `read`, there is
// room for the features of one tree, if it needs them in memory.
class RoundFeatures {
 public:
  RoundFeatures(FeatureMap map, const Table& table, index_t n_rows, const Execution& execution)
      : table_(table), n_rows_(n_rows), execution_(execution), columns_(map.columns) {
    all_.map = std::move(map);
  }

  const TreeFeatures& all() const { return all_; }
  bool is_few(const TreeFeatures& features) const { return &features == &few_; }

  index_t n_columns() const { return static_cast<index_t>(columns_.size()); }

  void start(bool is_read) {
    is_read_ = is_read;
    choose(columns_);
  }
  // Draws a share of the columns, rounded up, and says whether they are others than before.
  bool draw(std::uint64_t seed, index_t iteration, double share) {
    const auto n_drawn = static_cast<index_t>(std::ceil(share * static_cast<double>(n_columns())));
    const Random random(seed, Purpose::feature_sample);
    std::vector<index_t> columns = choose_features(random, {iteration, 0}, n_drawn, n_columns());
    for (index_t& column : columns) column = columns_[column];
    if (columns == all_.map.columns) return false;
    choose(std::move(columns));
    return true;
  }
  // For a tree that reads its rows once, or again and again.
  const TreeFeatures& take_all(bool again) {
    if (is_read_ && again) few_.release();
    if (!is_read_ || again) all_.keep(n_rows_, execution_);
    return all_;
  }
  // Of those at these places.
  const TreeFeatures& take_few(std::vector<index_t> places, bool again) {
    if (is_read_) all_.release();
    few_.map = all_.map;
    for (index_t& place : places) place = all_.map.columns[place];
    few_.choose(std::move(places), table_);
    if (!is_read_ || again) few_.keep(n_rows_, execution_);
    return few_;
  }

 private:
  void choose(std::vector<index_t> columns) {
    all_.choose(std::move(columns), table_);
    if (!is_read_) all_.keep(n_rows_, execution_);
  }

  const Table table_;
  const index_t n_rows_;
  const Execution& execution_;
  const std::vector<index_t> columns_;  // that rounds draw from
  bool is_read_ = false;
  TreeFeatures all_;
  TreeFeatures few_;
};

}  // namespace fctree::ensembles
