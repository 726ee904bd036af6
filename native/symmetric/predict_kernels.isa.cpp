// The kernels of symmetric/predict_kernels.hpp, compiled once per instruction set.
#include "symmetric/predict_kernels.hpp"

#include "core/simd.hpp"

namespace fctree::symmetric::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

constexpr int kBytes = kLanes * static_cast<int>(sizeof(double));
typedef std::uint8_t BytePack __attribute__((vector_size(kBytes)));
typedef std::uint8_t UnalignedBytePack
    __attribute__((vector_size(kBytes), aligned(1), may_alias));

inline BytePack load_bytes(const std::uint8_t* p) {
  return *reinterpret_cast<const UnalignedBytePack*>(p);
}
inline void store_bytes(std::uint8_t* p, BytePack v) {
  *reinterpret_cast<UnalignedBytePack*>(p) = v;
}

// Decisions of all rows, most significant first, for trees of up to 8 levels. A true comparison is
// a byte of ones, -1.
inline void find_leaves(const BlockTree& tree, std::uint8_t* leaf) {
  for (std::int64_t i = 0; i < kPredictedRows; i += kBytes) {
    BytePack answers{};
    for (std::int64_t level = 0; level < tree.depth; ++level) {
      const BytePack border = tree.borders[level] - BytePack{};
      const BytePack codes = load_bytes(tree.codes[level] + i);
      answers = answers + answers - reinterpret_cast<BytePack>(codes > border);
    }
    store_bytes(leaf + i, answers);
  }
}

// The same for deeper trees.
inline void find_leaves(const BlockTree& tree, std::uint16_t* leaf) {
  for (std::int64_t i = 0; i < kPredictedRows; ++i) {
    unsigned answers = 0;
    for (std::int64_t level = 0; level < tree.depth; ++level)
      answers = 2 * answers + (tree.codes[level][i] > tree.borders[level] ? 1 : 0);
    leaf[i] = static_cast<std::uint16_t>(answers);
  }
}

// Several trees with one output: a row's sum stays in a register over them.
template <int kTrees, class Leaf>
void add_single_output(const BlockTree* trees, double* out) {
  Leaf leaf[kTrees][kPredictedRows];
  for (int t = 0; t < kTrees; ++t) find_leaves(trees[t], leaf[t]);
  for (std::int64_t i = 0; i < kPredictedRows; ++i) {
    double sum = out[i];
    for (int t = 0; t < kTrees; ++t)
      sum += trees[t].values[static_cast<std::int64_t>(leaf[t][i]) << trees[t].shift];
    out[i] = sum;
  }
}

template <class Leaf>
void add_outputs(const BlockTree& tree, double* out) {
  Leaf leaf[kPredictedRows];
  find_leaves(tree, leaf);
  const std::int64_t stride = tree.n_outputs << tree.shift;
  for (std::int64_t i = 0; i < kPredictedRows; ++i) {
    const double* value = tree.values + leaf[i] * stride;
    for (std::int64_t k = 0; k < tree.n_outputs; ++k) out[i * tree.n_outputs + k] += value[k];
  }
}

template <class Leaf>
void add_trees_of(const BlockTree* trees, std::int64_t n_trees, double* out) {
  if (trees[0].n_outputs == 1 && n_trees == kPredictedTrees)
    return add_single_output<kPredictedTrees, Leaf>(trees, out);
  for (std::int64_t t = 0; t < n_trees; ++t) {
    if (trees[t].n_outputs == 1)
      add_single_output<1, Leaf>(trees + t, out);
    else
      add_outputs<Leaf>(trees[t], out);
  }
}

void add_trees(const BlockTree* trees, std::int64_t n_trees, double* out) {
  std::int64_t deepest = 0;
  for (std::int64_t t = 0; t < n_trees; ++t)
    if (trees[t].depth > deepest) deepest = trees[t].depth;
  if (deepest <= 8)
    add_trees_of<std::uint8_t>(trees, n_trees, out);
  else
    add_trees_of<std::uint16_t>(trees, n_trees, out);
}

}  // namespace

extern const PredictKernels predict_table;
const PredictKernels predict_table = {add_trees};

}  // namespace fctree::symmetric::FCTREE_ISA
