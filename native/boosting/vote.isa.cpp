// The kernels of boosting/vote.hpp, compiled once per instruction set.
#include "boosting/vote.hpp"

#include "core/simd.hpp"

namespace fctree {
namespace FCTREE_ISA {

namespace {

// Answers of all rows, most significant first. A leaf fits one byte up to depth 8.
template <class Leaf>
inline void find_leaves(const BlockTree& tree, Leaf* leaf) {
  for (std::int64_t i = 0; i < kVoteRows; ++i) leaf[i] = 0;
  for (std::int64_t level = 0; level < tree.depth; ++level) {
    const std::uint8_t* codes = tree.codes[level];
    const std::uint8_t border = tree.borders[level];
    for (std::int64_t i = 0; i < kVoteRows; ++i)
      leaf[i] = static_cast<Leaf>(2 * leaf[i] + (codes[i] > border ? 1 : 0));
  }
}

template <class Leaf>
void add_tree_of(const BlockTree& tree, double* out) {
  Leaf leaf[kVoteRows];
  find_leaves(tree, leaf);
  const std::int64_t stride = tree.n_outputs << tree.shift;
  if (tree.n_outputs == 1) {
    const double* values = tree.values;
    for (std::int64_t i = 0; i < kVoteRows; ++i) out[i] += values[leaf[i] * stride];
    return;
  }
  for (std::int64_t i = 0; i < kVoteRows; ++i) {
    const double* value = tree.values + leaf[i] * stride;
    for (std::int64_t k = 0; k < tree.n_outputs; ++k) out[i * tree.n_outputs + k] += value[k];
  }
}

void add_tree(const BlockTree& tree, double* out) {
  if (tree.depth <= 8)
    add_tree_of<std::uint8_t>(tree, out);
  else
    add_tree_of<std::uint16_t>(tree, out);
}

}  // namespace

extern const VoteKernels vote_table;
const VoteKernels vote_table = {add_tree};

}  // namespace FCTREE_ISA
}  // namespace fctree
