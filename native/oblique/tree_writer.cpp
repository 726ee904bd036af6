#include "oblique/tree_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "oblique/left_out_scores.hpp"

namespace fctree::oblique {

namespace {

// Scales the variances of the terms of each group's features to add up to that of the sum of its terms.
void join_groups(const TrainingData& data, const Matrix& scatter, const Vector& direction, Vector& variance) {
  std::map<index_t, std::vector<index_t>> members;
  for (index_t j = 0; j < data.n_features; ++j)
    if (variance[j] > 0.0) members[data.groups[data.columns == nullptr ? j : data.columns[j]]].push_back(j);
  for (const auto& [group, features] : members) {
    double together = 0.0, apart = 0.0;
    for (std::size_t b = 0; b < features.size(); ++b) {
      apart += variance[features[b]];
      for (std::size_t a = 0; a <= b; ++a)
        together += (a == b ? 1.0 : 2.0) * direction[features[a]] * direction[features[b]] * scatter(features[a], features[b]);
    }
    if (features.size() < 2) continue;
    for (const index_t j : features) variance[j] *= std::max(together, 0.0) / apart;
  }
}

// By how much the model of an output lowers the squared error of the mean of a node's samples, without the pseudo-samples that
// it was fitted to beside them.
double reduction_of(const GrowState& state, const OpenNode& node, index_t k) {
  if (!(node.prior.weight > 0.0)) return node.fit.reduction[k];
  const Moments& own = node.moments;
  const index_t d = state.data.n_features;
  const auto coef = node.fit.coef.col(k);
  const Vector mean = own.mean + state.origin;
  const double missed = mean[d + k] - node.fit.intercept[k] - coef.dot(mean.head(d));
  const Vector products = own.scatter.selfadjointView<Eigen::Upper>() * coef;
  return coef.dot(2.0 * own.cross.col(k) - products) - own.weight * missed * missed;
}

}  // namespace

TreeWriter::TreeWriter(const GrowState& state) : state_(state) {
  tree_.n_features = state.data.n_features;
  tree_.n_outputs = state.data.n_outputs;
  tree_.feature_gain.assign(state.data.n_features, 0.0);
}

void TreeWriter::set_scales(const OpenNode& root) {
  const Vector variance = root.moments.diagonal.head(tree_.n_features) / root.moments.weight;
  for (const double of_feature : variance)
    tree_.feature_scale.push_back(of_feature > 0.0 ? std::sqrt(of_feature) : 1.0);
}

void TreeWriter::open(OpenNode& node) {
  node.id = tree_.n_nodes();
  const Vector mean = state_.target_mean(node);
  tree_.children_left.push_back(-1);
  tree_.children_right.push_back(-1);
  tree_.split_kind.push_back(-1);
  tree_.split_output.push_back(-1);
  tree_.leaf_index.push_back(-1);
  tree_.threshold.push_back(std::numeric_limits<double>::quiet_NaN());
  tree_.coef.resize(tree_.coef.size() + tree_.n_features, 0.0);
  tree_.intercept.push_back(0.0);
  tree_.value.insert(tree_.value.end(), mean.begin(), mean.end());
  tree_.impurity.push_back(state_.variance_of(node) * state_.params.impurity_scale);
  tree_.n_node_samples.push_back(node.size);
  tree_.weighted_n_node_samples.push_back(node.moments.weight);
}

void TreeWriter::split(const OpenNode& node, const WrittenSplit& split, OpenNode& left, OpenNode& right) {
  double explained = node.moments.weight * state_.variance_of(node);  // by the children's means
  for (OpenNode* child : {&left, &right}) {
    open(*child);
    explained -= child->moments.weight * state_.variance_of(*child);
  }
  tree_.children_left[node.id] = left.id;
  tree_.children_right[node.id] = right.id;
  tree_.split_kind[node.id] = static_cast<index_t>(split.kind);
  tree_.split_output[node.id] = split.output;
  tree_.threshold[node.id] = split.threshold;
  tree_.intercept[node.id] = split.intercept;
  std::copy(split.direction.begin(), split.direction.end(), tree_.coef.begin() + node.id * tree_.n_features);
  if (split.kind == SplitKind::axis) {  // nodes of constants may know no variances
    index_t axis;
    split.direction.maxCoeff(&axis);
    tree_.feature_gain[axis] += gain_of(explained);
  } else {
    add_gain(node, split.direction, explained);
  }
}

void TreeWriter::close(const OpenNode& node) {
  if (state_.left_out.scores != nullptr) find_left_out_scores(state_, node, tree_.n_leaves());
  const index_t d = tree_.n_features;
  tree_.leaf_index[node.id] = tree_.n_leaves();
  if (!state_.params.ridge_leaves) {
    const Vector mean = state_.target_mean(node);
    tree_.leaf_intercept.insert(tree_.leaf_intercept.end(), mean.begin(), mean.end());
    return;
  }
  const Vector& intercept = node.fit.intercept;
  const Matrix& coef = node.fit.coef;
  tree_.leaf_intercept.insert(tree_.leaf_intercept.end(), intercept.begin(), intercept.end());
  tree_.leaf_coef.insert(tree_.leaf_coef.end(), coef.data(), coef.data() + coef.size());
  if (tree_.n_outputs == 1) {
    std::copy(coef.data(), coef.data() + d, tree_.coef.begin() + node.id * d);
    tree_.intercept[node.id] = intercept[0];
  }
  for (index_t k = 0; k < tree_.n_outputs; ++k)
    add_gain(node, coef.col(k), reduction_of(state_, node, k));
}

// Converts a decrease of the squared error to the unit of feature importances.
double TreeWriter::gain_of(double decrease) const {
  return std::max(decrease, 0.0) * state_.params.impurity_scale /
         tree_.weighted_n_node_samples[0];
}

// Divides it among the features by the variances of their terms of the direction's score, or of the sums of terms of a group
// of them, in which terms may cancel.
void TreeWriter::add_gain(const OpenNode& node, const Vector& direction, double decrease) {
  const index_t d = tree_.n_features;
  Vector variance = direction.cwiseAbs2().cwiseProduct(node.moments.diagonal.head(d));
  if (state_.data.groups != nullptr && node.moments.scatter.size() > 0)
    join_groups(state_.data, node.moments.scatter, direction, variance);
  const double total = variance.sum();
  if (!(total > 0.0)) return;
  const double gain = gain_of(decrease);
  for (index_t j = 0; j < d; ++j) tree_.feature_gain[j] += gain * (variance[j] / total);
}

ObliqueTreeArrays TreeWriter::take() {
  tree_.alpha = state_.params.alpha;
  return std::move(tree_);
}

}  // namespace fctree::oblique
