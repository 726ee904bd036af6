#include "inspection/symmetric_shapley.hpp"

#include <algorithm>

#include "symmetric/predict.hpp"

namespace fctree::inspection {

namespace {

constexpr index_t kTableDoubles = index_t{1} << 22;  // of the trees that are looked up together
constexpr index_t kMostTrees = 512;
constexpr index_t kChunkRows = 8192;  // whose leaves are held at a time
constexpr index_t kBlockRows = 64;

FeatureMatrix rows_of(const FeatureMatrix& x, index_t begin, index_t size) {
  FeatureMatrix out = x;
  const index_t bytes = x.single_precision ? sizeof(float) : sizeof(double);
  out.data = static_cast<const char*>(x.data) + begin * x.row_stride * bytes;
  out.n_samples = size;
  return out;
}

SymmetricTreesView trees_of(const SymmetricTreesView& trees, index_t first, index_t size) {
  SymmetricTreesView out = trees;
  out.split_feature += first * trees.max_depth;
  out.split_threshold += first * trees.max_depth;
  out.missing_right += first * trees.max_depth;
  out.leaf_values += first * trees.n_leaves() * trees.n_outputs;
  out.n_trees = size;
  return out;
}

// Some trees of a task, and their tables.
class Batch {
 public:
  Batch(const SymmetricShapleyTask& task, index_t first, index_t size)
      : task_(task), trees_(trees_of(task.trees, first, size)), tables_(size) {
    for (index_t tree = 0; tree < size; ++tree)
      players_.push_back(players_of(trees_, tree, task.player));
  }

  void tabulate(const Execution& execution) {
    std::vector<std::vector<double>> share(trees_.n_trees);
    for (index_t tree = 0; tree < trees_.n_trees; ++tree)
      share[tree].assign(players_[tree].n_leaves(), 0.0);
    for_each_chunk(task_.background, execution, [&](index_t, index_t size) {
      parallel_for(execution, trees_.n_trees, [&](index_t tree) {
        for (index_t row = 0; row < size; ++row) share[tree][leaf_of(row, tree)] += 1.0;
      });
    });
    parallel_for(execution, trees_.n_trees, [&](index_t tree) {
      for (double& count : share[tree]) count /= static_cast<double>(task_.background.n_samples);
      tables_[tree] = shapley_by_leaf(trees_, tree, players_[tree], share[tree], task_.kind);
    });
  }

  void add(double* out, const Execution& execution) {
    for_each_chunk(task_.x, execution, [&](index_t begin, index_t size) {
      for_each_part(execution, size, kBlockRows, [&](index_t, index_t first, index_t last) {
        for (index_t tree = 0; tree < trees_.n_trees; ++tree)
          for (index_t row = first; row < last; ++row)
            add_row(row, tree, out + (begin + row) * task_.n_players * trees_.n_outputs);
      });
    });
  }

 private:
  template <class Body>
  void for_each_chunk(const FeatureMatrix& x, const Execution& execution, const Body& body) {
    for (index_t begin = 0; begin < x.n_samples; begin += kChunkRows) {
      const index_t size = std::min(kChunkRows, x.n_samples - begin);
      leaf_.resize(size * trees_.n_trees);
      apply_trees(trees_, rows_of(x, begin, size), leaf_.data(), execution);
      body(begin, size);
    }
  }

  index_t leaf_of(index_t row, index_t tree) const {
    return leaf_[row * trees_.n_trees + tree] >> players_[tree].unused_levels;
  }

  void add_row(index_t row, index_t tree, double* out) const {
    const index_t n_outputs = trees_.n_outputs;
    const std::vector<index_t>& player = players_[tree].player;
    const double* value = tables_[tree].data() + leaf_of(row, tree) * player.size() * n_outputs;
    for (const index_t own : player)
      for (index_t k = 0; k < n_outputs; ++k) out[own * n_outputs + k] += *value++;
  }

  const SymmetricShapleyTask& task_;
  SymmetricTreesView trees_;
  std::vector<SymmetricPlayers> players_;
  std::vector<std::vector<double>> tables_;
  std::vector<std::int32_t> leaf_;  // (rows of a chunk, trees)
};

}  // namespace

void add_symmetric_shapley(const SymmetricShapleyTask& task, double* out,
                           const Execution& execution) {
  const SymmetricTreesView& trees = task.trees;
  const index_t table = trees.n_leaves() * trees.max_depth * trees.n_outputs;
  const index_t n_together = std::clamp<index_t>(kTableDoubles / table, 1, kMostTrees);
  with_team(execution, [&](const Execution& team) {
    for (index_t first = 0; first < trees.n_trees; first += n_together) {
      Batch batch(task, first, std::min(n_together, trees.n_trees - first));
      batch.tabulate(team);
      batch.add(out, team);
    }
  });
}

}  // namespace fctree::inspection
