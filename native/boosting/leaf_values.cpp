#include "boosting/leaf_values.hpp"

#include <algorithm>

namespace fctree {

namespace {

bool is_in(const LeafAssignment& leaves, index_t i) {
  return leaves.in_bag == nullptr || leaves.in_bag[i] != 0;
}

// sums[leaf * 2], [leaf * 2 + 1] += w g, w h for the rows of one tile and output.
void add_tile(const ScoredSamples& s, const double* gradient, const double* hessian,
              const LeafAssignment& leaves, index_t begin, index_t end, double* sums) {
  if (s.weight == nullptr && hessian == nullptr && leaves.in_bag == nullptr) {
    for (index_t i = begin; i < end; ++i) {
      sums[2 * leaves.leaf[i]] += gradient[i];
      sums[2 * leaves.leaf[i] + 1] += 1.0;
    }
    return;
  }
  for (index_t i = begin; i < end; ++i) {
    if (!is_in(leaves, i)) continue;
    const double w = s.weight_of(i);
    sums[2 * leaves.leaf[i]] += w * gradient[i];
    sums[2 * leaves.leaf[i] + 1] += hessian == nullptr ? w : w * hessian[i];
  }
}

LeafValues newton_values(const Loss& loss, const ScoredSamples& s, const Derivatives& d,
                         const LeafAssignment& leaves, double l2_leaf_reg, const Tiles& tiles,
                         const Execution& execution) {
  const index_t per_output = 2 * leaves.n_leaves;
  const index_t per_tile = per_output * s.n_outputs;
  std::vector<double> sums(tiles.count() * per_tile, 0.0);
  parallel_for(execution, tiles.count(), [&](index_t tile) {
    for (index_t k = 0; k < s.n_outputs; ++k) {
      const index_t first = k * s.n_samples;
      add_tile(s, d.gradient + first, d.hessian == nullptr ? nullptr : d.hessian + first, leaves,
               tiles.begin(tile), tiles.end(tile),
               sums.data() + tile * per_tile + k * per_output);
    }
  });
  LeafValues out;
  out.value.assign(leaves.n_leaves * s.n_outputs, 0.0);
  out.weight.assign(leaves.n_leaves * s.n_outputs, 0.0);
  for (index_t leaf = 0; leaf < leaves.n_leaves; ++leaf)
    for (index_t k = 0; k < s.n_outputs; ++k) {
      double g = 0.0, h = 0.0;
      for (index_t tile = 0; tile < tiles.count(); ++tile) {
        const double* sum = sums.data() + tile * per_tile + k * per_output + 2 * leaf;
        g += sum[0];
        h += sum[1];
      }
      const index_t at = leaf * s.n_outputs + k;
      out.weight[at] = h;
      if (h + l2_leaf_reg > 0.0) out.value[at] = loss.limited(g / (h + l2_leaf_reg), g, h);
    }
  return out;
}

LeafValues order_values(const Loss& loss, const ScoredSamples& s, const LeafAssignment& leaves,
                        const Execution& execution) {
  std::vector<std::vector<index_t>> rows(leaves.n_leaves);
  for (index_t i = 0; i < s.n_samples; ++i)
    if (is_in(leaves, i)) rows[leaves.leaf[i]].push_back(i);
  LeafValues out;
  out.value.assign(leaves.n_leaves * s.n_outputs, 0.0);
  out.weight.assign(leaves.n_leaves * s.n_outputs, 0.0);
  parallel_for(execution, leaves.n_leaves, [&](index_t leaf) {
    if (rows[leaf].empty()) return;
    for (index_t k = 0; k < s.n_outputs; ++k) {
      std::vector<double> residual, weight;
      const index_t at = leaf * s.n_outputs + k, first = k * s.n_samples;
      for (const index_t i : rows[leaf]) {
        residual.push_back(s.y[first + i] - s.raw[first + i]);
        if (s.weight != nullptr) weight.push_back(s.weight[i]);
        out.weight[at] += s.weight_of(i);
      }
      out.value[at] = order_statistic(loss, residual.data(), weight.empty() ? nullptr : weight.data(),
                                      static_cast<index_t>(rows[leaf].size()));
    }
  });
  return out;
}

}  // namespace

LeafValues compute_leaf_values(const Loss& loss, const ScoredSamples& samples,
                               const Derivatives& derivatives, const LeafAssignment& leaves,
                               double l2_leaf_reg, const Tiles& tiles,
                               const Execution& execution) {
  if (loss.leaf_rule() == LeafRule::newton)
    return newton_values(loss, samples, derivatives, leaves, l2_leaf_reg, tiles, execution);
  return order_values(loss, samples, leaves, execution);
}

}  // namespace fctree
