// The kernels of core/column_sums.hpp, compiled once per instruction set.
//
// All of them round each product: words are the same bytes whatever the instruction set.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "core/column_sums.hpp"

#include "core/simd.hpp"

namespace fctree::FCTREE_ISA {

namespace {

// So many rows are read again and again, a few columns at a time.
constexpr std::int64_t kRows = 64;

typedef std::int64_t Mask __attribute__((vector_size(kLanes * sizeof(std::int64_t))));

// The value's bits where the mask has ones, else 0.
inline Pack only(Mask mask, Pack value) { return (Pack)((Mask)value & mask); }

inline Mask is_finite(Pack value) { return value - value == Pack{}; }

inline Pack magnitude(Pack value) {
  return (Pack)((Mask)value & ~(Mask)broadcast(-0.0));
}

inline Pack larger(Pack a, Pack b) {
  const Mask above = a > b;
  return (Pack)(((Mask)a & above) | ((Mask)b & ~above));
}

// a * b + c, where the product needs no rounding: b is a power of two.
inline Pack multiply_add(Pack a, Pack b, Pack c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

inline Pack load_some(const double* p, int count) {
  return count == kLanes ? load(p) : load_first(p, count);
}

// Calls of_block(first row, rows, first column, columns) for blocks of the table.
template <class OfBlock>
inline void for_blocks(const NumberTable& table, const OfBlock& of_block) {
  for (std::int64_t row = 0; row < table.n_rows; row += kRows) {
    const std::int64_t n_rows = table.n_rows - row < kRows ? table.n_rows - row : kRows;
    for (std::int64_t column = 0; column < table.n_columns; column += kLanes) {
      const std::int64_t left = table.n_columns - column;
      of_block(row, n_rows, column, left < kLanes ? static_cast<int>(left) : kLanes);
    }
  }
}

void find_largest(const NumberTable& table, double* largest, double* missing) {
  for_blocks(table, [&](std::int64_t row, std::int64_t n_rows, std::int64_t column, int count) {
    const double* values = table.values + row * table.n_columns + column;
    Pack most = load_some(largest + column, count);
    Mask all_finite = ~Mask{};
    for (std::int64_t r = 0; r < n_rows; ++r, values += table.n_columns) {
      const Pack value = load_some(values, count);
      const Mask finite = is_finite(value);
      all_finite &= finite;
      most = larger(only(finite, magnitude(value)), most);
    }
    store_first(largest + column, most, count);
    for (int i = 0; i < count; ++i)
      if (!all_finite[i]) missing[column + i] = 1.0;
  });
}

void add_words(const NumberTable& table, const double* share, const ColumnUnits& units,
               double* words) {
  double* low_words = words + table.n_columns;
  for_blocks(table, [&](std::int64_t row, std::int64_t n_rows, std::int64_t column, int count) {
    const double* values = table.values + row * table.n_columns + column;
    const Pack one = broadcast(1.0), shift = broadcast(kRoundingShift);
    const Pack high_unit = load_some(units.high + column, count);
    const Pack per_high = one / high_unit, per_low = one / load_some(units.low + column, count);
    Pack high = load_some(words + column, count), low = load_some(low_words + column, count);
    for (std::int64_t r = 0; r < n_rows; ++r, values += table.n_columns) {
      const Pack value = load_some(values, count);
      const Pack term = broadcast(share[row + r]) * only(is_finite(value), value);
      const Pack multiple = multiply_add(term, per_high, shift) - shift;
      const Pack rest = multiply_add(-multiple, high_unit, term);
      high += multiple;
      low += multiply_add(rest, per_low, shift) - shift;
    }
    store_first(words + column, high, count);
    store_first(low_words + column, low, count);
  });
}

}  // namespace

extern const ColumnKernels column_table;
const ColumnKernels column_table = {find_largest, add_words};

}  // namespace fctree::FCTREE_ISA
