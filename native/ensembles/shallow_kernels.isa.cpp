// The kernels of ensembles/shallow_kernels.hpp, compiled once per instruction set.
#include "ensembles/shallow_kernels.hpp"

#include "core/simd.hpp"

namespace fctree::ensembles::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

// A number below eight in each lane, and the entries of tables that they point to.
class Choice {
 public:
  explicit Choice(IntPack which) {
#if defined(__AVX2__) && !defined(__AVX512F__)
    const IntPack in_half = (which & 3) * 2;  // a double is two of what the permutation moves
    pairs_ = (__m256i)(in_half | ((in_half + 1) << 32));
    upper_ = (__m256d)(which << 61);  // the bit of the upper half as a sign
#else
    which_ = which;
#endif
  }

  Pack of(const double* table) const {
#if defined(__AVX512F__)
    return _mm512_permutexvar_pd((__m512i)which_, load(table));
#elif defined(__AVX2__)
    const __m256 low = _mm256_permutevar8x32_ps((__m256)load(table), pairs_);
    const __m256 high = _mm256_permutevar8x32_ps((__m256)load(table + kLanes), pairs_);
    return _mm256_blendv_pd((__m256d)low, (__m256d)high, upper_);
#else
    return Pack{table[which_[0]], table[which_[1]]};
#endif
  }

 private:
#if defined(__AVX2__) && !defined(__AVX512F__)
  __m256i pairs_;
  __m256d upper_;
#else
  IntPack which_;
#endif
};

// Packs of rows evaluated together: additions of one hide behind those of another.
constexpr int kPacks = 4;

struct Scores {
  Pack of[kPacks];
};

inline Scores operator+(const Scores& a, const Scores& b) {
  Scores sum;
  for (int p = 0; p < kPacks; ++p) sum.of[p] = a.of[p] + b.of[p];
  return sum;
}

// The products of kPacks * kLanes rows with the model that each has chosen.
class Products {
 public:
  Products(const SideBySide& models, const double* x, const Choice* choice)
      : models_(models), x_(x), choice_(choice) {}

  // Of all lanes of dot(), added as sum() adds them.
  Scores sum() const { return sum_from<1>(0); }

 private:
  // Of the lanes `lane`, `lane` + kStep, `lane` + 2 kStep, ..
  template <int kStep>
  Scores sum_from(int lane) const {
    if constexpr (kStep == kLanes) {
      const std::int32_t* begin = models_.begin + 2 * lane;
      if (begin[0] == begin[2]) return Scores{};
      return group(2 * lane) + group(2 * lane + 1);
    } else
      return sum_from<2 * kStep>(lane) + sum_from<2 * kStep>(lane + kStep);
  }

  Scores group(int g) const {
    Scores scores = {};
    for (std::int32_t at = models_.begin[g]; at < models_.begin[g + 1]; ++at) {
      const double* values = x_ + models_.features[at] * kShallowRows;
      for (int p = 0; p < kPacks; ++p)
        scores.of[p] += choice_[p].of(models_.coef + at * kShallowModels) * load(values + p * kLanes);
    }
    return scores;
  }

  const SideBySide& models_;
  const double* x_;
  const Choice* choice_;
};

void route(const ShallowSplits& splits, const double* x, std::int64_t n, std::int64_t* leaf) {
  const std::int64_t first_leaf = (std::int64_t{1} << splits.depth) - 1;
  for (std::int64_t row = 0; row < n; row += kPacks * kLanes) {
    IntPack node[kPacks] = {};
    for (std::int64_t level = 0; level < splits.depth; ++level) {
      const Choice choice[kPacks] = {Choice(node[0]), Choice(node[1]), Choice(node[2]), Choice(node[3])};
      const Scores scores = Products(splits.models, x + row, choice).sum();
      for (int p = 0; p < kPacks; ++p)  // a comparison that holds is -1
        node[p] = 2 * node[p] + 2 + (IntPack)(scores.of[p] <= choice[p].of(splits.threshold));
    }
    for (int p = 0; p < kPacks; ++p)
      store_int(leaf + row + p * kLanes, node[p] - first_leaf);
  }
}

void add_leaves(const ShallowLeaves& leaves, const ShallowRows& rows, double* sums) {
  for (std::int64_t row = 0; row < rows.n; row += kPacks * kLanes) {
    const auto choice_at = [&](int p) { return Choice(load_int(rows.leaf + row + p * kLanes)); };
    const Choice choice[kPacks] = {choice_at(0), choice_at(1), choice_at(2), choice_at(3)};
    const Scores products = Products(leaves.models, rows.x + row, choice).sum();
    for (int p = 0; p < kPacks; ++p) {
      Pack score = choice[p].of(leaves.intercept) + products.of[p];
      const Pack lower = choice[p].of(leaves.lower), upper = choice[p].of(leaves.upper);
      score = score < lower ? lower : score;
      score = upper < score ? upper : score;
      double* sum = sums + row + p * kLanes;
      store(sum, load(sum) + score);
    }
  }
}

}  // namespace

extern const ShallowKernels shallow_table;
const ShallowKernels shallow_table = {kLanes, route, add_leaves};

}  // namespace fctree::ensembles::FCTREE_ISA
