// The features that a tree of linear models needs most, chosen by forward selection.
//
// A step takes the feature j with the largest sum of two decreases of the squared error: that of
// the ridge's penalised error when j joins the features taken so far, and, for what a linear model
// cannot see, the largest that a regression of the residuals of the ridge model of all
// features on the product of j with a feature would bring (from their Hessian, curvature.hpp).
//
// There are 7 + K steps, or as many as features bend the target clearly: more than 2 log(d) mean squared
// residuals, about what the largest of d decreases reaches by chance, less those that do so by chance. It is more where some samples
// count several times, as a forest's do: the mean is over as many as they are worth, (sum w)^2 / sum w^2.
//
// Where a ridge model of all features has the lower generalized cross-validation error (Golub, Heath and Wahba 1979),
//     error / (1 - (1 + degrees of freedom) / n)^2,
// there are twice as many steps, four times as many, .., up to a quarter of the features, of which p count for
// 1 + log(d / p) times their degrees of freedom, as the luckiest of irrelevant ones would (Foster and George 1994).
// If these do not suffice all features stay.
//
// Of fewer samples than twice the features the residuals of a model of all are mostly its own choice: then the
// mean's stand for them, and there are 7 + K steps at first. Of fewer samples than features what is taken counts for
// 1 + log(d / p) / 2 times its degrees of freedom; steps are doubled while the error falls, and those taken last are
// dropped until the others suffice. Of more than 500 features the 500 that explain most by themselves are looked at
// (marginal_screening.hpp), beside a model of all.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "oblique/local_statistics.hpp"
#include "oblique/params.hpp"
#include "ridge/training_data.hpp"

namespace fctree::oblique {

// Facts that the features looked at don't tell.
struct Known {
  index_t n_features;  // that these were chosen from
  double n_different = std::numeric_limits<double>::infinity();  // samples, where they may be few
  std::optional<double> error_of_all = {};  // by cross validation, where it isn't that of a model of these
};

// Whether there are so many features that a tree of these parameters may take few.
bool may_take_few(const TrainingData& data, const ObliqueParams& params);

// Whether so few rows count that copies, and weights above 1, have to be told from samples.
bool has_few_samples(const TrainingData& data);

// 7 + K of the features, more or fewer, ascending, or none where all are to be used. On threads that are there
// already. O(K n d^2 + d^3).
std::vector<index_t> relevant_features(const TrainingData& data, const ObliqueParams& params,
                                       NodeStatistics& statistics, const Execution& team,
                                       const Known& known);

// Of local samples, which may be fewer than very many features.
std::vector<index_t> relevant_local_features(const TrainingData& data, const ObliqueParams& params,
                                             LocalStatistics& statistics, const Execution& team);

}  // namespace fctree::oblique
