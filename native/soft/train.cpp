#include "soft/train.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/patience.hpp"
#include "core/rng.hpp"
#include "soft/adam.hpp"
#include "soft/layer.hpp"
#include "soft/predict.hpp"

namespace fctree::soft {

namespace {

constexpr double kFirstDecay = 0.9, kSecondDecay = 0.999, kEpsilon = 1e-8;
constexpr double kMomentum = 0.01;  // of the running moments, after 1 / kMomentum batches
constexpr double kSameLoss = 1e-6;  // relative; instruction sets round differently

double total_weight(const SoftSamples& samples) {
  if (samples.weight == nullptr) return static_cast<double>(samples.n_samples);
  return std::accumulate(samples.weight, samples.weight + samples.n_samples, 0.0);
}

template <class T>
class Trainer {
 public:
  Trainer(const SoftTask& task, const SoftTreeParams& params, SoftState<T>& state,
          const Execution& execution)
      : task_(task),
        params_(params),
        state_(state),
        execution_(execution),
        loss_(make_loss(task.loss, task.n_outputs)),
        n_(task.train.n_samples),
        p_(task.train.x.n_columns),
        width_(p_ + (params.fit_intercept ? 1 : 0)),
        n_batches_(n_ / params.batch_size + (n_ % params.batch_size != 0)),
        total_weight_(total_weight(task.train)),
        patience_(params.n_iter_no_change, params.tol) {
    const index_t rows = count_parts(n_, n_batches_);
    pass_.remember_reached(state.reached_leaves, params.n_trees);
    order_.resize(n_);
    gathered_.resize(rows * p_);
    x_.resize(rows * width_);
    moments_.resize(3 * p_);
    y_.resize(rows * task.n_targets);
    weight_.resize(rows);
    out_.resize(rows * task.n_outputs);
    raw_.resize(rows * task.n_outputs);
    derivative_.resize(2 * rows * task.n_outputs);
    gradient_.resize(rows * task.n_outputs);
    const Ensemble<T> shape = trees(state.last);
    split_gradient_.resize(params.n_trees * shape.n_splits * width_);
    leaf_gradient_.resize(params.n_trees * shape.n_leaves() * task.n_outputs);
    touched_.resize(params.n_trees * shape.n_splits);
  }

  SoftHistory run(const RoundListener& listener) {
    bool goes_on = !has_stopped();
    for (index_t round = 1; goes_on && round <= params_.max_epochs; ++round) {
      const index_t epoch = state_.n_epochs;
      run_epoch(epoch);
      ++state_.n_epochs;
      const double eval_loss = task_.eval != nullptr ? evaluate(state_.last) : std::nan("");
      const bool stop = task_.eval != nullptr && stops_early(eval_loss);
      goes_on = listener.after_round(listener.context, epoch, history_.train_loss.back(), eval_loss) && !stop;
    }
    std::copy(pass_.reached().begin(), pass_.reached().end(), state_.reached_leaves);
    return std::move(history_);
  }

 private:
  Ensemble<T> trees(const SoftWeights<T>& weights) const {
    return {weights.splits, weights.leaves, state_.children, params_.n_trees,
            state_.n_splits, width_,        task_.n_outputs, params_.routing,
            params_.gamma,  params_.scale};
  }
  EnsembleGradients<T> gradients() {
    return {split_gradient_.data(), leaf_gradient_.data(), touched_.data()};
  }

  // Samples in the order of the epoch: a function of the seed and the epoch's number.
  void shuffle(index_t epoch) {
    std::iota(order_.begin(), order_.end(), index_t{0});
    if (n_batches_ == 1) return;  // a batch is a set
    const Random random(params_.seed, Purpose::sample_order);
    for (index_t i = n_ - 1; i > 0; --i) {
      const double u = random.uniform(static_cast<std::uint32_t>(epoch),
                                      static_cast<std::uint32_t>(i), 0);
      std::swap(order_[i], order_[static_cast<index_t>(u * static_cast<double>(i + 1))]);
    }
  }

  void run_epoch(index_t epoch) {
    shuffle(epoch);
    const Partition batches = {n_, n_batches_};
    double loss = 0.0, total_weight = 0.0, reached = 0.0;
    for (index_t b = 0; b < n_batches_; ++b) {
      const index_t n = batches.end(b) - batches.begin(b);
      const double weight = take_batch(order_.data() + batches.begin(b), n);
      pass_.forward(trees(state_.last), x_.data(), n, out_.data(), execution_);
      loss += find_gradient(n, weight);
      total_weight += weight;
      reached += static_cast<double>(pass_.n_reached_leaves());
      step();
    }
    loss /= total_weight;
    if (!std::isfinite(loss))
      throw std::invalid_argument(
          "the training loss is not finite in epoch " + std::to_string(epoch) +
          ": learning_rate or the values of X or y are too large");
    history_.train_loss.push_back(loss);
    history_.reached.push_back(reached / static_cast<double>(n_ * params_.n_trees));
  }

  // Fills x_, y_ and weight_; returns the sum of the weights.
  double take_batch(const index_t* rows, index_t n) {
    const SoftSamples& samples = task_.train;
    double total = 0.0;
    for (index_t i = 0; i < n; ++i) {
      weight_[i] = samples.weight == nullptr ? 1.0 : samples.weight[rows[i]];
      total += weight_[i];
      for (index_t k = 0; k < task_.n_targets; ++k) y_[k * n + i] = samples.y[k * n_ + rows[i]];
    }
    Table x = samples.x;
    x.rows = rows;
    x.read(0, n, gathered_.data());
    Standardization rule = {nullptr, nullptr, params_.fit_intercept};
    if (params_.batch_norm) {
      double* mean = moments_.data();
      double* variance = mean + p_;
      double* factor = variance + p_;
      batch_moments(gathered_.data(), weight_.data(), n, p_, mean, variance);
      keep_running(mean, variance);
      if (n == 1) {  // which by itself has no variance
        std::copy_n(state_.last.mean, p_, mean);
        std::copy_n(state_.last.variance, p_, variance);
      }
      inverse_deviations(mean, variance, p_, factor);
      rule = {mean, factor, params_.fit_intercept};
    }
    standardize(gathered_.data(), n, p_, rule, x_.data());
    return total;
  }

  // The mean of the batches so far at first, then an exponentially weighted one. The variance
  // counts the distance between the means.
  void keep_running(const double* mean, const double* variance) {
    const double share =
        std::max(kMomentum, 1.0 / static_cast<double>(state_.n_batches + 1));
    for (index_t j = 0; j < p_; ++j) {
      const double apart = mean[j] - state_.last.mean[j];
      double& running = state_.last.variance[j];
      running += share * (variance[j] - running + (1.0 - share) * apart * apart);
      state_.last.mean[j] += share * apart;
    }
  }

  // raw (n_outputs, n) from the trees' output (n, n_outputs).
  void find_scores(const std::vector<T>& out, index_t n, double* raw) const {
    for (index_t i = 0; i < n; ++i)
      for (index_t k = 0; k < task_.n_outputs; ++k)
        raw[k * n + i] = task_.offset[k] + task_.multiplier * out[i * task_.n_outputs + k];
  }

  // Returns the sum of weight * loss of the batch; gradient_ becomes the gradient of its mean by
  // the output.
  double find_gradient(index_t n, double total_weight) {
    const index_t n_outputs = task_.n_outputs;
    find_scores(out_, n, raw_.data());
    const Derivatives derivatives = {derivative_.data(), derivative_.data() + n * n_outputs};
    const ScoredSamples scored = {y_.data(), raw_.data(), weight_.data(), n, n_outputs};
    const double loss = loss_->evaluate(scored, 0, n, &derivatives).reported;
    for (index_t i = 0; i < n; ++i) {
      const double factor = weight_[i] * task_.multiplier / total_weight;
      for (index_t k = 0; k < n_outputs; ++k)
        gradient_[i * n_outputs + k] = static_cast<T>(factor * derivatives.gradient[k * n + i]);
    }
    return loss;
  }

  StepRule<T> rule(double penalty) const {
    const double t = static_cast<double>(state_.n_batches);
    const double correction =
        std::sqrt(1.0 - std::pow(kSecondDecay, t)) / (1.0 - std::pow(kFirstDecay, t));
    const bool adam = params_.optimizer == Optimizer::adam;
    return {static_cast<T>(params_.learning_rate * (adam ? correction : 1.0)),
            static_cast<T>(kFirstDecay), static_cast<T>(kSecondDecay), static_cast<T>(kEpsilon),
            static_cast<T>(2.0 * penalty)};
  }

  // Backward pass and update; a tree's part is one task for both.
  void step() {
    ++state_.n_batches;
    const Ensemble<T> shape = trees(state_.last);
    pass_.find_derivatives(shape, gradient_.data(), execution_);
    const index_t n_parts = pass_.n_parts(shape);
    parallel_for(execution_, params_.n_trees * n_parts, [&](index_t task) {
      const index_t tree = task / n_parts, part = task % n_parts;
      pass_.add_gradients(shape, gradient_.data(), tree, part, gradients());
      update(tree, pass_.part_of(shape, part));
    });
  }

  void update(index_t tree, const TreePart& part) {
    const Ensemble<T> shape = trees(state_.last);
    const auto apply = params_.optimizer == Optimizer::adam ? step_kernels<T>().adam
                                                            : step_kernels<T>().descend;
    const index_t first_leaf = (tree * shape.n_leaves() + part.leaf_begin) * task_.n_outputs;
    apply(rule(0.5 * params_.l2_leaf_reg / total_weight_),
          {state_.last.leaves + first_leaf, leaf_gradient_.data() + first_leaf,
           state_.leaf_first_moment + first_leaf, state_.leaf_second_moment + first_leaf},
          (part.leaf_end - part.leaf_begin) * task_.n_outputs);
    // Rows without a gradient are not updated, nor are their moments, unless there is a penalty.
    const StepRule<T> with_penalty = rule(params_.l2_regularization);
    const bool all = params_.l2_regularization > 0.0;
    for (index_t node = part.node_begin; node < part.node_end; ++node) {
      const index_t row = tree * shape.n_splits + node;
      if (!all && !touched_[row]) continue;
      touched_[row] = 0;
      update_row(row * width_, with_penalty, apply);
    }
  }

  template <class Apply>
  void update_row(index_t at, const StepRule<T>& with_penalty, const Apply& apply) {
    const auto from = [&](index_t begin) -> Parameters<T> {
      return {state_.last.splits + begin, split_gradient_.data() + begin,
              state_.split_first_moment + begin, state_.split_second_moment + begin};
    };
    if (with_penalty.penalty == T(0)) return apply(with_penalty, from(at), width_);
    apply(with_penalty, from(at), p_);
    if (width_ > p_) apply(rule(0.0), from(at + p_), 1);  // intercepts are not penalised
  }

  double evaluate(const SoftWeights<T>& weights) {
    const SoftSamples& samples = *task_.eval;
    const index_t n = samples.n_samples, n_outputs = task_.n_outputs;
    Standardization standardization = {nullptr, nullptr, params_.fit_intercept};
    if (params_.batch_norm) {
      inverse_deviations(weights.mean, weights.variance, p_, moments_.data());
      standardization = {weights.mean, moments_.data(), params_.fit_intercept};
    }
    eval_out_.resize(n * n_outputs);
    eval_raw_.resize(n * n_outputs);
    predict_soft(trees(weights), samples.x, n, standardization, eval_out_.data(), execution_);
    find_scores(eval_out_, n, eval_raw_.data());
    return loss_->evaluate({samples.y, eval_raw_.data(), samples.weight, n, n_outputs}, 0, n,
                           nullptr).reported / total_weight(samples);
  }

  // Whether training that continues had stopped early. Its past losses count if the best weights still have the
  // least of them. Else the samples are others, or the weights of later epochs without early stopping.
  bool has_stopped() {
    if (task_.eval == nullptr) return false;
    std::vector<double>& judged = history_.judged;
    judged = {std::numeric_limits<double>::infinity()};
    if (state_.n_epochs > 0) {
      const double loss = evaluate(state_.best);
      const auto& past = task_.past_losses;
      const auto least = std::min_element(past.begin(), past.end());
      const bool are_of_best = !past.empty() && std::abs(loss - *least) <= kSameLoss * *least;
      judged = are_of_best ? past : std::vector<double>{loss};
    }
    patience_.resume(judged);
    return patience_.is_over();
  }

  bool stops_early(double eval_loss) {
    history_.eval_loss.push_back(eval_loss);
    history_.judged.push_back(eval_loss);
    if (patience_.take(eval_loss) || state_.n_epochs == 1) keep_best();
    return patience_.is_over();
  }

  void keep_best() {
    std::copy_n(state_.last.splits, split_gradient_.size(), state_.best.splits);
    std::copy_n(state_.last.leaves, leaf_gradient_.size(), state_.best.leaves);
    std::copy_n(state_.last.mean, p_, state_.best.mean);
    std::copy_n(state_.last.variance, p_, state_.best.variance);
  }

  const SoftTask& task_;
  const SoftTreeParams& params_;
  SoftState<T>& state_;
  const Execution& execution_;
  std::unique_ptr<Loss> loss_;
  const index_t n_, p_, width_, n_batches_;
  const double total_weight_;
  LayerPass<T> pass_;
  std::vector<index_t> order_;
  std::vector<double> gathered_, moments_, y_, weight_, raw_, derivative_, eval_raw_;
  std::vector<T> x_, out_, gradient_, split_gradient_, leaf_gradient_, eval_out_;
  std::vector<std::uint8_t> touched_;
  Patience patience_;
  SoftHistory history_;
};

}  // namespace

template <class T>
void draw_weights(const Ensemble<T>& shape, const InitialSpread& spread, std::uint64_t seed,
                  T* split_weights, T* leaf_weights, const Execution& execution) {
  const Random random(seed, Purpose::soft_weights);
  const index_t n_weights = shape.n_splits * shape.n_features;
  const index_t n_values = shape.n_leaves() * shape.n_outputs;
  parallel_for(execution, shape.n_trees, [&](index_t tree) {
    for (index_t i = 0; i < n_weights; ++i) {
      if (i % 65536 == 0) check_interrupt();
      const bool constant = spread.has_intercept && i % shape.n_features == shape.n_features - 1;
      split_weights[tree * n_weights + i] =
          static_cast<T>((constant ? spread.intercepts : spread.splits) *
                         random.normal(static_cast<std::uint32_t>(tree),
                                       static_cast<std::uint32_t>(i), 0));
    }
    for (index_t i = 0; i < n_values; ++i)
      leaf_weights[tree * n_values + i] =
          spread.leaves == 0.0
              ? T(0)
              : static_cast<T>(spread.leaves *
                               random.normal(static_cast<std::uint32_t>(tree),
                                             static_cast<std::uint32_t>(i), 1));
  });
}

template <class T>
SoftHistory train_soft(const SoftTask& task, const SoftTreeParams& params, SoftState<T>& state,
                       const RoundListener& listener, const Execution& execution) {
  SoftHistory history;
  with_team(execution, [&](const Execution& team) {
    history = Trainer<T>(task, params, state, team).run(listener);
  });
  return history;
}

#define FCTREE_INSTANTIATE(T)                                                                   \
  template void draw_weights(const Ensemble<T>&, const InitialSpread&, std::uint64_t, T*, T*,   \
                             const Execution&);                                                 \
  template SoftHistory train_soft(const SoftTask&, const SoftTreeParams&, SoftState<T>&,        \
                                  const RoundListener&, const Execution&);
FCTREE_INSTANTIATE(float)
FCTREE_INSTANTIATE(double)
#undef FCTREE_INSTANTIATE

}  // namespace fctree::soft
