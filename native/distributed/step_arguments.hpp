// The steps that distributed_statistics.cpp asks of all places, and their arguments: arrays with names.
#pragma once

#include <string>
#include <vector>

#include "oblique/score_rows.hpp"
#include "oblique/split_search/screening.hpp"

namespace fctree::distributed {

using namespace ridge;
using namespace oblique;

// An argument of a step: doubles, or integers where there are any, of a shape.
struct StepArgument {
  std::string name;
  std::vector<double> values;
  std::vector<index_t> integers;
  std::vector<index_t> shape;
};

// Asks all places for a step; false where no answer could be had.
struct Asker {
  bool (*ask)(void* context, const std::string& step, const std::vector<StepArgument>& arguments,
              std::vector<double>& answer);
  void* context;
};

StepArgument vector_argument(const std::string& name, const Vector& values);
// Row by row.
StepArgument matrix_argument(const std::string& name, const Matrix& matrix);
StepArgument rows_argument(const std::string& name, const std::vector<Vector>& rows);

// "coef" (n, K, d) and "intercept" (n, K) of nodes' fits.
std::vector<StepArgument> model_arguments(const std::vector<OpenNode*>& nodes);

// "nodes" (n), "axis" (n), "direction" (n, d), "threshold" (n, most), infinite where a candidate
// has fewer.
class CandidateArguments {
 public:
  explicit CandidateArguments(index_t n_features) : n_features_(n_features) {}
  void add(const OpenNode& node, const SplitInfo& candidate, const Vector& direction,
           const std::vector<double>& thresholds);
  std::vector<StepArgument> take();

 private:
  index_t n_features_;
  std::vector<index_t> nodes_;
  std::vector<index_t> axes_;
  std::vector<double> directions_;
  std::vector<std::vector<double>> thresholds_;
};

// "column" (n, C, d), "centre" and "scale" (n, C): the scores along the nodes' ridge and curvature
// directions, standardised by their moments, 0 where a node has fewer; "range" (n, d, 4).
class ScreeningArguments {
 public:
  ScreeningArguments(const GrowState& state, const std::vector<OpenNode*>& nodes);
  void add_range(const FeatureRange& range);
  bool may_be_cut(index_t at) const { return ranges_[4 * at + 1] > 0.0; }
  index_t n_columns() const { return n_columns_; }
  std::vector<StepArgument> take() const;

 private:
  index_t n_nodes_;
  index_t n_features_;
  index_t n_columns_;
  std::vector<double> columns_;
  std::vector<double> centres_;
  std::vector<double> scales_;
  std::vector<double> ranges_;
};

// "nodes" (n) and "unit" (n) of children, and of the models before (0) and behind (1) the split
// "coef" (n, 2, K, d), "intercept" (n, 2, K), "mean" (n, 2, d), "inverse" (n, 2, d, stride), "base"
// (n, 2).
class JudgementArguments {
 public:
  explicit JudgementArguments(index_t n_features) : n_features_(n_features) {}
  void add(index_t child, const LeverageModel& node, const LeverageModel& model, double unit);
  std::vector<StepArgument> take() const;

 private:
  void add_model(const LeverageModel& model);

  index_t n_features_;
  index_t n_outputs_ = 0;
  std::vector<index_t> children_;
  std::vector<double> units_;
  std::vector<double> coef_;
  std::vector<double> intercept_;
  std::vector<double> mean_;
  std::vector<double> inverse_;
  std::vector<double> base_;
};

}  // namespace fctree::distributed
