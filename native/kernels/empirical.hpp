// The tangent kernel of a finite ensemble of soft trees at its random start (papers: Kanoh and
// Sugiyama 2022, section 2; 2023, equations 1 to 4), for any architecture given by its leaves'
// paths: oblivious trees share a parameter among the nodes of a level, the nodes of a rule set
// belong to one leaf each.
//
// The gradient of the ensemble by leaf l of tree m is P_l(x) / sqrt(M), by parameter p it is
// x psi_p(x) / sqrt(M): so K = (Phi Phi' + S o Psi Psi') / M with the products of all trees'
// features side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gram.hpp"

namespace fctree::kernels {

// Leaf l is reached by the steps path_start[l] .. path_start[l + 1): at each, parameter
// path_parameter[s] decides, and the leaf lies to the left (path_left[s]) or to the right.
struct LeafPaths {
  std::vector<std::int64_t> path_start;
  std::vector<std::int64_t> path_parameter;
  std::vector<std::int64_t> path_left;
  std::int64_t n_parameters;
  std::int64_t n_leaves() const { return static_cast<std::int64_t>(path_start.size()) - 1; }
};

struct EnsembleWeights {
  const double* split;  // (n_trees, n_parameters, n_features)
  const double* leaf;   // (n_trees, n_leaves)
  std::int64_t n_trees;
};

// out (n_x, n_y). O(n M (P d + L D) + n m M (L + P)) with D the length of a path.
void compute_empirical(const LeafPaths& paths, const EnsembleWeights& weights,
                       const GramInput<double>& input, double* out, const Execution& execution);

}  // namespace fctree::kernels
