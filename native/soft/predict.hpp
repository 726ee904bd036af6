// The output of a trained ensemble, block by block.
#pragma once

#include "core/parallel.hpp"
#include "core/table.hpp"
#include "soft/ensemble.hpp"
#include "soft/layer.hpp"
#include "soft/standardize.hpp"

namespace fctree::soft {

// out (n_rows, n_outputs) = the sum over the trees. O(n_features) per reached node, no memory
// beyond a block's.
template <class T>
void predict_soft(const Ensemble<T>& trees, const Table& x, index_t n_rows, const Standardization& rule, T* out,
                  const Execution& execution);

// counts (n_rows, n_trees): leaves l with P(x -> l) > 0.
template <class T>
void count_reachable_leaves(const Ensemble<T>& trees, const Table& x, index_t n_rows,
                            const Standardization& rule, std::int32_t* counts,
                            const Execution& execution);

}  // namespace fctree::soft
