// The cuts that are tried along directions in large nodes: at quantiles of a sample of a direction's scores. No rows are
// sorted, they are counted and put into intervals, each part of them in a task.
#pragma once

#include <functional>
#include <vector>

#include "core/parallel.hpp"
#include "oblique/split_search/ridge_split.hpp"

namespace fctree::oblique {

// A direction in a node.
struct SampledSearch {
  NodeRows node;
  ModelCutRules rules;
  std::function<void(index_t begin, const NodeRows& rows, double* scores)> score;  // of rows from `begin` on
  TriedCuts* cuts;
};

// Fills the cuts of each.
void find_sampled_cuts(const TrainingData& data, const std::vector<SampledSearch>& searches,
                       const Execution& execution);

}  // namespace fctree::oblique
