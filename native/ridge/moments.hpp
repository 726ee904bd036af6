// Moments of a node: all that a ridge fit needs to know about its samples.
//
// scatter = sum w (x - mean)(x - mean)', cross = sum w (x - mean)(y - mean)', and the
// diagonal of y's own scatter. A child's moments are its parent's minus its sibling's, so that a
// level costs only the smaller children: O(n d^2 / 4) instead of O(n d^2 / 2).
//
// Numerics. Subtracting two nearly equal numbers loses digits twice here: when sums of
// squares are centred, and when a child is computed as parent minus sibling. Against the first,
// sums are taken about the node's own heaviest sample: its squared distance from the mean
// is at most n times the variance, so at most log10(n) digits of 16 are lost. Against the
// second, a node remembers the diagonal that its sums started from (`reference`), and is summed
// again when less than kResolution of it is left in any column.
#pragma once

#include <vector>

#include "core/matrix.hpp"
#include "core/parallel.hpp"
#include "ridge/dense.hpp"
#include "ridge/row_parts.hpp"
#include "ridge/training_data.hpp"

namespace fctree::ridge {

// Multiply-adds of the moments of all samples.
inline double moment_work(const TrainingData& data) {
  const double d = static_cast<double>(data.n_features);
  return static_cast<double>(data.n_samples) * (d + 1.0) * (0.5 * d + static_cast<double>(data.n_outputs));
}

struct Moments {
  double weight = 0.0;
  Vector mean;       // (d + K): of x and y, relative to the origin
  Vector diagonal;   // (d + K): sum w (z - mean)^2
  Vector reference;  // (d + K): the diagonal of the sums that this was derived from
  double reference_weight = 0.0;
  Matrix scatter;    // (d, d), upper triangle; empty if only means and diagonal are known
  Matrix cross;      // (d, K)
};

// products (packed_rows, width) += sum of factor * z z' over rows, z the packed row (dense.hpp); factor is by row
// number, or null for ones.
void add_products(const TrainingData& data, const NodeRows& rows, const double* factor, const double* origin, double* products);

// Sums of factor * z z' over the samples of each node, z the packed row (dense.hpp) about the
// node's shift (d + K); factor is by row number, or null for ones. First the parts, in any order, then the nodes'
// totals. O(n d (d / 2 + K)).
class ProductSums {
 public:
  ProductSums(const TrainingData& data, const std::vector<NodeRows>& nodes);

  const RowParts& parts() const { return parts_; }
  void add(index_t part, const Vector& shift, const double* factor);
  RowMatrix take_total(index_t node);

 private:
  const TrainingData& data_;
  RowParts parts_;
  std::vector<RowMatrix> products_;  // of the parts
};

// Full moments of each node; means are relative to `origin` (d + K).
// O(n d (d / 2 + K)) over the samples of all nodes.
std::vector<Moments> sum_moments(const TrainingData& data, const std::vector<NodeRows>& nodes,
                                 const Vector& origin, const Execution& execution);

// Means and diagonal alone. O(n (d + K)).
std::vector<Moments> sum_diagonals(const TrainingData& data, const std::vector<NodeRows>& nodes,
                                   const Vector& origin, const Execution& execution);

// The same from sums over a node's samples about `shift` (d + K): of packed products, and of the
// weight, the differences and their squares (1 + 2 (d + K)), as add_diagonal computes them.
// `sizes` has the numbers of features and outputs.
Moments moments_of_products(const RowMatrix& products, const TrainingData& sizes,
                            const Vector& shift, const Vector& origin);
void add_diagonal(const TrainingData& data, const NodeRows& node, const double* shift,
                  double* sums);
Moments moments_of_diagonal(const double* sums, const Vector& shift, const Vector& origin);

// Of the samples that rows stand for (TrainingData::count): how many, where each row is one at least, their
// squared weights, and the sum of the counts.
struct SampleSums {
  double number = 0.0;
  double squared_weights = 0.0;
  double count = 0.0;

  void add(const SampleSums& other) {
    number += other.number;
    squared_weights += other.squared_weights;
    count += other.count;
  }
};
SampleSums sum_samples(const TrainingData& data, const NodeRows& node, const Execution& execution);

// The moments of what is left of a node without one of its children.
Moments subtract_moments(Moments parent, const Moments& child);

// The moments of two sets of samples together; one of weight 0 adds nothing.
Moments pool_moments(const Moments& first, const Moments& second);

// The same as sums of products about a point that is relative to the moments' origin:
// packed (packed_rows, packed_width): the upper triangle of the features' rows, then the row of sums and the row of squares.
RowMatrix products_about(const Moments& moments, const Vector& point);

// Whether a difference of moments kept enough digits to be used.
bool is_resolved(const Moments& moments);

// The relative rounding noise in the moments of any column, at most.
double rounding_noise(const Moments& moments);

// The covariance of the features (d, d), invertible: 1e-6 of their mean variance is added to each, so that directions without
// variation stay weak.
Matrix covariance_of(const Moments& moments);

// The sample that sums of this node are taken about: the first of the largest weight.
std::int32_t heaviest_row(const TrainingData& data, const NodeRows& node);
Vector heaviest_sample(const TrainingData& data, const NodeRows& node, const Execution& execution = {});

}  // namespace fctree::ridge
