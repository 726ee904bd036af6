// Of many rows, features and splits of trees with linear models are searched on a sample, drawn anew in each round or for
// each tree, and the models are fitted to all (oblique/refit.hpp): a search reads its rows ten times and more, a fit once.
#pragma once

#include "core/buffer.hpp"
#include "ensembles/boosting_statistics.hpp"
#include "ensembles/row_sample.hpp"

namespace fctree::ensembles {

using namespace oblique;

index_t count_weighted(const TrainingData& data, const Execution& execution);  // rows with a weight
// How many of n rows are searched: more of targets that few rows tell about, infinity if all.
double count_searched(const TrainingData& data, index_t n_rows, const Execution& execution);

// The rows that searches of a round, or of a tree, read.
class SearchedRows {
 public:
  // n_wanted of the n_rows rows with a weight, or all if that is infinity, by the draw of this number. Where the same draw
  // chose the rows with a weight, `probability` is that with which it did, else 1.
  struct Draw {
    index_t number;
    double probability;
    index_t n_rows;
    double n_wanted;
  };
  void draw(const TrainingData& data, const RowSampler& sampler, const Draw& draw, const Execution& execution);

  // Whether trees of this kind are grown on a sample.
  bool is_sample_for(const ObliqueParams& params) const { return is_sample_ && params.ridge_criterion; }
  TrainingData of(TrainingData data) const;
  // With penalties and fewest rows of a leaf in proportion.
  ObliqueParams of(ObliqueParams params) const;

 private:
  bool is_sample_ = false;
  double share_ = 1.0;
  Buffer<double> weight_;  // (n_samples) of a sample, 0 of other rows
};

struct RoundTree {
  ObliqueTreeArrays arrays;
  Buffer<index_t> leaf;  // (n_samples): the ids of the leaves that the rows reach
};
RoundTree grow_round_tree(const TrainingData& data, index_t kind, const ObliqueParams& params, const SearchedRows& searched,
                          BoostingStatistics& statistics, const Execution& execution);

}  // namespace fctree::ensembles
