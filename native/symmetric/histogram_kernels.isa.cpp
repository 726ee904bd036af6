// The kernels of symmetric/histogram_kernels.hpp, compiled once per instruction set.
#include "symmetric/histogram_kernels.hpp"

#include "core/simd.hpp"

namespace fctree::symmetric::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

constexpr int kPacks = static_cast<int>(kCellLanes) / kLanes;  // packs of a cell

// Exact for |v| < 2^51: v is put into the mantissa of the shift.
inline Pack to_double(IntPack v) {
#if defined(__AVX512DQ__)
  return __builtin_convertvector(v, Pack);
#else
  const Pack shift = broadcast(kRoundingShift);
  return reinterpret_cast<Pack>(v + reinterpret_cast<IntPack>(shift)) - shift;
#endif
}

inline Pack smaller(Pack a, Pack b) { return a < b ? a : b; }

inline Pack gather(const double* base, IntPack index) {
#if defined(__AVX512F__)
  return _mm512_i64gather_pd(reinterpret_cast<__m512i>(index), base, 8);
#elif defined(__AVX2__)
  return _mm256_i64gather_pd(base, reinterpret_cast<__m256i>(index), 8);
#else
  Pack v{};
  for (int i = 0; i < kLanes; ++i) v[i] = base[index[i]];
  return v;
#endif
}

// The first steps of a search compare with few thresholds. If a look-up among sixteen stays in
// registers, four steps need no gather, which is most of a step's time.
#if defined(__AVX512F__)
class FirstSteps {
 public:
  explicit FirstSteps(const ThresholdSearch& search)
      : spacing_(search.first_step / 8), possible_(spacing_ > 0) {
    if (!possible_) return;
    double coarse[2 * kLanes];
    for (int j = 0; j < 2 * kLanes; ++j) coarse[j] = search.padded[(j + 1) * spacing_ - 1];
    low_ = load(coarse);
    high_ = load(coarse + kLanes);
  }
  // How many of every spacing-th threshold lie below x, times the spacing.
  IntPack operator()(Pack x) const {
    IntPack below{};
    if (!possible_) return below;
    for (std::int64_t step = 8; step > 0; step /= 2) {
      const __m512i at = reinterpret_cast<__m512i>(below + (step - 1));
      const Pack threshold = _mm512_permutex2var_pd(low_, at, high_);
      below += (x > threshold) & step;
    }
    return below * spacing_;
  }
  std::int64_t next_step(std::int64_t first_step) const {
    return possible_ ? spacing_ / 2 : first_step;
  }

 private:
  std::int64_t spacing_;
  bool possible_;
  Pack low_, high_;
};
#else
class FirstSteps {
 public:
  explicit FirstSteps(const ThresholdSearch&) {}
  IntPack operator()(Pack) const { return IntPack{}; }
  std::int64_t next_step(std::int64_t first_step) const { return first_step; }
};
#endif

typedef std::uint8_t BytePack __attribute__((vector_size(kLanes)));

// Searches of several packs of values at once: their chains of look-ups overlap.
constexpr int kTogether = 4;
constexpr std::int64_t kValues = kTogether * kLanes;

// The codes of kValues values; returns -1 in the lanes where one was missing.
inline IntPack find_together(const ThresholdSearch& search, const FirstSteps& first_steps,
                             const double* values, std::uint8_t* codes) {
  IntPack below[kTogether];
  for (int p = 0; p < kTogether; ++p) below[p] = first_steps(load(values + p * kLanes));
  for (std::int64_t step = first_steps.next_step(search.first_step); step > 0; step /= 2)
    for (int p = 0; p < kTogether; ++p) {
      const Pack threshold = gather(search.padded + step - 1, below[p]);
      below[p] += (load(values + p * kLanes) > threshold) & step;
    }
  IntPack any_missing{};
  for (int p = 0; p < kTogether; ++p) {
    const Pack x = load(values + p * kLanes);
    const IntPack missing = x != x;
    any_missing |= missing;
    const IntPack code = (below[p] & ~missing) | (broadcast_int(search.missing_code) & missing);
    const BytePack bytes = __builtin_convertvector(code, BytePack);
    __builtin_memcpy(codes + p * kLanes, &bytes, kLanes);
  }
  return any_missing;
}

bool find_codes(const ThresholdSearch& search, const double* values, std::int64_t n,
                std::uint8_t* codes) {
  const FirstSteps first_steps(search);
  IntPack missing{};
  std::int64_t i = 0;
  for (; i + kValues <= n; i += kValues)
    missing |= find_together(search, first_steps, values + i, codes + i);
  if (i < n) {
    double last[kValues] = {};
    std::uint8_t last_codes[kValues];
    __builtin_memcpy(last, values + i, static_cast<std::size_t>(n - i) * sizeof(double));
    missing |= find_together(search, first_steps, last, last_codes);
    __builtin_memcpy(codes + i, last_codes, static_cast<std::size_t>(n - i));
  }
  bool any_missing = false;
  for (int lane = 0; lane < kLanes; ++lane) any_missing |= missing[lane] != 0;
  return any_missing;
}

template <int kWidth>
void add_rows_of(const LeafRows& leaf, const std::uint8_t* codes, std::int64_t* histogram) {
  for (std::int64_t i = 0; i < leaf.n_rows; ++i) {
    std::uint64_t word;
    __builtin_memcpy(&word, codes + kWidth * static_cast<std::int64_t>(leaf.rows[i]), 8);
    const std::int64_t value = leaf.values[i];
    for (int lane = 0; lane < kWidth; ++lane)
      histogram[lane + kCellLanes * ((word >> (8 * lane)) & 255)] += value;
  }
}

void add_rows(const LeafRows& rows, const std::uint8_t* codes, std::int64_t width,
              std::int64_t* histogram) {
  switch (width) {
    case 1: return add_rows_of<1>(rows, codes, histogram);
    case 2: return add_rows_of<2>(rows, codes, histogram);
    case 3: return add_rows_of<3>(rows, codes, histogram);
    case 4: return add_rows_of<4>(rows, codes, histogram);
    case 5: return add_rows_of<5>(rows, codes, histogram);
    case 6: return add_rows_of<6>(rows, codes, histogram);
    case 7: return add_rows_of<7>(rows, codes, histogram);
    default: return add_rows_of<8>(rows, codes, histogram);
  }
}

void sum_codes(std::int64_t* histogram, std::int64_t n_codes) {
  for (int p = 0; p < kPacks; ++p) {
    IntPack sum{};
    std::int64_t* cell = histogram + p * kLanes;
    for (std::int64_t code = 0; code < n_codes; ++code, cell += kCellLanes) {
      sum += load_int(cell);
      store_int(cell, sum);
    }
  }
}

void subtract(const std::int64_t* parent, const std::int64_t* child, std::int64_t n_cells,
              std::int64_t* out) {
  for (std::int64_t i = 0; i < n_cells * kCellLanes; i += kLanes)
    store_int(out + i, load_int(parent + i) - load_int(child + i));
}

void add(const std::int64_t* addend, std::int64_t n_cells, std::int64_t* out) {
  for (std::int64_t i = 0; i < n_cells * kCellLanes; i += kLanes)
    store_int(out + i, load_int(out + i) + load_int(addend + i));
}

// One side of a cut: its weight and its number of samples.
struct Side {
  Pack weight;
  Pack count;
};

inline Side read_side(IntPack channel, const ChannelScales& scales) {
  const IntPack mask = broadcast_int((std::int64_t{1} << scales.count_bits) - 1);
  const Pack count = to_double(channel & mask);
  if (scales.weight == 0.0) return {count, count};
  return {to_double(channel >> scales.count_bits) * scales.weight, count};
}

// A lane whose side is empty has gradient 0 there: this keeps the quotient 0 at l2 = 0.
constexpr double kLeastDenominator = 1e-150;

inline Pack denominator_of(Pack weight, double l2) {
  const Pack sum = weight + l2;
  const Pack least = broadcast(kLeastDenominator);
  return sum > least ? sum : least;
}

struct SideSum {
  Pack gradient;
  Pack denominator;
};

// The scores of both sides, from their sums of gradients.
inline Pack both_sides(const SideSum& left, const SideSum& right) {
  const Pack numerator = left.gradient * left.gradient * right.denominator +
                         right.gradient * right.gradient * left.denominator;
  return numerator / (left.denominator * right.denominator);
}

// Above 0 where the values of the sides, which fall where the mean gradient rises, would violate the monotone
// constraint.
inline Pack violation(const SideSum& left, const SideSum& right, Pack direction) {
  return (right.gradient * left.denominator - left.gradient * right.denominator) * direction;
}

void score_leaf(const LeafHistogram& leaf, const CodeRange& codes, const ChannelScales& scales,
                const CutRule& rule, const CutScores& out) {
  const std::int64_t end = codes.last < leaf.n_codes ? codes.last : leaf.n_codes - 1;
  const std::int64_t missing_at = leaf.n_codes * kCellLanes;
  const std::int64_t last = missing_at - kCellLanes;
  for (int p = 0; p < kPacks; ++p) {
    const std::int64_t lane = p * kLanes;
    const IntPack weight_missing = load_int(leaf.weight + missing_at + lane);
    const IntPack weight_total = load_int(leaf.weight + last + lane) + weight_missing;
    const Pack whole = read_side(weight_total, scales).weight;
    for (std::int64_t code = codes.first; code < end; ++code) {
      const std::int64_t at = code * kCellLanes + lane;
      const std::int64_t to = at - codes.first * kCellLanes;
      IntPack weight_left = load_int(leaf.weight + at);
      if (rule.missing_left) weight_left += weight_missing;
      const Side left = read_side(weight_left, scales);
      const Side right = read_side(weight_total - weight_left, scales);
      const Pack fewer = smaller(left.count, right.count);
      const Pack is_cut = fewer > broadcast(0.0) ? fewer : broadcast(__builtin_inf());
      store(out.smallest_side + to, smaller(load(out.smallest_side + to), is_cut));
      const Pack left_denominator = denominator_of(left.weight, rule.l2_leaf_reg);
      const Pack right_denominator = denominator_of(right.weight, rule.l2_leaf_reg);
      Pack score = load(out.score + to);
      Pack squared_norm{};
      for (std::int64_t k = 0; k < leaf.n_outputs; ++k) {
        const std::int64_t* gradient = leaf.gradient[k];
        const IntPack missing = load_int(gradient + missing_at + lane);
        const IntPack total_sum = load_int(gradient + last + lane) + missing;
        IntPack left_sum = load_int(gradient + at);
        if (rule.missing_left) left_sum += missing;
        const Pack unit = broadcast(scales.gradient[k]);
        const Pack total = to_double(total_sum >> scales.count_bits) * unit;
        const Pack gl = to_double(left_sum >> scales.count_bits) * unit;
        const SideSum left_side = {gl, left_denominator}, right_side = {total - gl, right_denominator};
        Pack of_score = both_sides(left_side, right_side), of_norm{};
        if (out.squared_norm != nullptr) {
          const Pack ml = gl / left_denominator, mr = right_side.gradient / right_denominator;
          of_norm = ml * ml * left.weight + mr * mr * right.weight;
        }
        if (rule.direction != nullptr) {  // a leaf that violates the constraint counts as not split
          const Pack denominator = denominator_of(whole, rule.l2_leaf_reg), mean = total / denominator;
          const Pack at_code = broadcast(static_cast<double>(code)), direction = load(rule.direction + lane);
          const Pack ordered = at_code < load(rule.n_ordered + lane) ? direction : broadcast(0.0);
          const Pack violated = violation(left_side, right_side, ordered);
          of_score = violated > broadcast(0.0) ? total * total / denominator : of_score;
          of_norm = violated > broadcast(0.0) ? mean * mean * whole : of_norm;
        }
        score += of_score;
        squared_norm += of_norm;
      }
      store(out.score + to, score);
      if (out.squared_norm != nullptr)
        store(out.squared_norm + to, load(out.squared_norm + to) + squared_norm);
    }
  }
}

}  // namespace

extern const HistogramKernels histogram_table;
const HistogramKernels histogram_table = {find_codes, add_rows, sum_codes, subtract, add,
                                          score_leaf};

}  // namespace fctree::symmetric::FCTREE_ISA
