// The features that a tree of a round of boosting is grown on.
#pragma once

#include <utility>
#include <vector>

#include "core/buffer.hpp"
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

}  // namespace fctree::ensembles
