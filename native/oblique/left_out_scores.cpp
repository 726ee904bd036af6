#include "oblique/left_out_scores.hpp"

#include <limits>
#include <vector>

#include "core/rng.hpp"
#include "oblique/split_search/leave_one_out.hpp"
#include "ridge/factors.hpp"
#include "ridge/row_blocks.hpp"

namespace fctree::oblique {

namespace {

constexpr index_t kChunkRows = 4096;

// Above it the sample all but determines the model's prediction.
constexpr double kLargestLeverage = 0.99;

// Whether a sample is a random one in so many: a hash of its number.
bool is_drawn(std::int32_t row, index_t one_in) {
  return mixed((static_cast<std::uint64_t>(row) + 1) * kMixStep) % static_cast<std::uint64_t>(one_in) == 0;
}

// Leverages of a unit of weight of samples of the leaf, without the constant's: from the system in
// the features, or for few samples from their inner products.
Vector primal_leverages(const GrowState& state, const OpenNode& leaf, const NodeRows& rows) {
  const LeverageModel model =
      leverage_model(pool_moments(leaf.moments, leaf.prior), leaf.fit, leaf.ancestors,
                     state.origin, state.ridge_options());
  Vector found(rows.size);
  for_each_part(state.execution, rows.size, kChunkRows, [&](index_t, index_t begin, index_t end) {
    find_leverages(state.data, {rows.rows + begin, end - begin}, model, found.data() + begin);
  });
  return found;
}

Vector dual_leverages(const GrowState& state, const OpenNode& leaf, index_t one_in) {
  const NodeRows rows = state.rows_of(leaf);
  const double alpha = state.params.alpha;
  if (!(alpha > 0.0)) return Vector::Ones(rows.size);  // more than enough
  const CentredRows centred =
      centred_rows(state.data, rows, leaf.moments, state.origin, state.params.fit_intercept);
  Matrix system = gram_of(centred.x) + gram_of(product_of(centred.x, leaf.ancestors));
  system.diagonal().array() += alpha;
  const Matrix inverse = CholeskyFactor(system).solve(Matrix::Identity(rows.size, rows.size));
  Vector found(rows.size);
  index_t n_drawn = 0;
  for (index_t i = 0; i < rows.size; ++i)
    if (is_drawn(rows.rows[i], one_in))
      found[n_drawn++] = (1.0 - alpha * inverse(i, i)) / state.data.weight_of(rows.rows[i]);
  return found.head(n_drawn);
}

}  // namespace

void find_left_out_scores(const GrowState& state, const OpenNode& leaf, index_t number) {
  const TrainingData& data = state.data;
  const auto [scores, leaf_of, one_in, whole] = state.left_out;
  const NodeRows all = state.rows_of(leaf);
  std::vector<std::int32_t> drawn(all.size);
  index_t n_drawn = 0;
  for (index_t i = 0; i < all.size; ++i) {
    drawn[n_drawn] = all.rows[i];
    n_drawn += is_drawn(all.rows[i], one_in);
  }
  const NodeRows rows = {drawn.data(), n_drawn};
  if (rows.size == 0) return;
  const index_t n_outputs = data.n_outputs;
  const bool has_model = state.params.ridge_leaves;
  Vector leverage = Vector::Zero(rows.size);
  RowMatrix projected = RowMatrix::Zero(n_outputs, rows.size);
  Vector constant = state.target_mean(leaf);
  double base = 1.0 / leaf.moments.weight;
  if (has_model) {
    leverage = state.is_dual(leaf) ? dual_leverages(state, leaf, one_in)
                                   : primal_leverages(state, leaf, rows);
    ridge::dense_kernels().project(select(data, rows), leaf.fit.coef.data(), n_outputs,
                                   projected.data(), rows.size);
    constant = leaf.fit.intercept;
    base = state.params.fit_intercept ? 1.0 / (leaf.moments.weight + leaf.prior.weight) : 0.0;
  }
  for (index_t i = 0; i < rows.size; ++i) {
    const index_t row = rows.rows[i];
    if (leaf_of != nullptr) leaf_of[row] = number;
    const double h = (whole ? data.weight_of(row) : data.unit_of(row)) * (base + leverage[i]);
    for (index_t k = 0; k < n_outputs; ++k) {
      const double score = constant[k] + projected(k, i);
      scores[row * n_outputs + k] = h < kLargestLeverage
                                        ? (score - h * data.y[row * n_outputs + k]) / (1.0 - h)
                                        : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace fctree::oblique
