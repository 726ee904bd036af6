#include "ensembles/packed_rows.hpp"

#include <algorithm>

namespace fctree::ensembles {

namespace {

constexpr index_t kTaskRows = 1024;

const double* pack(const double* from, index_t width, const Buffer<std::int32_t>& rows, const Execution& execution,
                   Buffer<double>& to) {
  const index_t n = rows.size();
  to.reserve(n * width);
  for_each_part(execution, n, kTaskRows, [&](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) std::copy_n(from + rows[i] * width, width, to.data() + i * width);
  });
  return to.data();
}

const double* pack_features(const TrainingData& data, const Buffer<std::int32_t>& rows, const Execution& execution,
                            Buffer<double>& to) {
  if (data.features == nullptr) return pack(data.x, data.n_features, rows, execution, to);
  to.reserve(rows.size() * data.n_features);
  for_each_part(execution, rows.size(), kTaskRows, [&](index_t, index_t begin, index_t end) {
    data.features->read({rows.data() + begin, end - begin}, to.data() + begin * data.n_features);
  });
  return to.data();
}

}  // namespace

PackedRows::PackedRows(const TrainingData& data, const Buffer<std::int32_t>& rows, const Execution& execution)
    : data_(data) {
  data_.n_samples = rows.size();
  data_.x = pack_features(data, rows, execution, x_);
  data_.features = nullptr;
  data_.y = pack(data.y, data.n_outputs, rows, execution, y_);
  data_.weight = pack(data.weight, 1, rows, execution, weight_);
  if (data.count != nullptr) data_.count = pack(data.count, 1, rows, execution, count_);
}

}  // namespace fctree::ensembles
