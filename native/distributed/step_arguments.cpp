#include "distributed/step_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ridge/spd.hpp"

namespace fctree::distributed {

namespace {

template <class Values>
void append(const Values& values, std::vector<double>& to) {
  to.insert(to.end(), values.data(), values.data() + values.size());
}

}  // namespace

StepArgument vector_argument(const std::string& name, const Vector& values) {
  return {name, {values.begin(), values.end()}, {}, {values.size()}};
}

StepArgument matrix_argument(const std::string& name, const Matrix& matrix) {
  const RowMatrix rows = matrix;
  return {name, {rows.data(), rows.data() + rows.size()}, {}, {rows.rows(), rows.cols()}};
}

StepArgument rows_argument(const std::string& name, const std::vector<Vector>& rows) {
  StepArgument argument = {name, {}, {}, {static_cast<index_t>(rows.size()), rows[0].size()}};
  for (const Vector& row : rows) append(row, argument.values);
  return argument;
}

std::vector<StepArgument> model_arguments(const std::vector<OpenNode*>& nodes) {
  const index_t n = static_cast<index_t>(nodes.size());
  const Matrix& first = nodes[0]->fit.coef;
  StepArgument coef = {"coef", {}, {}, {n, first.cols(), first.rows()}};
  StepArgument intercept = {"intercept", {}, {}, {n, first.cols()}};
  for (const OpenNode* node : nodes) {
    append(node->fit.coef, coef.values);  // column by column: output by output
    append(node->fit.intercept, intercept.values);
  }
  return {coef, intercept};
}

void CandidateArguments::add(const OpenNode& node, const SplitInfo& candidate,
                             const Vector& direction, const std::vector<double>& thresholds) {
  nodes_.push_back(node.begin);
  axes_.push_back(candidate.kind == SplitKind::axis ? candidate.index : -1);
  append(direction, directions_);
  thresholds_.push_back(thresholds);
}

std::vector<StepArgument> CandidateArguments::take() {
  const index_t n = static_cast<index_t>(nodes_.size());
  std::size_t most = 0;
  for (const std::vector<double>& own : thresholds_) most = std::max(most, own.size());
  std::vector<double> padded;
  for (std::vector<double>& own : thresholds_) {
    own.resize(most, std::numeric_limits<double>::infinity());
    padded.insert(padded.end(), own.begin(), own.end());
  }
  return {{"nodes", {}, nodes_, {n}},
          {"axis", {}, axes_, {n}},
          {"direction", directions_, {}, {n, n_features_}},
          {"threshold", padded, {}, {n, static_cast<index_t>(most)}}};
}

ScreeningArguments::ScreeningArguments(const GrowState& state,
                                       const std::vector<OpenNode*>& nodes)
    : n_nodes_(static_cast<index_t>(nodes.size())), n_features_(state.data.n_features),
      n_columns_(0) {
  for (const OpenNode* node : nodes)
    n_columns_ = std::max(n_columns_, node->fit.coef.cols() + node->curvature().cols());
  for (const OpenNode* node : nodes) {
    const Matrix scatter = node->moments.scatter.selfadjointView<Eigen::Upper>();
    const Vector mean = (node->moments.mean + state.origin).head(n_features_);
    for (index_t c = 0; c < n_columns_; ++c) {
      const index_t bend = c - node->fit.coef.cols();
      Vector direction = Vector::Zero(n_features_);
      if (bend < 0)
        direction = node->fit.coef.col(c);
      else if (bend < node->curvature().cols())
        direction = node->curvature().col(bend);
      const double variance = direction.dot(scatter * direction) / node->moments.weight;
      append(direction, columns_);
      centres_.push_back(direction.dot(mean));
      scales_.push_back(variance > 0.0 ? std::sqrt(variance) : 1.0);
    }
  }
}

void ScreeningArguments::add_range(const FeatureRange& range) {
  for (const double value : {range.lowest, range.width, range.mean, range.spread})
    ranges_.push_back(value);
}

std::vector<StepArgument> ScreeningArguments::take() const {
  return {{"column", columns_, {}, {n_nodes_, n_columns_, n_features_}},
          {"centre", centres_, {}, {n_nodes_, n_columns_}},
          {"scale", scales_, {}, {n_nodes_, n_columns_}},
          {"range", ranges_, {}, {n_nodes_, n_features_, 4}}};
}

void JudgementArguments::add_model(const LeverageModel& model) {
  n_outputs_ = model.coef.cols();
  append(model.coef, coef_);
  append(model.intercept, intercept_);
  append(model.mean, mean_);
  append(model.inverse, inverse_);
  base_.push_back(model.base);
}

void JudgementArguments::add(index_t child, const LeverageModel& node, const LeverageModel& model,
                             double unit) {
  children_.push_back(child);
  units_.push_back(unit);
  add_model(node);
  add_model(model);
}

std::vector<StepArgument> JudgementArguments::take() const {
  const index_t n = static_cast<index_t>(children_.size());
  return {{"nodes", {}, children_, {n}},
          {"unit", units_, {}, {n}},
          {"coef", coef_, {}, {n, 2, n_outputs_, n_features_}},
          {"intercept", intercept_, {}, {n, 2, n_outputs_}},
          {"mean", mean_, {}, {n, 2, n_features_}},
          {"inverse", inverse_, {}, {n, 2, n_features_, spd_stride(n_features_)}},
          {"base", base_, {}, {n, 2}}};
}

}  // namespace fctree::distributed
