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
constexpr index_t kDiagonalRows = 1024;  // of a chunk of which means and diagonal are wanted
constexpr index_t kComparedRows = 16384;

Partition chunks_of(const NodeRows& node, index_t n_features) {
  return partition_range(node.size, std::max(kMinChunkRows, 8 * n_features), kMaxChunks);
}

struct Chunk {
  index_t node;
  index_t begin;
  index_t end;
};

}  // namespace

std::int32_t heaviest_row(const TrainingData& data, const NodeRows& node,
                          const Execution& execution) {
  if (data.weight == nullptr) return node.rows[0];
  const auto heaviest = [&](const std::int32_t* begin, const std::int32_t* end) {
    return *std::max_element(begin, end, [&](std::int32_t a, std::int32_t b) {
      return data.weight[a] < data.weight[b];
    });
  };
  if (node.size <= kComparedRows) return heaviest(node.rows, node.rows + node.size);
  std::vector<std::int32_t> of_part(count_parts(node.size, kComparedRows));
  for_each_part(execution, node.size, kComparedRows, [&](index_t p, index_t begin, index_t end) {
    of_part[p] = heaviest(node.rows + begin, node.rows + end);
  });
  return heaviest(of_part.data(), of_part.data() + of_part.size());
}

Vector heaviest_sample(const TrainingData& data, const NodeRows& node,
                       const Execution& execution) {
  const std::int32_t row = heaviest_row(data, node, execution);
  Vector sample(data.n_features + data.n_outputs);
  std::vector<double> buffer;
  sample.head(data.n_features) = VectorView(read_block(data, row, 1, buffer), data.n_features);
  sample.tail(data.n_outputs) = VectorView(data.y + row * data.n_outputs, data.n_outputs);
  return sample;
}

void add_products(RowSelection rows, const double* origin, double* tile, double* products) {
  const index_t step = rows_at_a_time(packed_width(rows.n_features, rows.n_outputs));
  for (index_t left = rows.n_rows; left > 0; left -= step, rows.rows += step) {
    check_interrupt();
    rows.n_rows = std::min(step, left);
    dense_kernels().add_products(rows, origin, tile, products);
  }
}

std::vector<RowMatrix> sum_products(const TrainingData& data, const std::vector<NodeRows>& nodes,
                                    const std::vector<Vector>& shifts, const double* factor,
                                    const Execution& execution) {
  const index_t width = packed_width(data.n_features, data.n_outputs);
  const index_t n_nodes = static_cast<index_t>(nodes.size());
  std::vector<Chunk> chunks;
  std::vector<index_t> first_chunk;
  for (index_t i = 0; i < n_nodes; ++i) {
    const Partition parts = chunks_of(nodes[i], data.n_features);
    first_chunk.push_back(static_cast<index_t>(chunks.size()));
    for (index_t p = 0; p < parts.n_parts; ++p) chunks.push_back({i, parts.begin(p), parts.end(p)});
  }
  first_chunk.push_back(static_cast<index_t>(chunks.size()));

  std::vector<RowMatrix> products(chunks.size());
  parallel_for(execution, static_cast<index_t>(chunks.size()), [&](index_t c) {
    const Chunk& chunk = chunks[c];
    const std::unique_ptr<double[]> tile(new double[2 * kTileRows * width]);  // not set to 0
    products[c] = RowMatrix::Zero(width, width);
    const NodeRows rows = {nodes[chunk.node].rows + chunk.begin, chunk.end - chunk.begin};
    for_each_selection(data, rows, factor, [&](const RowSelection& selection, index_t) {
      add_products(selection, shifts[chunk.node].data(), tile.get(), products[c].data());
    });
  });
  std::vector<RowMatrix> totals(nodes.size());
  const double merged = static_cast<double>(chunks.size() * width * width);
  parallel_for(limit_threads(execution, merged), n_nodes, [&](index_t i) {
    totals[i] = std::move(products[first_chunk[i]]);
    for (index_t c = first_chunk[i] + 1; c < first_chunk[i + 1]; ++c) totals[i] += products[c];
  });
  return totals;
}

Moments moments_of_products(const RowMatrix& products, const TrainingData& data,
                            const Vector& shift, const Vector& origin) {
  const index_t d = data.n_features;
  const index_t used = d + data.n_outputs;
  Moments moments;
  moments.weight = products(used, used);
  const Vector sums = products.col(used).head(used);
  const Vector offset = sums / moments.weight;
  moments.mean = (shift - origin) + offset;
  moments.diagonal =
      (products.diagonal().head(used) - sums.cwiseProduct(offset)).cwiseMax(0.0);
  moments.scatter = products.topLeftCorner(d, d);
  moments.scatter.triangularView<Eigen::Upper>() -= sums.head(d) * offset.head(d).transpose();
  moments.scatter.diagonal() = moments.diagonal.head(d);
  moments.cross = products.block(0, d, d, data.n_outputs) -
                  sums.head(d) * offset.tail(data.n_outputs).transpose();
  moments.reference = moments.diagonal;
  moments.reference_weight = moments.weight;
  return moments;
}

std::vector<Moments> sum_moments(const TrainingData& data, const std::vector<NodeRows>& nodes,
                                 const Vector& origin, const Execution& execution) {
  std::vector<Vector> shifts;
  for (const NodeRows& node : nodes) shifts.push_back(heaviest_sample(data, node, execution));
  const std::vector<RowMatrix> products =
      sum_products(data, nodes, shifts, data.weight, execution);
  std::vector<Moments> moments(nodes.size());
  const double width = static_cast<double>(origin.size());
  const double work = width * width * static_cast<double>(nodes.size());
  parallel_for(limit_threads(execution, work), static_cast<index_t>(nodes.size()), [&](index_t i) {
    moments[i] = moments_of_products(products[i], data, shifts[i], origin);
    moments[i].n_samples = nodes[i].size;
  });
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

Moments sum_diagonal(const TrainingData& data, const NodeRows& node, const Vector& origin,
                     const Execution& execution) {
  const Vector shift = heaviest_sample(data, node, execution);
  const Partition of_node = partition_range(node.size, kDiagonalRows, node.size);
  std::vector<Vector> parts(of_node.n_parts, Vector::Zero(1 + 2 * shift.size()));
  parallel_for(execution, of_node.n_parts, [&](index_t p) {
    const NodeRows rows = {node.rows + of_node.begin(p), of_node.end(p) - of_node.begin(p)};
    add_diagonal(data, rows, shift.data(), parts[p].data());
  });
  Vector sums = parts[0];
  for (index_t p = 1; p < of_node.n_parts; ++p) sums += parts[p];
  Moments moments = moments_of_diagonal(sums.data(), shift, origin);
  moments.n_samples = node.size;
  return moments;
}

SampleSums sum_samples(const TrainingData& data, const NodeRows& node) {
  SampleSums sums;
  for (index_t i = 0; i < node.size; ++i) {
    const double weight = data.weight_of(node.rows[i]), unit = data.unit_of(node.rows[i]);
    sums.number += weight / unit;
    sums.squared_weights += weight * unit;
    sums.count += data.count == nullptr ? weight : data.count[node.rows[i]];
  }
  return sums;
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
  parent.n_samples -= child.n_samples;
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
  RowMatrix products = RowMatrix::Zero(packed_width(d, n_outputs), packed_width(d, n_outputs));
  products.topLeftCorner(d, d) = moments.scatter;
  products.topLeftCorner(d, d) += sums.head(d) * offset.head(d).transpose();
  products.block(0, d, d, n_outputs) =
      moments.cross + sums.head(d) * offset.tail(n_outputs).transpose();
  products.col(used).head(used) = sums;
  products(used, used) = moments.weight;
  for (index_t k = d; k < used; ++k) products(k, k) = moments.diagonal[k] + sums[k] * offset[k];
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

}  // namespace fctree::ridge
