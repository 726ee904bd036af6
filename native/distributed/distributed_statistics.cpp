#include "distributed/distributed_statistics.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/errors.hpp"
#include "distributed/step_arguments.hpp"
#include "oblique/split_search/screening.hpp"
#include "ridge/dense.hpp"
#include "ridge/penalty_choice.hpp"
#include "ridge/spd.hpp"

namespace fctree::distributed {

namespace {

[[noreturn]] void refuse_few_samples() {
  throw std::invalid_argument(
      "a node has fewer samples than features: a fit on partitions needs moments; grow fewer or "
      "larger nodes, or fit where the samples are");
}

}  // namespace

DistributedStatistics::DistributedStatistics(const TrainingData& sample, index_t n_samples, const Asker& asker,
                       const FeatureBins* bins)
    : sample_(sample), n_samples_(n_samples), asker_(asker), bins_(bins), sample_rows_(1) {
  for (index_t i = 0; i < sample.n_samples; ++i)
    if (sample.weight[i] > 0.0) sample_rows_[0].push_back(static_cast<std::int32_t>(i));
}

std::vector<double> DistributedStatistics::ask(const std::string& step,
                                    const std::vector<StepArgument>& arguments) {
  std::vector<double> answer;
  if (!asker_.ask(asker_.context, step, arguments, answer)) throw Interrupted();
  return answer;
}

StepArgument DistributedStatistics::numbers_of(const std::vector<OpenNode*>& nodes) const {
  StepArgument argument = {"nodes", {}, {}, {static_cast<index_t>(nodes.size())}};
  for (const OpenNode* node : nodes) argument.integers.push_back(node->begin);
  return argument;
}

// As in one place where all of a node's heaviest samples are in the sample; else close.
std::vector<Vector> DistributedStatistics::shifts_of(const std::vector<OpenNode*>& nodes) {
  std::vector<Vector> shifts(nodes.size());
  std::vector<OpenNode*> unknown;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeRows rows = sample_of(*nodes[i]);
    if (rows.size > 0)
      shifts[i] = heaviest_sample(sample_, rows);
    else
      unknown.push_back(nodes[i]);
  }
  if (unknown.empty()) return shifts;
  const std::vector<double> found = ask("heaviest", {numbers_of(unknown)});
  const index_t used = sample_.n_features + sample_.n_outputs;
  index_t next = 0;
  for (Vector& shift : shifts)
    if (shift.size() == 0) shift = VectorView(found.data() + next++ * (1 + used) + 1, used);
  return shifts;
}

void DistributedStatistics::open(GrowState& state, OpenNode& root) {
  root.size = n_samples_;
  root.begin = 0;
  if (state.is_dual(root) && state.has_models()) refuse_few_samples();
  state.origin = shifts_of({&root})[0];
}

std::vector<Moments> DistributedStatistics::full_moments(const GrowState& state,
                                              const std::vector<OpenNode*>& nodes) {
  const std::vector<Vector> shifts = shifts_of(nodes);
  const std::vector<double> sums =
      ask("products", {numbers_of(nodes), rows_argument("shift", shifts)});
  const index_t width = packed_width(sample_.n_features, sample_.n_outputs);
  std::vector<Moments> moments(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const RowMatrixView products(sums.data() + i * width * width, width, width);
    moments[i] = moments_of_products(products, sample_, shifts[i], state.origin);
    moments[i].n_samples = nodes[i]->size;
  }
  return moments;
}

std::vector<Moments> DistributedStatistics::simple_moments(const GrowState& state,
                                                const std::vector<OpenNode*>& nodes) {
  for (const OpenNode* node : nodes)
    if (state.is_dual(*node) && state.needs_fit(*node)) refuse_few_samples();
  std::vector<Vector> shifts = shifts_of(nodes);
  // Below the root, splits between bins ask nothing of the features but what is in the bins.
  const bool has_features = state.has_models() || nodes[0]->depth == 0;
  const index_t used = (has_features ? sample_.n_features : 0) + sample_.n_outputs;
  for (Vector& shift : shifts) shift = shift.tail(used).eval();
  const std::vector<double> sums = ask(has_features ? "diagonals" : "target_diagonals",
                                       {numbers_of(nodes), rows_argument("shift", shifts)});
  std::vector<Moments> moments(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    moments[i] = moments_of_diagonal(sums.data() + i * (1 + 2 * used), shifts[i],
                                     state.origin.tail(used));
    moments[i].n_samples = nodes[i]->size;
  }
  return moments;
}

double DistributedStatistics::find_alpha(const GrowState& state, const OpenNode& root) {
  const SpectralFit fit = spectral_fit(root.moments, state.origin, state.params.fit_intercept);
  const std::vector<double> sums =
      ask("grid_errors", {matrix_argument("vectors", fit.vectors),
                          vector_argument("values", fit.values),
                          matrix_argument("cross", fit.cross), vector_argument("mean", fit.mean),
                          vector_argument("base", Vector::Constant(1, fit.base))});
  return best_alpha(Eigen::Map<const GridErrors>(sums.data()));
}

RidgeFit DistributedStatistics::fit_dual(const GrowState&, const OpenNode&) { refuse_few_samples(); }
Matrix DistributedStatistics::sparse_dual(const GrowState&, const OpenNode&) { refuse_few_samples(); }

std::vector<std::vector<Matrix>> DistributedStatistics::residual_scatter(
    const GrowState& state, const std::vector<OpenNode*>& nodes) {
  std::vector<std::vector<Matrix>> scatter(nodes.size());
  if (nodes.empty()) return scatter;
  std::vector<Vector> means;
  for (const OpenNode* node : nodes) means.push_back(node->moments.mean + state.origin);
  std::vector<StepArgument> arguments = {numbers_of(nodes), rows_argument("mean", means)};
  for (StepArgument& argument : model_arguments(nodes)) arguments.push_back(std::move(argument));
  const std::vector<double> sums = ask("residual_products", arguments);
  const index_t d = sample_.n_features;
  const index_t width = packed_width(d, sample_.n_outputs);
  const double* next = sums.data();
  for (std::vector<Matrix>& of_node : scatter)
    for (index_t k = 0; k < sample_.n_outputs; ++k, next += width * width)
      of_node.push_back(RowMatrixView(next, width, width).topLeftCorner(d, d));
  return scatter;
}

std::vector<Vector> DistributedStatistics::promises(const GrowState& state,
                                         const std::vector<OpenNode*>& nodes) {
  const index_t d = sample_.n_features;
  const std::vector<double> ends = ask("ranges", {numbers_of(nodes)});
  ScreeningArguments screening(state, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (index_t j = 0; j < d; ++j) {
      const double lowest = -ends[i * 2 * d + j], highest = ends[i * 2 * d + d + j];
      FeatureRange range = range_of(state, *nodes[i], j, lowest, highest);
      if (!may_screen(*nodes[i], j) || !range.can_be_cut()) range = {0.0, 0.0, 0.0, 0.0};
      screening.add_range(range);
    }
  std::vector<StepArgument> arguments = {numbers_of(nodes)};
  for (StepArgument& argument : model_arguments(nodes)) arguments.push_back(std::move(argument));
  for (StepArgument& argument : screening.take()) arguments.push_back(std::move(argument));
  const std::vector<double> sums = ask("screening", arguments);
  const index_t n_columns = screening.n_columns() + 2;
  const index_t width = screening_width(n_columns, sample_.n_outputs);
  std::vector<Vector> found(nodes.size(), Vector::Zero(d));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (index_t j = 0; j < d; ++j)
      if (screening.may_be_cut(i * d + j))
        found[i][j] = promise_of(RowMatrixView(
            sums.data() + (i * d + j) * kScreeningBins * width, kScreeningBins, width),
            n_columns * sample_.n_outputs);
  return found;
}

void DistributedStatistics::part(GrowState& state, std::vector<Split>& splits) {
  std::vector<std::vector<std::int32_t>> sides(2 * splits.size());
  CandidateArguments cuts(sample_.n_features);
  for (std::size_t i = 0; i < splits.size(); ++i) {
    Split& split = splits[i];
    const SplitInfo& candidate = split.info();
    const Vector direction = direction_of(state, *split.node, candidate);
    cuts.add(*split.node, candidate, direction, {split.cut().threshold});
    const NodeRows rows = sample_of(*split.node);
    std::vector<double> scores(rows.size);
    const index_t axis = candidate.kind == SplitKind::axis ? candidate.index : -1;
    score_rows(sample_, rows, direction.data(), axis, scores.data());
    for (index_t at = 0; at < rows.size; ++at)
      sides[2 * i + (scores[at] <= split.cut().threshold ? 0 : 1)].push_back(rows.rows[at]);
    for (index_t side = 0; side < 2; ++side)
      split.children[side].begin = 2 * static_cast<index_t>(i) + side;
  }
  ask("part", cuts.take());
  sample_rows_ = std::move(sides);
}

std::vector<DecreaseSums> DistributedStatistics::decreases(const GrowState& state,
                                                const std::vector<Split>& splits,
                                                const std::vector<SplitModels>& models) {
  JudgementArguments judgements(sample_.n_features);
  for (std::size_t i = 0; i < splits.size(); ++i)
    for (int side = 0; side < 2; ++side)
      judgements.add(splits[i].children[side].begin, models[i].node, models[i].children[side],
                     state.variance_of(*splits[i].node));
  const std::vector<double> sums = ask("decreases", judgements.take());
  std::vector<DecreaseSums> totals(splits.size());
  for (std::size_t i = 0; i < splits.size(); ++i)
    for (int side = 0; side < 2; ++side) {
      const double* own = sums.data() + (2 * i + side) * 3;
      totals[i].add({own[0], own[1], own[2]});
    }
  return totals;
}

}  // namespace fctree::distributed
