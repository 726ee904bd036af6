#include "oblique/refit.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/buffer.hpp"
#include "oblique/node_statistics.hpp"
#include "oblique/split.hpp"
#include "oblique/tree_writer.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kTaskRows = 4096;

class Refit {
 public:
  Refit(const ObliqueTreeArrays& splits, const TrainingData& data, const ObliqueParams& params, NodeStatistics& statistics,
        const Execution& team)
      : state_(data, params, team, statistics, statistics.offset()), splits_(splits),
        nodes_(splits.n_nodes()), place_(splits.n_nodes(), -1), tree_(state_) {}

  ObliqueTreeArrays run(Buffer<index_t>& leaf) {
    sum_leaves(leaf);
    for (index_t id = splits_.n_nodes() - 1; id >= 0; --id)
      if (!is_leaf(id)) join_children(id);
    std::vector<index_t> level = {0};
    open_root();
    while (!level.empty()) level = fit_children(level);
    find_places();
    for_each_part(state_.execution, leaf.size(), kTaskRows, [&](index_t, index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) leaf[i] = place_[leaf[i]];
    });
    return tree_.take();
  }

 private:
  bool is_leaf(index_t id) const { return splits_.children_left[id] < 0; }
  std::array<index_t, 2> children(index_t id) const { return {splits_.children_left[id], splits_.children_right[id]}; }
  bool is_kept(index_t id) const {
    return !is_leaf(id) && state_.leaves_enough(nodes_[id], nodes_[splits_.children_left[id]].size);
  }
  void sum_leaves(const Buffer<index_t>& leaf);
  void join_children(index_t id);
  void open_root();
  std::vector<index_t> fit_children(const std::vector<index_t>& level);
  WrittenSplit split_of(index_t id) const;
  void find_places();

  GrowState state_;
  const ObliqueTreeArrays& splits_;
  std::vector<OpenNode> nodes_;  // numbered as in splits_
  std::vector<index_t> place_;   // in the fitted tree of each, or of the leaf that it became a part of
  TreeWriter tree_;
};

void Refit::sum_leaves(const Buffer<index_t>& leaf) {
  const TrainingData& data = state_.data;
  std::vector<OpenNode*> leaves;
  std::vector<std::int32_t> number_of(nodes_.size(), -1);
  Buffer<std::int32_t> number(data.n_samples);
  for (index_t id = 0; id < splits_.n_nodes(); ++id) {
    if (!is_leaf(id)) continue;
    number_of[id] = static_cast<std::int32_t>(leaves.size());
    leaves.push_back(&nodes_[id]);
  }
  for_each_part(state_.execution, data.n_samples, kTaskRows, [&](index_t, index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) number[i] = data.weight_of(i) > 0.0 ? number_of[leaf[i]] : -1;
  });
  state_.statistics->open_leaves(state_, number.data(), leaves);
  leaves.erase(std::remove_if(leaves.begin(), leaves.end(), [](const OpenNode* node) { return node->size == 0; }), leaves.end());
  std::vector<Moments> moments = state_.statistics->full_moments(state_, leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i]->moments = std::move(moments[i]);
  if (!data.has_curvatures || !(state_.params.parent_weight > 0.0)) return;
  double count = 0.0, weight = 0.0;
  for (const OpenNode* leaf_node : leaves) {
    weight += leaf_node->moments.weight;
    count += state_.statistics->sum_samples(state_, *leaf_node).count;
  }
  state_.params.parent_weight *= weight / count;
}

void Refit::join_children(index_t id) {
  const auto [left, right] = children(id);
  OpenNode& node = nodes_[id];
  node.size = nodes_[left].size + nodes_[right].size;
  const Moments &first = nodes_[left].moments, &second = nodes_[right].moments;
  Moments& moments = node.moments = first.weight > 0.0 ? pool_moments(first, second) : second;
  moments.reference = moments.diagonal;
  moments.reference_weight = moments.weight;
}

void Refit::open_root() {
  OpenNode& root = nodes_[0];
  root.ancestors = Matrix(state_.data.n_features, 0);
  fit_node(state_, root);
  tree_.set_scales(root);
  tree_.open(root);
}

std::vector<index_t> Refit::fit_children(const std::vector<index_t>& level) {
  std::vector<index_t> next;
  for (const index_t id : level) {
    if (!is_kept(id)) continue;
    for (const index_t side : children(id)) {
      OpenNode child = child_of(state_, nodes_[id]);
      child.size = nodes_[side].size;
      child.moments = std::move(nodes_[side].moments);
      nodes_[side] = std::move(child);
      next.push_back(side);
    }
  }
  parallel_for(for_systems(state_, static_cast<index_t>(next.size())), static_cast<index_t>(next.size()),
               [&](index_t i) { fit_node(state_, nodes_[next[i]]); });
  for (const index_t id : level) {
    place_[id] = nodes_[id].id;
    const auto [left, right] = children(id);
    if (is_kept(id))
      tree_.split(nodes_[id], split_of(id), nodes_[left], nodes_[right]);
    else
      tree_.close(nodes_[id]);
  }
  return next;
}

WrittenSplit Refit::split_of(index_t id) const {
  const index_t d = splits_.n_features;
  return {static_cast<SplitKind>(splits_.split_kind[id]), VectorView(splits_.coef.data() + id * d, d), splits_.threshold[id],
          splits_.split_output[id], splits_.intercept[id]};
}

void Refit::find_places() {
  for (index_t id = 0; id < splits_.n_nodes(); ++id) {
    if (is_leaf(id)) continue;
    for (const index_t side : children(id))
      if (place_[side] < 0) place_[side] = place_[id];
  }
}

}  // namespace

ObliqueTreeArrays refit_tree_on_team(const ObliqueTreeArrays& splits, const TrainingData& data, const ObliqueParams& params,
                                     NodeStatistics& statistics, const Execution& team, Buffer<index_t>& leaf) {
  return Refit(splits, data, params, statistics, team).run(leaf);
}

}  // namespace fctree::oblique
