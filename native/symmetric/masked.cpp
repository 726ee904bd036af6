#include "symmetric/masked.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "symmetric/predict.hpp"
#include "symmetric/ranked_trees.hpp"

namespace fctree::symmetric {

namespace {

// Scores of the model to continue on samples with replaced columns.
class ReplacedScores {
 public:
  ReplacedScores(const RankedTrees& trees, const FeatureMatrix& x, const BlockCodes& replacement,
                 index_t n_outputs, const Execution& execution)
      : trees_(trees), replacement_(replacement), n_(x.n_samples), n_outputs_(n_outputs) {
    blocks_.resize(count_parts(n_, kPredictedRows));
    for_each_part(execution, n_, kPredictedRows, [&](index_t b, index_t begin, index_t end) {
      blocks_[b] = trees.find_codes(x, begin, end - begin);
    });
  }

  // (n_samples, n_outputs), from the baseline on. O(T depth) per row.
  std::vector<double> compute(const std::uint8_t* masked, const double* baseline,
                              const Execution& execution) const {
    const auto n_blocks = static_cast<index_t>(blocks_.size());
    std::vector<double> scores(n_blocks * kPredictedRows * n_outputs_);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = baseline[i % n_outputs_];
    parallel_for(execution, n_blocks, [&](index_t b) {
      trees_.add(blocks_[b], {masked, &replacement_},
                 scores.data() + b * kPredictedRows * n_outputs_);
    });
    scores.resize(n_ * n_outputs_);
    return scores;
  }

 private:
  const RankedTrees& trees_;
  const BlockCodes& replacement_;
  index_t n_;
  index_t n_outputs_;
  std::vector<BlockCodes> blocks_;
};

// (n, n_outputs) as (n_outputs, n).
std::vector<double> transposed(std::vector<double> scores, index_t n_outputs) {
  if (n_outputs == 1) return scores;
  const index_t n = static_cast<index_t>(scores.size()) / n_outputs;
  std::vector<double> out(scores.size());
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < n_outputs; ++k) out[k * n + i] = scores[i * n_outputs + k];
  return out;
}

// A task on the features that are not masked, and their indices.
struct ReducedTask {
  ReducedTask(const BoostingTask& full, const BinnedSamples& from, std::vector<index_t> kept)
      : features(std::move(kept)), binned(from, features), task(full) {
    offsets.push_back(0);
    for (const index_t f : features) {
      thresholds.insert(thresholds.end(), full.thresholds + full.offsets[f],
                        full.thresholds + full.offsets[f + 1]);
      offsets.push_back(static_cast<index_t>(thresholds.size()));
      if (full.monotone != nullptr) monotone.push_back(full.monotone[f]);
      if (full.interactions.column != nullptr) columns.push_back(full.interactions.column[f]);
    }
    task.thresholds = thresholds.data();
    task.offsets = offsets.data();
    if (full.monotone != nullptr) task.monotone = monotone.data();
    if (full.interactions.column != nullptr) task.interactions.column = columns.data();
    task.masked = nullptr;
  }

  // The trees with the original feature indices.
  void restore(SymmetricTreesArrays& trees) const {
    for (std::int32_t& feature : trees.split_feature)
      if (feature >= 0) feature = static_cast<std::int32_t>(features[feature]);
  }

  std::vector<index_t> features;
  std::vector<double> thresholds;
  std::vector<index_t> offsets;
  std::vector<std::int8_t> monotone;
  std::vector<index_t> columns;
  BinnedSamples binned;
  BoostingTask task;
};

// Stops the growth of all masks when one has failed or the caller cancels.
bool tell_nothing(void* stop, index_t, double, double) {
  return !static_cast<const std::atomic<bool>*>(stop)->load(std::memory_order_relaxed);
}

class MaskedBooster {
 public:
  MaskedBooster(const MaskedTask& task, const BoostingParams& params,
                const RoundListener& listener, const Execution& execution)
      : task_(task), params_(params), listener_(listener), n_outputs_(task.boosting.n_outputs) {
    result_.test_raw.resize(task.n_masks * task.test.n_samples * n_outputs_);
    result_.n_rounds.resize(task.n_masks);
    result_.seconds.resize(task.n_masks);
    // Groups for one thread, as each mask has one; so results do not depend on their number.
    if (params.max_iter > 0)
      binned_ = std::make_unique<BinnedSamples>(task.boosting, execution.on_one_thread());
    if (task.trees != nullptr) rank_trees(execution);
  }

  MaskedResult run(const Execution& execution) {
    // Few masks: the threads share each; many: each thread has its own.
    const bool one_by_one = task_.n_masks < execution.n_threads;
    const Execution inner = one_by_one ? execution : execution.on_one_thread();
    const Execution outer = one_by_one ? execution.on_one_thread() : execution;
    parallel_for(outer, task_.n_masks, [&](index_t mask) {
      if (stop_) return;
      try {
        run_mask(mask, inner);
      } catch (...) {
        stop_ = true;
        throw;
      }
    });
    return std::move(result_);
  }

 private:
  void rank_trees(const Execution& execution) {
    trees_ = std::make_unique<RankedTrees>(*task_.trees, task_.test.n_features);
    if (!trees_->fits()) throw std::logic_error("a model to continue has too many thresholds");
    const FeatureMatrix constant = {task_.replacement, kPredictedRows, task_.test.n_features, 0, 1,
                                    false};
    replacement_ = trees_->find_codes(constant, 0, kPredictedRows);
    const auto scores_of = [&](const FeatureMatrix& x) {
      return std::make_unique<ReplacedScores>(*trees_, x, replacement_, n_outputs_, execution);
    };
    test_ = scores_of(task_.test);
    if (params_.max_iter == 0) return;
    train_ = scores_of(task_.boosting.train.x[0]);
    if (!task_.boosting.evals.empty()) eval_ = scores_of(task_.boosting.evals[0].x[0]);
  }

  std::vector<double> start(const std::unique_ptr<ReplacedScores>& scores,
                            const std::uint8_t* masked, const Execution& execution) const {
    return scores ? scores->compute(masked, task_.boosting.baseline, execution)
                  : std::vector<double>();
  }

  void run_mask(index_t mask, const Execution& execution) {
    const auto begun = std::chrono::steady_clock::now();
    const std::uint8_t* masked = task_.masked + mask * task_.test.n_features;
    std::vector<double> test = start(test_, masked, execution);
    if (params_.max_iter > 0) {
      const std::vector<double> train_raw = transposed(start(train_, masked, execution), n_outputs_);
      const std::vector<double> eval_raw = transposed(start(eval_, masked, execution), n_outputs_);
      BoostingTask task = task_.boosting;
      task.masked = masked;
      if (!train_raw.empty()) task.train.raw = train_raw.data();
      if (!eval_raw.empty()) task.evals[0].raw = eval_raw.data();
      BoostingResult grown = grow(task, execution);
      result_.n_rounds[mask] = grown.trees.n_trees();
      grown.trees.truncate(grown.history.best_iteration);
      add_to(test, grown, execution);
    }
    std::copy(test.begin(), test.end(), result_.test_raw.begin() + mask * test.size());
    result_.seconds[mask] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    if (!listener_.after_round(listener_.context, mask, 0.0, 0.0)) stop_ = true;
  }

  BoostingResult grow(const BoostingTask& task, const Execution& execution) {
    const RoundListener listener = {tell_nothing, &stop_};
    std::vector<index_t> kept;
    for (index_t f = 0; f < binned_->train.n_features(); ++f)
      if (!task.masked[f]) kept.push_back(f);
    const auto n_groups = static_cast<index_t>(binned_->train.groups().size());
    const index_t n_needed = count_parts(static_cast<index_t>(kept.size()), kCellLanes);
    if (n_needed >= n_groups)
      return boost_binned(task, *binned_, params_, listener, execution);
    const ReducedTask reduced(task, *binned_, std::move(kept));
    BoostingResult grown = boost_binned(reduced.task, reduced.binned, params_, listener, execution);
    reduced.restore(grown.trees);
    return grown;
  }

  // The trees of a mask use none of the replaced columns: the samples can stay as they are.
  void add_to(std::vector<double>& test, const BoostingResult& grown,
              const Execution& execution) const {
    if (test.empty()) {
      test.resize(task_.test.n_samples * n_outputs_);
      for (std::size_t i = 0; i < test.size(); ++i) test[i] = grown.baseline[i % n_outputs_];
    }
    const SymmetricTreesArrays& trees = grown.trees;
    const SymmetricTreesView view = {trees.split_feature.data(), trees.split_threshold.data(),
                                     trees.missing_right.data(), trees.leaf_values.data(),
                                     trees.n_trees(),            trees.max_depth,
                                     n_outputs_};
    add_trees(view, task_.test, test.data(), execution);
  }

  const MaskedTask& task_;
  const BoostingParams& params_;
  const RoundListener& listener_;
  index_t n_outputs_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<BinnedSamples> binned_;
  std::unique_ptr<RankedTrees> trees_;
  BlockCodes replacement_;
  std::unique_ptr<ReplacedScores> train_, eval_, test_;
  MaskedResult result_;
};

}  // namespace

MaskedResult boost_masked(const MaskedTask& task, const BoostingParams& params,
                          const RoundListener& listener, const Execution& execution) {
  MaskedResult result;
  with_team(execution, [&](const Execution& team) {
    result = MaskedBooster(task, params, listener, team).run(team);
  });
  return result;
}

}  // namespace fctree::symmetric
