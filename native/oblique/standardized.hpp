// Trees grown on mapped features, mostly of mean 0 and variance 1: on those that they need most, if few of many
// do (relevant_features.hpp).
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "oblique/local_statistics.hpp"
#include "oblique/params.hpp"
#include "oblique/tree.hpp"
#include "ridge/feature_map.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

using namespace ridge;

// A tree, and the features that it was grown on.
struct MappedTree {
  ObliqueTreeArrays tree;
  FeatureMap map;
  std::vector<double> few;  // (n, map.width()), if they are not all

  const double* x(const TrainingData& mapped) const { return few.empty() ? mapped.x : few.data(); }
};

// Some features of all samples, (n_samples, columns.size()).
std::vector<double> take_columns(const TrainingData& data, const std::vector<index_t>& columns, const Execution& execution);

// `mapped` has all features of `map`; an `index` of them saves trees that sort them the work. On threads that are
// there already.
MappedTree grow_mapped_tree(const TrainingData& mapped, const FeatureMap& map,
                            const ObliqueParams& params, const Execution& team,
                            const LeftOut& left_out = {}, const FeatureIndex* index = nullptr);

// Appends the splits as functions of the original features, those along an axis with the coefficient 1; returns how
// far the others' thresholds move.
std::vector<double> append_splits(const ObliqueTreeArrays& tree, const FeatureMap& map,
                                  std::vector<double>& coef, std::vector<double>& threshold);

// A tree on the features that vary, standardised or not, as functions of all of them.
ObliqueTreeArrays grow_single_tree(const TrainingData& data, const ObliqueParams& params,
                                   const Execution& execution, const LeftOut& left_out = {});

}  // namespace fctree::oblique
