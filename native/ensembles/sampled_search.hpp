// Of many rows, features and splits of trees with linear models are searched on a sample, drawn anew in each round, and the
// models are fitted to all (oblique/refit.hpp): a search reads its rows ten times and more, a fit once.
#pragma once

#include <vector>

#include "ensembles/boosting_statistics.hpp"
#include "ensembles/row_sample.hpp"

namespace fctree::ensembles {

using namespace oblique;

// The rows that a search reads.
struct SearchedRows {
  std::vector<double> weight;  // (n_samples), 0 of other rows; empty: all
  double share = 1.0;

  TrainingData of(TrainingData data) const;
  // With penalties and fewest rows of a leaf in proportion.
  ObliqueParams of(ObliqueParams params) const;
};
// Of the rows with a weight, which a round drew with this probability.
SearchedRows search_rows(const TrainingData& data, const RowSampler& sampler, index_t round, double probability,
                         const Execution& execution);

struct RoundTree {
  ObliqueTreeArrays arrays;
  std::vector<index_t> leaf;  // (n_samples): the ids of the leaves that the rows reach
};
RoundTree grow_round_tree(const TrainingData& data, index_t kind, const ObliqueParams& params, const SearchedRows& searched,
                          BoostingStatistics& statistics, const Execution& execution);

}  // namespace fctree::ensembles
