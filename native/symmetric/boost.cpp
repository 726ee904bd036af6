#include "symmetric/boost.hpp"

#include <algorithm>
#include <numeric>

#include "symmetric/grow.hpp"
#include "symmetric/monotone.hpp"

namespace fctree::symmetric {

namespace {

// Of all places. What orders do not matter to is added up exactly; losses go along one tree over the
// places, so that all get the same bytes.
void add_up(const Collective* all, DerivativeScale& scale, RoundLosses& losses) {
  if (all == nullptr) return;
  std::vector<double> sums;
  const auto add = [&](const LossSum& of) {
    sums.insert(sums.end(), {of.loss.reported, of.loss.scaled, of.weight});
  };
  add(losses.train);
  for (const Evaluation& eval : losses.evals) add(eval.loss);
  const Piece own = {all->rank, 1};
  std::vector<std::int64_t> counts(1, scale.n_samples);
  for (const ExponentCounts& of_output : scale.gradient)
    counts.insert(counts.end(), of_output.counts().begin(), of_output.counts().end());
  std::vector<double> largest(scale.hessian.begin(), scale.hessian.end());
  largest.push_back(scale.square);
  all->reduce({counts.data(), static_cast<index_t>(counts.size()), largest.data(),
               static_cast<index_t>(largest.size()), sums.data(),
               static_cast<index_t>(sums.size()), &own, 1, all->n_places});
  scale.n_samples = counts[0];
  for (std::size_t k = 0; k < scale.gradient.size(); ++k) {
    scale.gradient[k] = ExponentCounts(counts.data() + 1 + k * ExponentCounts::kExponents);
    scale.hessian[k] = static_cast<int>(largest[k]);
  }
  scale.square = static_cast<int>(largest.back());
  losses.train = {{sums[0], sums[1]}, sums[2]};
  for (std::size_t set = 0; set < losses.evals.size(); ++set)
    losses.evals[set].loss = {{sums[3 + 3 * set], sums[4 + 3 * set]}, sums[5 + 3 * set]};
}

std::vector<Piece> pieces_of(const LabelledSamples& samples) {
  std::vector<Piece> pieces;
  for (std::size_t part = 0; part < samples.x.size(); ++part)
    pieces.push_back({samples.first_sample[part], samples.x[part].n_samples});
  return pieces;
}

SampleTotals find_totals(const LabelledSamples& samples, const Execution& execution) {
  const index_t n = samples.n_samples();
  SampleTotals totals = {add_up(execution.all, n), 0.0};
  totals.weight = static_cast<double>(totals.n_samples);
  if (samples.weight != nullptr)
    totals.weight = exact_sum(n, [&](index_t i) { return samples.weight[i]; }, execution);
  return totals;
}

// Samples, their bins and their scores F as the model grows.
class ScoredSet {
 public:
  ScoredSet(const LabelledSamples& samples, const BinnedMatrix& x, index_t n_outputs,
            int n_threads)
      : x_(x),
        loss_tiles_(samples.n_samples()),
        tiles_(Tiles::for_threads(samples.n_samples(), n_threads)),
        samples_(samples),
        n_outputs_(n_outputs),
        raw_(n_outputs_ * samples.n_samples()),
        leaf_(samples.n_samples()),
        total_weight_(static_cast<double>(samples.n_samples())) {
    if (samples.weight != nullptr)
      total_weight_ = std::accumulate(samples.weight, samples.weight + n(), 0.0);
  }

  index_t n() const { return tiles_.n_samples(); }
  const BinnedMatrix& x() const { return x_; }
  const Tiles& tiles() const { return tiles_; }
  const std::uint16_t* leaf() const { return leaf_.data(); }
  ScoredSamples view() const {
    return {samples_.y, raw_.data(), samples_.weight, n(), n_outputs_, unit_};
  }

  // Scores of the outputs (n_outputs), and their units or null.
  void start(const std::vector<double>& baseline, const double* unit, const Execution& execution) {
    baseline_ = baseline;
    unit_ = unit;
    parallel_for(execution, tiles_.count(), [&](index_t tile) {
      for (index_t k = 0; k < n_outputs_; ++k)
        for (index_t i = tiles_.begin(tile); i < tiles_.end(tile); ++i) {
          const index_t at = k * n() + i;
          raw_[at] = samples_.raw == nullptr ? origin(k, i) : samples_.raw[at];
        }
    });
  }

  void find_leaves(const std::vector<LevelSplit>& splits, index_t begin, index_t end) {
    symmetric::find_leaves(x_, splits, begin, end, leaf_.data());
  }

  // F <- F0 + keep (F - F0) + step[leaf]; step is (n_leaves, n_outputs).
  void add(const std::vector<double>& step, double keep, index_t tile) {
    add(step, keep, tile, raw_.data());
  }
  // F after a step.
  std::vector<double> stepped(const std::vector<double>& step, double keep, const Execution& execution) const {
    std::vector<double> scores(raw_.data(), raw_.data() + raw_.size());
    parallel_for(execution, tiles_.count(), [&](index_t tile) { add(step, keep, tile, scores.data()); });
    return scores;
  }
  void add(const std::vector<double>& step, double keep, index_t tile, double* scores) const {
    for (index_t k = 0; k < n_outputs_; ++k) {
      double* raw = scores + k * n();
      for (index_t i = tiles_.begin(tile); i < tiles_.end(tile); ++i) {
        if (keep != 1.0) raw[i] = origin(k, i) + keep * (raw[i] - origin(k, i));
        raw[i] += step[leaf_[i] * n_outputs_ + k];
      }
    }
  }

  // Appends a loop that finds the loss of each tile, and with `out` the derivatives and their scale, both
  // kept by reference.
  void evaluate(const Loss& loss, const Derivatives* out, std::vector<Phase>& phases) {
    losses_.resize(loss_tiles_.count());
    scales_.resize(out == nullptr ? 0 : loss_tiles_.count());
    phases.push_back({loss_tiles_.count(), [this, &loss, out](index_t tile) {
      const index_t begin = loss_tiles_.begin(tile), end = loss_tiles_.end(tile);
      losses_[tile] = loss.evaluate(view(), begin, end, out);
      if (out != nullptr) scales_[tile] = find_scale(view(), *out, begin, end);
    }});
  }
  // Their sum, tile by tile, in order.
  LossSum loss() const {
    LossSum sum = {{}, total_weight_};
    for (const LossValue& of_tile : losses_) sum.loss += of_tile;
    return sum;
  }
  DerivativeScale scale() const {
    DerivativeScale scale = scales_[0];
    for (std::size_t tile = 1; tile < scales_.size(); ++tile) scale.merge(scales_[tile]);
    return scale;
  }

 private:
  double origin(index_t k, index_t i) const {
    return samples_.initial == nullptr ? baseline_[k] : baseline_[k] + samples_.initial[k * n() + i];
  }

  const BinnedMatrix& x_;
  Tiles loss_tiles_;  // sums of losses depend on them
  Tiles tiles_;
  LabelledSamples samples_;
  index_t n_outputs_;
  Buffer<double> raw_;
  Buffer<std::uint16_t> leaf_;
  std::vector<LossValue> losses_;
  std::vector<DerivativeScale> scales_;
  std::vector<double> baseline_;
  const double* unit_ = nullptr;
  double total_weight_;
};

// A tree that the scores lack still.
struct Step {
  std::vector<LevelSplit> splits;
  std::vector<double> values;  // (n_leaves, n_outputs)
};

class Booster : public GrowingModel {
 public:
  Booster(const BoostingTask& task, const BinnedSamples& binned, const BoostingParams& params,
          const Execution& execution)
      : task_(task),
        params_(params),
        execution_(execution),
        loss_(make_loss(task.loss, task.n_outputs)),
        train_(task.train, binned.train, task.n_outputs, execution.n_threads),
        grower_(train_.x(), train_.tiles(), params,
                {task.train.weight, task.monotone, task.masked, task.interactions}, task.n_outputs,
                find_totals(task.train, execution)),
        gradient_(task.n_outputs * train_.n()),
        hessian_(loss_->has_hessian() ? task.n_outputs * train_.n() : 0),
        rows_(pieces_of(task.train), params) {
    evals_.reserve(task.evals.size());
    for (std::size_t set = 0; set < task.evals.size(); ++set)
      evals_.emplace_back(task.evals[set], *binned.evals[set], task.n_outputs,
                          execution.n_threads);
    result_.trees.max_depth = params.max_depth;
    result_.trees.n_outputs = task.n_outputs;
  }

  BoostingResult run(const RoundListener& listener) {
    start();
    const RoundPlan plan = {task_.first_iteration,   params_.max_iter,         task_.min_rounds,
                            params_.early_stopping, params_.n_iter_no_change, params_.tol,
                            units_.of_stopping(*loss_), task_.past_losses};
    result_.history = run_rounds(*this, plan, listener, execution_.all);
    return std::move(result_);
  }

  void grow_round(index_t iteration) override {
    rows_.draw(iteration, scale_, execution_);
    add_tree(grower_.grow(gradient_.data(), scale_, rows_.searched(), iteration, execution_));
  }

  // The last tree's values are added here: that and the losses are one loop, unless the loss has to see
  // all scores before.
  RoundLosses evaluate() override {
    std::vector<Phase> phases;
    add_step(phases);
    if (loss_->prepares() || loss_->balances()) {
      parallel_phases(execution_, phases);
      phases.clear();
      loss_->prepare(train_.view());
      loss_->find_centres(train_.view(), execution_);
    }
    const Derivatives out = derivatives();
    train_.evaluate(*loss_, &out, phases);
    for (ScoredSet& eval : evals_) eval.evaluate(*loss_, nullptr, phases);
    parallel_phases(execution_, phases);
    step_ = {};
    RoundLosses losses;
    losses.has_value = loss_->has_value();
    losses.train = train_.loss();
    scale_ = train_.scale();
    for (const ScoredSet& eval : evals_) losses.evals.push_back({eval.loss(), eval.view().raw});
    add_up(execution_.all, scale_, losses);
    return losses;
  }

 private:
  Derivatives derivatives() {
    return {gradient_.data(), hessian_.empty() ? nullptr : hessian_.data()};
  }

  void start() {
    result_.baseline = find_baseline(task_.baseline, task_.train.initial, train_.view(), execution_, *loss_);
    if (task_.n_outputs > 1 || params_.early_stopping) units_ = find_units(*loss_, train_.view(), execution_);
    train_.start(result_.baseline, units_.of_several(), execution_);
    for (ScoredSet& eval : evals_) eval.start(result_.baseline, units_.of_several(), execution_);
  }

  void add_tree(const std::vector<LevelSplit>& splits) {
    const index_t depth = static_cast<index_t>(splits.size());
    const auto find = [&](index_t begin, index_t end) { train_.find_leaves(splits, begin, end); };
    const LeafAssignment leaves = {find, train_.leaf(), rows_.bag(), index_t{1} << depth};
    LeafValues values =
        compute_leaf_values(*loss_, {train_.view(), derivatives(), scale_}, leaves,
                            loss_->penalty_factor() * params_.l2_leaf_reg, train_.tiles(), execution_);
    if (task_.monotone != nullptr) {
      std::vector<std::uint8_t> parts_missing;
      for (const LevelSplit& split : splits)
        parts_missing.push_back(split.code >= train_.x().n_cuts_of_values(split.feature));
      make_monotone(splits, task_.monotone, parts_missing, values);
    }
    for (std::size_t at = 0; at < values.value.size(); ++at)
      values.value[at] *= params_.learning_rate * train_.view().unit_of(at % task_.n_outputs);
    if (loss_->balances()) balance(values.value);
    store(splits, values.value);
    step_ = {splits, std::move(values.value)};
  }

  void balance(std::vector<double>& step) const {
    const std::vector<double> scores = train_.stepped(step, kept_share(), execution_);
    ScoredSamples stepped = train_.view();
    stepped.raw = scores.data();
    const std::vector<double> shifts = loss_->find_shifts(stepped, execution_);
    for (std::size_t at = 0; at < step.size(); ++at) step[at] += shifts[at % shifts.size()];
  }

  // Of what the trees before say.
  double kept_share() const { return 1.0 - params_.model_shrink_rate * params_.learning_rate; }

  void add_step(std::vector<Phase>& phases) {
    if (step_.values.empty()) return;
    const double keep = kept_share();
    phases.push_back({train_.tiles().count(), [=](index_t tile) {
      train_.add(step_.values, keep, tile);
    }});
    for (ScoredSet& eval : evals_)
      phases.push_back({eval.tiles().count(), [=, &eval](index_t tile) {
        eval.find_leaves(step_.splits, eval.tiles().begin(tile), eval.tiles().end(tile));
        eval.add(step_.values, keep, tile);
      }});
  }

  double threshold(const LevelSplit& split) const {
    return task_.thresholds[task_.offsets[split.feature] + split.code];
  }

  void store(const std::vector<LevelSplit>& splits, const std::vector<double>& step) {
    SymmetricTreesArrays& trees = result_.trees;
    const index_t depth = static_cast<index_t>(splits.size());
    for (index_t level = 0; level < params_.max_depth; ++level) {
      const bool has = level < depth;
      const index_t feature = has ? splits[level].feature : -1;
      trees.split_feature.push_back(static_cast<std::int32_t>(feature));
      trees.split_threshold.push_back(has ? threshold(splits[level]) : 0.0);
      trees.missing_right.push_back(has && splits[level].missing_right);
      trees.split_gain.push_back(has ? std::max(0.0, splits[level].gain) : 0.0);
    }
    // Levels that the tree lacks are answered left: leaf j is j followed by zeros.
    const index_t n_outputs = task_.n_outputs;
    const index_t spread = index_t{1} << (params_.max_depth - depth);
    const std::size_t first = trees.leaf_values.size();
    trees.leaf_values.resize(first + trees.n_leaves() * n_outputs, 0.0);
    for (index_t leaf = 0; leaf < index_t{1} << depth; ++leaf)
      for (index_t k = 0; k < n_outputs; ++k)
        trees.leaf_values[first + leaf * spread * n_outputs + k] = step[leaf * n_outputs + k];
  }

  const BoostingTask& task_;
  const BoostingParams& params_;
  const Execution& execution_;
  std::unique_ptr<Loss> loss_;
  ScoredSet train_;
  std::vector<ScoredSet> evals_;
  TreeGrower grower_;
  TargetUnits units_;  // if several outputs or early stopping go by them
  Buffer<double> gradient_;
  Buffer<double> hessian_;
  DerivativeScale scale_;
  SampledRows rows_;
  Step step_;
  BoostingResult result_;
};

}  // namespace

index_t LabelledSamples::n_samples() const {
  index_t n = 0;
  for (const FeatureMatrix& part : x) n += part.n_samples;
  return n;
}

BinnedSamples::BinnedSamples(const BoostingTask& task, const Execution& execution)
    : train(task.train.x, task.thresholds, task.offsets, execution) {
  for (const LabelledSamples& eval : task.evals)
    evals.push_back(
        std::make_unique<BinnedMatrix>(eval.x, task.thresholds, task.offsets, execution));
}

BinnedSamples::BinnedSamples(const BinnedSamples& from, const std::vector<index_t>& features)
    : train(from.train, features) {
  for (const auto& eval : from.evals)
    evals.push_back(std::make_unique<BinnedMatrix>(*eval, features));
}

BoostingResult boost_binned(const BoostingTask& task, const BinnedSamples& binned,
                            const BoostingParams& params, const RoundListener& listener,
                            const Execution& execution) {
  return Booster(task, binned, params, execution).run(listener);
}

BoostingResult boost(const BoostingTask& task, const BoostingParams& params,
                     const RoundListener& listener, const Execution& execution) {
  BoostingResult result;
  with_team(execution, [&](const Execution& team) {
    const BinnedSamples binned(task, team);
    result = boost_binned(task, binned, params, listener, team);
  });
  return result;
}

}  // namespace fctree::symmetric
