#include "ridge/moments.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "ridge/row_blocks.hpp"

namespace fctree::ridge {

namespace {

// Below this share of the sums they were derived from, moments have fewer than about twelve
// correct digits.
constexpr double kResolution = 1e-4;

// Samples are summed in chunks, merged in their order. A chunk is long enough that the
// chunks' products together take an eighth of the memory of X at most.
constexpr index_t kMinChunkRows = 1024;
constexpr index_t kMaxChunks = 64;
constexpr index_t kDiagonalRows = 1024;  // of a part of which a sum of few numbers is wanted
constexpr double kRowWork = 20.0;  // in multiply-adds, to look at its weight

// Features and targets of a row.
Vector sample_of(const TrainingData& data, std::int32_t row) {
  std::vector<double> buffer;
  Vector sample(data.n_features + data.n_outputs);
  sample.head(data.n_features) = VectorView(read_block(data, row, 1, buffer), data.n_features);
  sample.tail(data.n_outputs) = VectorView(data.y + row * data.n_outputs, data.n_outputs);
  return sample;
}

// The heaviest rows of nodes' parts, then the nodes' samples: two phases of a loop.
class HeaviestSamples {
 public:
  HeaviestSamples(const TrainingData& data, const RowParts& parts)
      : data_(data), parts_(parts), rows_(parts.n()) {}

  void find(index_t part) { rows_[part] = heaviest_row(data_, parts_[part].rows); }
  Vector of_node(index_t node) const {
    const index_t first = parts_.first(node);
    return sample_of(data_, heaviest_row(data_, {rows_.data() + first, parts_.first(node + 1) - first}));
  }

 private:
  const TrainingData& data_;
  const RowParts& parts_;
  std::vector<std::int32_t> rows_;
};

// The kernel, which has no interrupts, some rows at a time.
void add_products(RowSelection rows, const double* origin, double* tile, double* products) {
  const index_t step = rows_at_a_time(packed_width(rows.n_features, rows.n_outputs));
  for (index_t left = rows.n_rows; left > 0; left -= step, rows.rows += step) {
    check_interrupt();
    rows.n_rows = std::min(step, left);
    dense_kernels().add_products(rows, origin, tile, products);
  }
}

}  // namespace

std::int32_t heaviest_row(const TrainingData& data, const NodeRows& node) {
  if (data.weight == nullptr) return node.rows[0];
  return *std::max_element(node.rows, node.rows + node.size, [&](std::int32_t a, std::int32_t b) {
    return data.weight[a] < data.weight[b];
  });
}

Vector heaviest_sample(const TrainingData& data, const NodeRows& node, const Execution& execution) {
  const RowParts parts({node}, kDiagonalRows);
  HeaviestSamples heaviest(data, parts);
  parallel_for(limit_threads(execution, kRowWork * static_cast<double>(node.size)), parts.n(),
               [&](index_t p) { heaviest.find(p); });
  return heaviest.of_node(0);
}

void add_products(const TrainingData& data, const NodeRows& rows, const double* factor, const double* origin, double* products) {
  const std::unique_ptr<double[]> tile(new double[2 * kTileRows * packed_width(data.n_features, data.n_outputs)]);  // not set to 0
  add_products(select(data, rows, factor), origin, tile.get(), products);
}

ProductSums::ProductSums(const TrainingData& data, const std::vector<NodeRows>& nodes)
    : data_(data), parts_(nodes, std::max(kMinChunkRows, 8 * data.n_features), kMaxChunks),
      products_(parts_.n()) {}

void ProductSums::add(index_t part, const Vector& shift, const double* factor) {
  const index_t width = packed_width(data_.n_features, data_.n_outputs);
  const std::unique_ptr<double[]> tile(new double[2 * kTileRows * width]);  // not set to 0
  products_[part] = RowMatrix::Zero(packed_rows(data_.n_features), width);
  for_each_selection(data_, parts_[part].rows, factor, [&](const RowSelection& selection, index_t) {
    add_products(selection, shift.data(), tile.get(), products_[part].data());
  });
}

RowMatrix ProductSums::take_total(index_t node) {
  RowMatrix total = std::move(products_[parts_.first(node)]);
  for (index_t p = parts_.first(node) + 1; p < parts_.first(node + 1); ++p) total += products_[p];
  return total;
}

Moments moments_of_products(const RowMatrix& products, const TrainingData& sizes,
                            const Vector& shift, const Vector& origin) {
  const index_t d = sizes.n_features;
  const index_t used = d + sizes.n_outputs;
  Moments moments;
  const index_t of_sums = sums_row(d);
  moments.weight = products(of_sums, used);
  Vector sums(used), squares(used);
  sums << products.col(used).head(d), products.row(of_sums).segment(d, sizes.n_outputs).transpose();
  squares << products.diagonal().head(d), products.row(squares_row(d)).segment(d, sizes.n_outputs).transpose();
  const Vector offset = sums / moments.weight;
  moments.mean = (shift - origin) + offset;
  moments.diagonal = (squares - sums.cwiseProduct(offset)).cwiseMax(0.0);
  moments.scatter = products.topLeftCorner(d, d);
  moments.scatter.triangularView<Eigen::Upper>() -= sums.head(d) * offset.head(d).transpose();
  moments.scatter.diagonal() = moments.diagonal.head(d);
  moments.cross = products.block(0, d, d, sizes.n_outputs) -
                  sums.head(d) * offset.tail(sizes.n_outputs).transpose();
  moments.reference = moments.diagonal;
  moments.reference_weight = moments.weight;
  return moments;
}

std::vector<Moments> sum_moments(const TrainingData& data, const std::vector<NodeRows>& nodes,
                                 const Vector& origin, const Execution& execution) {
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  ProductSums sums(data, nodes);
  const RowParts& parts = sums.parts();
  HeaviestSamples heaviest(data, parts);
  std::vector<Vector> shifts(n_nodes);
  std::vector<Moments> moments(n_nodes);
  const auto find = [&](index_t p) { heaviest.find(p); };
  const auto shift = [&](index_t i) { shifts[i] = heaviest.of_node(i); };
  const auto add = [&](index_t p) { sums.add(p, shifts[parts[p].node], data.weight); };
  const auto join = [&](index_t i) {
    moments[i] = moments_of_products(sums.take_total(i), data, shifts[i], origin);
  };
  parallel_phases(execution, {{parts.n(), find}, {n_nodes, shift}, {parts.n(), add}, {n_nodes, join}});
  return moments;
}

void add_diagonal(const TrainingData& data, const NodeRows& node, const double* shift,
                  double* sums) {
  for_each_selection(data, node, data.weight, [&](const RowSelection& selection, index_t) {
    dense_kernels().add_diagonal(selection, shift, sums);
  });
}

Moments moments_of_diagonal(const double* sums, const Vector& shift, const Vector& origin) {
  const index_t used = shift.size();
  const VectorView differences(sums + 1, used), squares(sums + 1 + used, used);
  Moments moments;
  moments.weight = sums[0];
  moments.mean = (shift - origin) + differences / moments.weight;
  moments.diagonal =
      (squares - differences.cwiseProduct(differences) / moments.weight).cwiseMax(0.0);
  return moments;
}

std::vector<Moments> sum_diagonals(const TrainingData& data, const std::vector<NodeRows>& nodes,
                                   const Vector& origin, const Execution& execution) {
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  const RowParts parts(nodes, kDiagonalRows);
  HeaviestSamples heaviest(data, parts);
  std::vector<Vector> shifts(n_nodes), sums(parts.n(), Vector::Zero(1 + 2 * origin.size()));
  std::vector<Moments> moments(n_nodes);
  const auto find = [&](index_t p) { heaviest.find(p); };
  const auto shift = [&](index_t i) { shifts[i] = heaviest.of_node(i); };
  const auto add = [&](index_t p) {
    add_diagonal(data, parts[p].rows, shifts[parts[p].node].data(), sums[p].data());
  };
  const auto join = [&](index_t i) {
    Vector& total = sums[parts.first(i)];
    for (index_t p = parts.first(i) + 1; p < parts.first(i + 1); ++p) total += sums[p];
    moments[i] = moments_of_diagonal(total.data(), shifts[i], origin);
  };
  parallel_phases(execution, {{parts.n(), find}, {n_nodes, shift}, {parts.n(), add}, {n_nodes, join}});
  return moments;
}

SampleSums sum_samples(const TrainingData& data, const NodeRows& node, const Execution& execution) {
  const RowParts parts({node}, kDiagonalRows);
  std::vector<SampleSums> sums(parts.n());
  parallel_for(limit_threads(execution, kRowWork * static_cast<double>(node.size)), parts.n(), [&](index_t p) {
    const NodeRows& rows = parts[p].rows;
    SampleSums own;
    for (index_t i = 0; i < rows.size; ++i) {
      const double weight = data.weight_of(rows.rows[i]), unit = data.unit_of(rows.rows[i]);
      own.number += weight / unit;
      own.squared_weights += weight * unit;
      own.count += data.count == nullptr ? weight : data.count[rows.rows[i]];
    }
    sums[p] = own;
  });
  SampleSums total;
  for (const SampleSums& own : sums) total.add(own);
  return total;
}

Moments subtract_moments(Moments parent, const Moments& child) {
  const index_t d = parent.cross.rows();
  const double weight = parent.weight - child.weight;
  const Vector difference = child.mean - parent.mean;
  const double factor = child.weight * parent.weight / weight;
  parent.scatter.triangularView<Eigen::Upper>() -= child.scatter;
  parent.scatter.triangularView<Eigen::Upper>() -=
      (factor * difference.head(d)) * difference.head(d).transpose();
  parent.cross -= child.cross + (factor * difference.head(d)) *
                                    difference.tail(difference.size() - d).transpose();
  parent.diagonal = (parent.diagonal - child.diagonal - factor * difference.cwiseAbs2())
                        .cwiseMax(0.0);
  parent.scatter.diagonal() = parent.diagonal.head(d);
  parent.mean -= (child.weight / weight) * difference;
  parent.weight = weight;
  return parent;
}

Moments pool_moments(const Moments& first, const Moments& second) {
  if (!(second.weight > 0.0)) return first;
  const index_t d = first.cross.rows();
  const Vector difference = second.mean - first.mean;
  Moments pooled = first;
  pooled.weight += second.weight;
  const double factor = first.weight * second.weight / pooled.weight;
  pooled.mean += (second.weight / pooled.weight) * difference;
  pooled.scatter += second.scatter;
  pooled.scatter.triangularView<Eigen::Upper>() +=
      (factor * difference.head(d)) * difference.head(d).transpose();
  pooled.cross += second.cross + (factor * difference.head(d)) *
                                     difference.tail(difference.size() - d).transpose();
  pooled.diagonal += second.diagonal + factor * difference.cwiseAbs2();
  return pooled;
}

RowMatrix products_about(const Moments& moments, const Vector& point) {
  const index_t d = moments.cross.rows();
  const index_t n_outputs = moments.cross.cols();
  const index_t used = d + n_outputs;
  const Vector offset = moments.mean - point;
  const Vector sums = moments.weight * offset;
  RowMatrix products = RowMatrix::Zero(packed_rows(d), packed_width(d, n_outputs));
  products.topLeftCorner(d, d) = moments.scatter;
  products.topLeftCorner(d, d) += sums.head(d) * offset.head(d).transpose();
  products.block(0, d, d, n_outputs) =
      moments.cross + sums.head(d) * offset.tail(n_outputs).transpose();
  products.col(used).head(d) = sums.head(d);
  products.row(sums_row(d)).head(used) = sums.transpose();
  products(sums_row(d), used) = moments.weight;
  products.row(squares_row(d)).head(used) = moments.diagonal + sums.cwiseProduct(offset);
  return products;
}

bool is_resolved(const Moments& moments) {
  return moments.weight > kResolution * moments.reference_weight &&
         (moments.diagonal.array() >= kResolution * moments.reference.array()).all();
}

double rounding_noise(const Moments& moments) {
  double largest_ratio = 1.0;
  for (index_t j = 0; j < moments.diagonal.size(); ++j)
    if (moments.diagonal[j] > 0.0)
      largest_ratio = std::max(largest_ratio, moments.reference[j] / moments.diagonal[j]);
  return std::numeric_limits<double>::epsilon() * largest_ratio;
}

Matrix covariance_of(const Moments& moments) {
  constexpr double kJitter = 1e-6;
  Matrix covariance = moments.scatter.selfadjointView<Eigen::Upper>();
  covariance /= moments.weight;
  const double mean_variance = covariance.trace() / static_cast<double>(covariance.rows());
  covariance.diagonal().array() += kJitter * mean_variance;
  return covariance;
}

}  // namespace fctree::ridge
