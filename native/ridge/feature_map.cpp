#include "ridge/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/spread.hpp"

namespace fctree::ridge {

namespace {

constexpr index_t kTaskRows = 4096;
constexpr index_t kBlockRows = 256;  // of a table that has to be converted
// Means and deviations have so many bits after the first of a deviation. Further ones would go with the order of the samples,
// and so would the side of values in the middle between two at which a split cuts.
constexpr int kBits = 36;

// The first of the heaviest samples in all places, or none where all weigh nothing.
std::vector<double> heaviest_counted(const Table& x, const double* weight, index_t n_samples, const Collective* all) {
  const index_t size = 1 + x.n_columns;  // the weight and the sample
  const index_t row = weight == nullptr ? 0 : std::max_element(weight, weight + n_samples) - weight;
  std::vector<double> own;
  if (n_samples > 0 && (weight == nullptr || weight[row] > 0.0)) {
    own.resize(size);
    own[0] = weight == nullptr ? 1.0 : weight[row];
    std::copy_n(x.read(row, 1, own.data() + 1), x.n_columns, own.begin() + 1);
  }
  const std::vector<double> of_places = gather(all, own);
  auto best = of_places.begin();
  for (auto other = best; other != of_places.end(); other += size)
    if (*other > *best) best = other;
  return of_places.empty() ? std::vector<double>() : std::vector<double>(best + 1, best + size);
}

// Sums over samples about one of the heaviest, `shift`.
struct FeatureSums {
  Vector sums;     // (1 + 2 d), of the weight, the differences, their squares
  Vector largest;  // (d), absolute values

  void add(const FeatureSums& other) {
    sums += other.sums;
    largest = largest.cwiseMax(other.largest);
  }
};

void add_features(const WeightedRows& rows, index_t first, index_t end, const Vector& shift, FeatureSums& total) {
  const index_t d = shift.size();
  std::vector<double> buffer(std::min(end - first, kBlockRows) * d);
  for (index_t begin = first; begin < end; begin += kBlockRows) {
    const index_t size = std::min(kBlockRows, end - begin);
    const double* x = rows.x.read(begin, size, buffer.data());
    for (index_t i = 0; i < size; ++i) {
      const VectorView row(x + i * d, d);
      const double w = rows.weight == nullptr ? 1.0 : rows.weight[begin + i];
      if (!(w > 0.0)) continue;
      total.sums[0] += w;
      total.sums.segment(1, d) += w * (row - shift);
      total.sums.tail(d) += w * (row - shift).cwiseAbs2();
      total.largest = total.largest.cwiseMax(row.cwiseAbs());
    }
  }
}

// The same bytes wherever the samples are, if they have blocks.
FeatureSums sum_features(const WeightedRows& rows, const Vector& shift, const Execution& execution) {
  const index_t d = shift.size(), size = 1 + 2 * d;
  const RowBlocks* blocks = rows.blocks;
  FeatureSums total = {Vector::Zero(size), Vector::Zero(d)};
  std::vector<FeatureSums> parts(blocks == nullptr ? count_parts(rows.n_samples, kTaskRows) : blocks->n_here, total);
  if (blocks == nullptr) {
    for_each_part(execution, rows.n_samples, kTaskRows, [&](index_t part, index_t begin, index_t end) {
      add_features(rows, begin, end, shift, parts[part]);
    });
    for (const FeatureSums& part : parts) total.add(part);
    return total;
  }
  const auto add_block = [&](index_t, index_t block, double* out) {
    FeatureSums& own = parts[block - blocks->first];
    add_features(rows, blocks->begin(block), blocks->end(block, rows.n_samples), shift, own);
    for (index_t i = 0; i < size; ++i) out[i] += own.sums[i];
  };
  const std::vector<double> sums = sum_blocks(*blocks, {1, size}, add_block, execution);
  for (const FeatureSums& part : parts) total.add(part);
  take_largest(execution.all, total.largest.data(), d);
  return {VectorView(sums.data(), size), total.largest};
}

// Means and deviations from the sums.
void standardize(const FeatureSums& total, const Vector& shift, FeatureMap& map) {
  const index_t d = shift.size();
  const double weight = total.sums[0];
  const auto sums = total.sums.segment(1, d);
  const auto squares = total.sums.tail(d);
  map.mean = shift + sums / weight;
  for (index_t j = 0; j < d; ++j) {
    const double offset = sums[j] / weight;
    const double spread = std::sqrt(std::max(squares[j] / weight - offset * offset, 0.0));
    if (!std::isfinite(spread))
      throw std::invalid_argument(
          "X or sample_weight is too large: the sum of its squares overflows float64");
    if (!is_varying(spread, total.largest[j])) continue;
    const double unit = std::ldexp(1.0, std::ilogb(spread) - kBits);
    map.scale[j] = unit * std::round(spread / unit);
    map.mean[j] = unit * std::round(map.mean[j] / unit);
  }
}

}  // namespace

std::vector<index_t> all_columns(index_t n_features) {
  std::vector<index_t> columns(n_features);
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

FeatureMap identity_map(index_t n_features) {
  return {all_columns(n_features), Vector::Zero(n_features), Vector::Ones(n_features)};
}

std::vector<index_t> varying_columns(const Table& x, const double* weight, index_t n_samples, const Execution& execution) {
  constexpr index_t kRows = 16384;
  const index_t d = x.n_columns;
  const std::vector<double> heaviest = heaviest_counted(x, weight, n_samples, execution.all);
  std::vector<double> in_parts(count_parts(n_samples, kRows) * d, 0.0), varies(d, 0.0);
  const Execution limited = limit_threads(execution, static_cast<double>(n_samples * d));
  for_each_part(limited, n_samples, kRows, [&](index_t part, index_t begin, index_t end) {
    std::vector<index_t> constant = all_columns(d);
    std::vector<double> buffer(d);
    for (index_t i = begin; i < end && !constant.empty(); ++i) {
      if (weight != nullptr && !(weight[i] > 0.0)) continue;
      const double* row = x.read(i, 1, buffer.data());
      const auto differs = [&](index_t j) { return row[j] != heaviest[j]; };
      for (const index_t j : constant)
        if (differs(j)) in_parts[part * d + j] = 1.0;
      constant.erase(std::remove_if(constant.begin(), constant.end(), differs), constant.end());
    }
  });
  for (std::size_t at = 0; at < in_parts.size(); ++at) varies[at % d] = std::max(varies[at % d], in_parts[at]);
  take_largest(execution.all, varies.data(), d);
  std::vector<index_t> varying;
  for (index_t j = 0; j < d; ++j)
    if (varies[j] > 0.0) varying.push_back(j);
  return varying.empty() ? all_columns(d) : varying;
}

std::vector<index_t> places_of(const std::vector<index_t>& columns, const std::vector<index_t>& among) {
  std::vector<index_t> places;
  for (const index_t column : columns)
    places.push_back(std::lower_bound(among.begin(), among.end(), column) - among.begin());
  return places;
}

FeatureMap find_feature_map(const WeightedRows& rows, const std::vector<index_t>& varying, Scaling scaling,
                            const Execution& execution) {
  const index_t d = rows.x.n_columns;
  FeatureMap map = identity_map(d);
  if (!scaling.fit_intercept) return map;
  map.columns = varying;
  if (!scaling.standardizes) return map;
  // About the heaviest sample, whose squared distance from the mean is at most n times the variance: means of columns
  // far from zero keep their digits, constants have no spread.
  std::vector<double> row = heaviest_counted(rows.x, rows.weight, rows.n_samples, execution.all);
  row.resize(d, 0.0);  // all samples may weigh nothing
  const Vector shift = VectorView(row.data(), d);
  standardize(sum_features(rows, shift, execution), shift, map);
  return map;
}

Vector offset_of(const FeatureMap& map) {
  Vector offset(map.width());
  for (index_t j = 0; j < map.width(); ++j)
    offset[j] = map.mean[map.columns[j]] / map.scale[map.columns[j]];
  return offset;
}

std::vector<double> append_linear(const std::vector<double>& from, const FeatureMap& map,
                                  double factor, std::vector<double>& to) {
  const index_t width = map.width(), d = map.mean.size();
  std::vector<double> at_origin;
  for (std::size_t first = 0; first < from.size(); first += width) {
    const std::size_t start = to.size();
    to.resize(start + d, 0.0);
    double offset = 0.0;
    for (index_t j = 0; j < width; ++j) {
      const index_t column = map.columns[j];
      const double slope = factor * from[first + j] / map.scale[column];
      to[start + column] = slope;
      offset -= slope * map.mean[column];
    }
    at_origin.push_back(offset);
  }
  return at_origin;
}

void map_features(const FeatureMap& map, const Table& x, index_t n_samples, double* out,
                  const Execution& execution) {
  MappedTable(map, x).read_all(n_samples, out, execution);
}

MappedTable::MappedTable(const FeatureMap& map, const Table& table)
    : table_(table), columns_(map.columns) {
  for (const index_t column : columns_) {
    mean_.push_back(map.mean[column]);
    scale_.push_back(map.scale[column]);
  }
}

// buffer (n_columns of the table).
void MappedTable::map_row(index_t row, double* buffer, double* out) const {
  const double* x = table_.read(row, 1, buffer);
  const index_t width = this->width();
  if (width == table_.n_columns) {  // in their order: without a look-up, several at a time
    for (index_t j = 0; j < width; ++j) out[j] = (x[j] - mean_[j]) / scale_[j];
    return;
  }
  for (index_t j = 0; j < width; ++j) out[j] = (x[columns_[j]] - mean_[j]) / scale_[j];
}

void MappedTable::read(const NodeRows& rows, double* out) const {
  std::vector<double> buffer(table_.n_columns);
  for (index_t i = 0; i < rows.size; ++i) map_row(rows.rows[i], buffer.data(), out + i * width());
}

void MappedTable::read_feature(const NodeRows& rows, index_t feature, double* out) const {
  const index_t column = columns_[feature];
  const double mean = mean_[feature], scale = scale_[feature];
  for (index_t i = 0; i < rows.size; ++i)
    out[i] = (table_.at(rows.rows[i], column) - mean) / scale;
}

void MappedTable::read_all(index_t n_samples, double* out, const Execution& execution) const {
  constexpr double kDivision = 10.0;  // in multiply-adds
  const double work = kDivision * static_cast<double>(n_samples * width());
  for_each_part(limit_threads(execution, work), n_samples, kTaskRows,
                [&](index_t, index_t begin, index_t end) {
                  std::vector<double> buffer(table_.n_columns);
                  for (index_t i = begin; i < end; ++i)
                    map_row(i, buffer.data(), out + i * width());
                });
}

}  // namespace fctree::ridge
