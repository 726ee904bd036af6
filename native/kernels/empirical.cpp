#include "kernels/empirical.hpp"

#include <algorithm>
#include <cmath>

namespace fctree::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr index_t kFeaturesInMemory = 8 << 20;  // of both sides together, a chunk of trees

// Row-major features of all samples: leaf probabilities and, without the factor x, the
// derivatives by the parameters.
struct Features {
  std::vector<double> leaves;
  std::vector<double> nodes;
};

// The features of one tree at one sample, given its parameters' projections z.
class TreeFeatures {
 public:
  TreeFeatures(const LeafPaths& paths, double scale) : paths_(paths), scale_(scale) {}

  void evaluate(const double* z, const double* leaf_weight, double* leaves, double* nodes) {
    const index_t n_parameters = paths_.n_parameters;
    left_.resize(n_parameters);
    right_.resize(n_parameters);
    for (index_t p = 0; p < n_parameters; ++p) {
      // 1 - left would cancel if left is near 1.
      left_[p] = 0.5 * std::erfc(-scale_ * z[p]);
      right_[p] = 0.5 * std::erfc(scale_ * z[p]);
      nodes[p] = 0.0;
    }
    for (index_t l = 0; l < paths_.n_leaves(); ++l) add_leaf(l, leaf_weight[l], &leaves[l], nodes);
    for (index_t p = 0; p < n_parameters; ++p) {
      const double exponent = scale_ * z[p];
      nodes[p] *= scale_ / std::sqrt(kPi) * std::exp(-exponent * exponent);
    }
  }

 private:
  double step(index_t s) const {
    const index_t p = paths_.path_parameter[s];
    return paths_.path_left[s] ? left_[p] : right_[p];
  }

  // Products of all steps but one from both ends: no division by a probability of 0.
  void add_leaf(index_t l, double weight, double* probability, double* nodes) {
    const index_t begin = paths_.path_start[l], length = paths_.path_start[l + 1] - begin;
    after_.assign(length + 1, 1.0);
    for (index_t s = length - 1; s >= 0; --s) after_[s] = after_[s + 1] * step(begin + s);
    *probability = after_[0];
    double before = 1.0;
    for (index_t s = 0; s < length; ++s) {
      const double sign = paths_.path_left[begin + s] ? 1.0 : -1.0;
      nodes[paths_.path_parameter[begin + s]] += sign * weight * before * after_[s + 1];
      before *= step(begin + s);
    }
  }

  const LeafPaths& paths_;
  double scale_;
  std::vector<double> left_, right_, after_;
};

const KernelSpec kLinear = {KernelKind::linear, Derivative::none, 1, 1.0, nullptr};

Features features_of(const Samples<double>& x, const LeafPaths& paths,
                     const EnsembleWeights& weights, double scale, const Execution& execution) {
  const index_t n_trees = weights.n_trees, n_parameters = paths.n_parameters;
  const index_t n_leaves = paths.n_leaves(), n_columns = n_trees * n_parameters;
  Features features;
  features.leaves.resize(x.n_rows * n_trees * n_leaves);
  features.nodes.resize(x.n_rows * n_columns);
  std::vector<double> projections(x.n_rows * n_columns);
  const Samples<double> rows = {weights.split, n_columns, x.n_features};
  compute_gram<double>(kLinear, {x, rows, 1.0}, projections.data(), n_columns, execution);
  const Partition blocks = partition_range(x.n_rows, 4, 4096);
  parallel_for(execution, blocks.n_parts, [&](index_t block) {
    TreeFeatures tree(paths, scale);
    for (index_t i = blocks.begin(block); i < blocks.end(block); ++i)
      for (index_t m = 0; m < n_trees; ++m)
        tree.evaluate(projections.data() + i * n_columns + m * n_parameters,
                      weights.leaf + m * n_leaves,
                      features.leaves.data() + (i * n_trees + m) * n_leaves,
                      features.nodes.data() + (i * n_trees + m) * n_parameters);
  });
  return features;
}

// out += Phi Phi' + S o Psi Psi' of one chunk of trees.
class ChunkAdder {
 public:
  ChunkAdder(const LeafPaths& paths, const GramInput<double>& input, double* out)
      : paths_(paths), input_(input), symmetric_(input.y.data == nullptr), out_(out) {
    n_columns_ = symmetric_ ? input.x.n_rows : input.y.n_rows;
    product_.resize(input.x.n_rows * n_columns_);
    inner_.resize(product_.size());
  }

  void start(const Execution& execution) {
    compute_gram<double>(kLinear, input_, inner_.data(), n_columns_, execution);
    std::fill(out_, out_ + product_.size(), 0.0);
  }

  void add(const EnsembleWeights& weights, const Execution& execution) {
    const Features x = features_of(input_.x, paths_, weights, input_.scale, execution);
    Features y;
    if (!symmetric_) y = features_of(input_.y, paths_, weights, input_.scale, execution);
    multiply(x.leaves, y.leaves, weights.n_trees * paths_.n_leaves(), execution);
    for (std::size_t k = 0; k < product_.size(); ++k) out_[k] += product_[k];
    multiply(x.nodes, y.nodes, weights.n_trees * paths_.n_parameters, execution);
    for (std::size_t k = 0; k < product_.size(); ++k) out_[k] += inner_[k] * product_[k];
  }

  void divide(double n_trees) {
    for (std::size_t k = 0; k < product_.size(); ++k) out_[k] /= n_trees;
  }

 private:
  void multiply(const std::vector<double>& x, const std::vector<double>& y, index_t width,
                const Execution& execution) {
    const Samples<double> left = {x.data(), input_.x.n_rows, width};
    const Samples<double> right = {symmetric_ ? nullptr : y.data(), n_columns_, width};
    compute_gram<double>(kLinear, {left, right, 1.0}, product_.data(), n_columns_, execution);
  }

  const LeafPaths& paths_;
  const GramInput<double>& input_;
  bool symmetric_;
  double* out_;
  index_t n_columns_;
  std::vector<double> product_;
  std::vector<double> inner_;
};

}  // namespace

void compute_empirical(const LeafPaths& paths, const EnsembleWeights& weights,
                       const GramInput<double>& input, double* out, const Execution& execution) {
  with_team(execution, [&](const Execution& team) {
    ChunkAdder adder(paths, input, out);
    adder.start(team);
    const index_t n_rows = input.x.n_rows + (input.y.data == nullptr ? 0 : input.y.n_rows);
    const index_t width = paths.n_leaves() + 2 * paths.n_parameters;
    const index_t chunk = std::max<index_t>(1, kFeaturesInMemory / std::max<index_t>(1, n_rows * width));
    for (index_t begin = 0; begin < weights.n_trees; begin += chunk) {
      const index_t size = std::min(chunk, weights.n_trees - begin);
      adder.add({weights.split + begin * paths.n_parameters * input.x.n_features,
                 weights.leaf + begin * paths.n_leaves(), size},
                team);
    }
    adder.divide(static_cast<double>(weights.n_trees));
  });
}

}  // namespace fctree::kernels
