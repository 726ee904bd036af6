#include "oblique/grow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "oblique/dense.hpp"
#include "oblique/ridge.hpp"
#include "oblique/threshold.hpp"

namespace fctree {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr index_t kScoreChunkRows = 4096;

// A node of the level that is being grown.
struct OpenNode {
  index_t id;
  index_t depth;
  index_t begin;  // of its rows in the grower's array
  index_t size;
  Moments moments;
  RidgeFit fit;
  std::vector<Cut> cuts;  // one per direction
};

class Grower {
 public:
  Grower(const TrainingData& data, const ObliqueParams& params, const Execution& execution)
      : data_(data), params_(params), execution_(execution) {
    tree_.n_features = data.n_features;
    tree_.n_outputs = data.n_outputs;
    tree_.feature_gain.assign(data.n_features, 0.0);
  }

  ObliqueTreeArrays grow() {
    open_root();
    while (!level_.empty()) {
      fit_level();
      score_level();
      cut_level();
      split_level();
    }
    return std::move(tree_);
  }

 private:
  NodeRows rows_of(const OpenNode& node) const { return {rows_.data() + node.begin, node.size}; }

  bool is_dual(const OpenNode& node) const { return node.size < data_.n_features; }

  // What depth and size alone allow; a node of equal targets is not split either.
  bool is_large_enough(const OpenNode& node) const {
    return node.depth < params_.max_depth && node.size >= params_.min_samples_split &&
           node.size / 2 >= params_.min_samples_leaf;
  }
  bool may_split(const OpenNode& node) const {
    return is_large_enough(node) && variance_of(node) > 0.0;
  }
  bool needs_fit(const OpenNode& node) const {
    return params_.ridge_leaves || is_large_enough(node);
  }

  // Summed over outputs.
  double variance_of(const OpenNode& node) const {
    return node.moments.diagonal.tail(data_.n_outputs).sum() / node.moments.weight;
  }
  Vector target_mean(const OpenNode& node) const {
    return node.moments.mean.tail(data_.n_outputs) + origin_.tail(data_.n_outputs);
  }

  void open_root();
  void record(const OpenNode& node, index_t parent);
  Matrix ancestors_of(const OpenNode& node) const;
  void fit_level();
  void score_level();
  void cut_level();
  double score_noise(const OpenNode& node, index_t output) const;
  void split_level();
  void make_leaf(const OpenNode& node);
  void add_gain(const OpenNode& node, const Vector& direction, double gain);
  bool choose_cut(OpenNode& node);
  void part_rows(const OpenNode& node);
  void sum_children(std::vector<OpenNode>& parents, std::vector<OpenNode>& children);
  void sum_means(std::vector<OpenNode>& children, const std::vector<index_t>& wanted);

  const TrainingData& data_;
  const ObliqueParams& params_;
  const Execution& execution_;
  ObliqueTreeArrays tree_;
  std::vector<index_t> parent_;
  Vector origin_;  // (d + K): the sample that means are relative to
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> spare_rows_;
  std::vector<double> scores_;  // (n_outputs, n), in the order of rows_
  std::vector<std::uint64_t> sort_items_;
  std::vector<std::uint64_t> sort_spare_;
  std::vector<OpenNode> level_;
};

void Grower::open_root() {
  for (index_t i = 0; i < data_.n_samples; ++i)
    if (data_.weight == nullptr || data_.weight[i] > 0.0)
      rows_.push_back(static_cast<std::int32_t>(i));
  if (rows_.empty()) throw std::invalid_argument("sample_weight is zero for every sample");
  const index_t n = static_cast<index_t>(rows_.size());
  const NodeRows all = {rows_.data(), n};
  origin_ = heaviest_sample(data_, all);
  OpenNode root{0, 0, 0, n, {}, {}, {}};
  root.moments = n < data_.n_features ? sum_diagonal(data_, all, origin_)
                                      : sum_moments(data_, {all}, origin_, execution_)[0];
  if (!root.moments.diagonal.allFinite() || !root.moments.mean.allFinite())
    throw std::invalid_argument(
        "X, y or sample_weight is too large: the sum of its squares overflows float64");
  if (is_large_enough(root)) {
    spare_rows_.resize(n);
    scores_.resize(n * data_.n_outputs);
    sort_items_.resize(n * data_.n_outputs);
    sort_spare_.resize(n * data_.n_outputs);
  }
  record(root, -1);
  level_.push_back(std::move(root));
}

void Grower::record(const OpenNode& node, index_t parent) {
  const Vector mean = target_mean(node);
  parent_.push_back(parent);
  tree_.children_left.push_back(-1);
  tree_.children_right.push_back(-1);
  tree_.split_output.push_back(-1);
  tree_.leaf_index.push_back(-1);
  tree_.threshold.push_back(std::numeric_limits<double>::quiet_NaN());
  tree_.coef.resize(tree_.coef.size() + data_.n_features, 0.0);
  tree_.intercept.push_back(0.0);
  tree_.value.insert(tree_.value.end(), mean.begin(), mean.end());
  tree_.impurity.push_back(variance_of(node) * params_.impurity_scale);
  tree_.n_node_samples.push_back(node.size);
  tree_.weighted_n_node_samples.push_back(node.moments.weight);
}

// The directions on the path to the node, (d, depth).
Matrix Grower::ancestors_of(const OpenNode& node) const {
  Matrix ancestors(data_.n_features, params_.feature_concatenation ? node.depth : 0);
  index_t id = node.id;
  for (index_t k = 0; k < ancestors.cols(); ++k) {
    id = parent_[id];
    ancestors.col(k) = VectorView(tree_.coef.data() + id * data_.n_features, data_.n_features);
  }
  return ancestors;
}

void Grower::fit_level() {
  const RidgeOptions options = {params_.alpha, params_.fit_intercept};
  parallel_for(execution_, static_cast<index_t>(level_.size()), [&](index_t i) {
    OpenNode& node = level_[i];
    if (!needs_fit(node)) return;
    const Matrix ancestors = ancestors_of(node);
    node.fit = is_dual(node) ? fit_ridge_dual(data_, rows_of(node), node.moments, ancestors,
                                              origin_, options)
                             : fit_ridge(node.moments, ancestors, origin_, options);
  });
}

void Grower::score_level() {
  struct Task {
    const OpenNode* node;
    index_t begin;
    index_t end;
  };
  std::vector<Task> tasks;
  for (const OpenNode& node : level_) {
    if (!may_split(node)) continue;
    const Partition parts = partition_range(node.size, kScoreChunkRows, node.size);
    for (index_t p = 0; p < parts.n_parts; ++p) tasks.push_back({&node, parts.begin(p), parts.end(p)});
  }
  const index_t n = static_cast<index_t>(rows_.size());
  parallel_for(execution_, static_cast<index_t>(tasks.size()), [&](index_t t) {
    const Task& task = tasks[t];
    const index_t begin = task.node->begin + task.begin;
    const RowSelection selection = {data_.x,          data_.y,          nullptr,
                                    rows_.data() + begin, task.end - task.begin,
                                    data_.n_features, data_.n_outputs};
    dense_kernels().project(selection, task.node->fit.coef.data(), data_.n_outputs,
                            scores_.data() + begin, n);
  });
}

// Scores closer than their own rounding error are the same score.
double Grower::score_noise(const OpenNode& node, index_t output) const {
  const index_t d = data_.n_features;
  const Vector mean = (node.moments.mean + origin_).head(d);
  const Vector size =
      (mean.cwiseAbs2() + node.moments.diagonal.head(d) / node.moments.weight).cwiseSqrt();
  return 8.0 * kEpsilon * node.fit.coef.col(output).cwiseAbs().dot(size);
}

void Grower::cut_level() {
  const index_t n = static_cast<index_t>(rows_.size());
  const index_t n_outputs = data_.n_outputs;
  for (OpenNode& node : level_) node.cuts.resize(n_outputs);
  parallel_for(execution_, static_cast<index_t>(level_.size()) * n_outputs, [&](index_t t) {
    OpenNode& node = level_[t / n_outputs];
    const index_t output = t % n_outputs;
    if (!may_split(node)) return;
    const index_t at = output * n + node.begin;
    const SortBuffer buffer = {sort_items_.data() + at, sort_spare_.data() + at};
    const CutRules rules = {params_.min_samples_leaf, score_noise(node, output)};
    node.cuts[output] = best_cut(data_, rows_of(node), node.moments, target_mean(node),
                                 scores_.data() + at, buffer, rules);
  });
}

// Shares a gain among the features by the variation that each brings to the direction.
void Grower::add_gain(const OpenNode& node, const Vector& direction, double gain) {
  const index_t d = data_.n_features;
  const Vector variation =
      direction.cwiseAbs().cwiseProduct(node.moments.diagonal.head(d).cwiseSqrt());
  const double total = variation.sum();
  if (!(total > 0.0) || !(gain > 0.0)) return;
  for (index_t j = 0; j < d; ++j) tree_.feature_gain[j] += gain * variation[j] / total;
}

void Grower::make_leaf(const OpenNode& node) {
  const index_t d = data_.n_features;
  tree_.leaf_index[node.id] = tree_.n_leaves();
  if (!params_.ridge_leaves) {
    const Vector mean = target_mean(node);
    tree_.leaf_intercept.insert(tree_.leaf_intercept.end(), mean.begin(), mean.end());
    return;
  }
  const Vector& intercept = node.fit.intercept;
  const Matrix& coef = node.fit.coef;
  tree_.leaf_intercept.insert(tree_.leaf_intercept.end(), intercept.begin(), intercept.end());
  tree_.leaf_coef.insert(tree_.leaf_coef.end(), coef.data(), coef.data() + coef.size());
  if (data_.n_outputs == 1) {
    std::copy(coef.data(), coef.data() + d, tree_.coef.begin() + node.id * d);
    tree_.intercept[node.id] = intercept[0];
  }
  const double scale = params_.impurity_scale / tree_.weighted_n_node_samples[0];
  for (index_t k = 0; k < data_.n_outputs; ++k)
    add_gain(node, coef.col(k), scale * node.fit.reduction[k]);
}

// Picks the best direction's cut and records the split; false if the node stays a leaf.
bool Grower::choose_cut(OpenNode& node) {
  index_t best = -1;
  for (index_t k = 0; k < data_.n_outputs; ++k)
    if (node.cuts[k].found && (best < 0 || is_better(node.cuts[k].decrease,
                                                     node.cuts[best].decrease)))
      best = k;
  if (best < 0) return false;
  const Cut& cut = node.cuts[best];
  const double part = node.moments.weight / tree_.weighted_n_node_samples[0];
  const double gain = part * cut.decrease * params_.impurity_scale;
  // A decrease of rounding size is none.
  if (cut.decrease <= 4.0 * kEpsilon * variance_of(node)) return false;
  if (gain < params_.min_impurity_decrease) return false;
  tree_.split_output[node.id] = best;
  tree_.threshold[node.id] = cut.threshold;
  tree_.intercept[node.id] = node.fit.intercept[best];
  const Vector direction = node.fit.coef.col(best);
  std::copy(direction.begin(), direction.end(),
            tree_.coef.begin() + node.id * data_.n_features);
  add_gain(node, direction, gain);
  return true;
}

// Left rows first, each side in ascending order.
void Grower::part_rows(const OpenNode& node) {
  const double threshold = tree_.threshold[node.id];
  const index_t n = static_cast<index_t>(rows_.size());
  const double* scores = scores_.data() + tree_.split_output[node.id] * n + node.begin;
  std::int32_t* rows = rows_.data() + node.begin;
  std::int32_t* right = spare_rows_.data() + node.begin;
  std::int32_t* left = rows;
  std::int32_t* const right_begin = right;
  for (index_t i = 0; i < node.size; ++i) {
    const std::int32_t row = rows[i];
    if (scores[i] <= threshold)
      *left++ = row;
    else
      *right++ = row;
  }
  std::copy(right_begin, right, left);
}

void Grower::split_level() {
  std::vector<OpenNode> parents;
  for (OpenNode& node : level_) {
    if (choose_cut(node))
      parents.push_back(std::move(node));
    else
      make_leaf(node);
  }
  parallel_for(execution_, static_cast<index_t>(parents.size()),
               [&](index_t i) { part_rows(parents[i]); });
  std::vector<OpenNode> children;
  index_t id = tree_.n_nodes();
  for (const OpenNode& parent : parents) {
    const index_t n_left = parent.cuts[tree_.split_output[parent.id]].n_left;
    tree_.children_left[parent.id] = id;
    tree_.children_right[parent.id] = id + 1;
    const index_t depth = parent.depth + 1;
    children.push_back({id++, depth, parent.begin, n_left, {}, {}, {}});
    children.push_back({id++, depth, parent.begin + n_left, parent.size - n_left, {}, {}, {}});
  }
  sum_children(parents, children);
  for (std::size_t i = 0; i < children.size(); ++i) record(children[i], parents[i / 2].id);
  level_ = std::move(children);
}

// Children 2 i and 2 i + 1 are those of parent i, whose moments are used up.
void Grower::sum_children(std::vector<OpenNode>& parents, std::vector<OpenNode>& children) {
  std::vector<index_t> smaller;  // whose moments are summed
  std::vector<index_t> simple;   // that need means only
  for (index_t i = 0; i < static_cast<index_t>(parents.size()); ++i) {
    const index_t small = children[2 * i].size <= children[2 * i + 1].size ? 2 * i : 2 * i + 1;
    const OpenNode& large = children[small ^ 1];
    if (needs_fit(large) && !is_dual(large)) {
      smaller.push_back(small);
    } else {
      simple.push_back(2 * i);
      simple.push_back(2 * i + 1);
    }
  }
  const auto sum_nodes = [&](const std::vector<index_t>& ids) {
    std::vector<NodeRows> nodes;
    for (index_t id : ids) nodes.push_back(rows_of(children[id]));
    std::vector<Moments> sums = sum_moments(data_, nodes, origin_, execution_);
    for (std::size_t i = 0; i < ids.size(); ++i) children[ids[i]].moments = std::move(sums[i]);
  };
  sum_nodes(smaller);
  parallel_for(execution_, static_cast<index_t>(smaller.size()), [&](index_t i) {
    const index_t small = smaller[i];
    children[small ^ 1].moments =
        subtract_moments(std::move(parents[small / 2].moments), children[small].moments);
  });
  std::vector<index_t> unresolved;
  for (index_t small : smaller)
    if (!is_resolved(children[small ^ 1].moments)) unresolved.push_back(small ^ 1);
  sum_nodes(unresolved);
  for (index_t small : smaller)
    if (is_dual(children[small])) children[small].moments.scatter.resize(0, 0);
  sum_means(children, simple);
}

void Grower::sum_means(std::vector<OpenNode>& children, const std::vector<index_t>& wanted) {
  TrainingData targets = data_;  // enough for a leaf that predicts a constant
  targets.n_features = 0;
  const Vector targets_origin = origin_.tail(data_.n_outputs);
  parallel_for(execution_, static_cast<index_t>(wanted.size()), [&](index_t i) {
    OpenNode& node = children[wanted[i]];
    node.moments = needs_fit(node) ? sum_diagonal(data_, rows_of(node), origin_)
                                   : sum_diagonal(targets, rows_of(node), targets_origin);
  });
}

}  // namespace

ObliqueTreeArrays grow_tree(const TrainingData& data, const ObliqueParams& params,
                            const Execution& execution) {
  return Grower(data, params, execution).grow();
}

}  // namespace fctree
