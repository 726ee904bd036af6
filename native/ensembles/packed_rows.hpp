// Some rows of many, side by side: read again and again, they stay in a cache that all rows do not fit into.
#pragma once

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "ridge/training_data.hpp"

namespace fctree::ensembles {

using namespace ridge;

class PackedRows {
 public:
  PackedRows(const TrainingData& data, const Buffer<std::int32_t>& rows, const Execution& execution);

  const TrainingData& data() const { return data_; }

 private:
  TrainingData data_;
  Buffer<double> x_, y_, weight_, count_;
};

}  // namespace fctree::ensembles
