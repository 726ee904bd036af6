// The kernels of ridge/side_kernels.hpp, compiled once per instruction set.
#include "ridge/side_kernels.hpp"

#include "core/simd.hpp"

namespace fctree::ridge::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

// A matrix without what is below its diagonal, row by row: row(i)[j] for i <= j < width.
struct UpperRows {
  Pack* first;
  std::int64_t n;
  std::int64_t width;
  Pack* row(std::int64_t i) const { return first + i * (2 * width - i - 1) / 2; }
  Pack* end() const { return first + upper_size(n, width); }
};

using Mask = decltype(Pack{} > Pack{});

struct Lanes {
  const double* left[kLanes];
  Pack right;  // 1 for a right side, else 0
  Pack sign;   // of the left products
};

// Lanes that are not used repeat the last side.
Lanes lanes_of(const Side* sides, std::int64_t n) {
  Lanes lanes;
  for (std::int64_t l = 0; l < kLanes; ++l) {
    const Side& side = sides[l < n ? l : n - 1];
    lanes.left[l] = side.left;
    lanes.right[l] = side.is_right ? 1.0 : 0.0;
    lanes.sign[l] = side.is_right ? -1.0 : 1.0;
  }
  return lanes;
}

// Products of the sides: right sides are the whole without the left.
struct Products {
  const SideSystems& systems;
  const Lanes& lanes;

  Pack of_left(std::int64_t at, Pack left) const {
    return lanes.right * broadcast(systems.whole[at]) + lanes.sign * left;
  }
  Pack operator()(std::int64_t i, std::int64_t j) const {
    const std::int64_t at = i * systems.width + j;
    Pack left;
    for (int l = 0; l < kLanes; ++l) left[l] = lanes.left[l][at];
    return of_left(at, left);
  }
  // Those of columns begin .. end - 1 of a feature's row, which another row follows.
  void copy(std::int64_t i, std::int64_t begin, std::int64_t end, Pack* out) const {
    for (std::int64_t j = begin; j < end; j += kLanes) {
      const std::int64_t at = i * systems.width + j;
      Pack left[kLanes];
      for (int l = 0; l < kLanes; ++l) left[l] = load(lanes.left[l] + at);
      transpose_lanes(left);
      for (int l = 0; l < kLanes; ++l)
        if (j + l < end) out[j + l] = of_left(at + l, left[l]);
    }
  }
};

// Tiles of so many rows and columns pass through the registers, of which AVX-512 has twice as many.
constexpr int kRows = kLanes == 8 ? 4 : 2;
constexpr int kColumns = 4;
constexpr int kSolvedColumns = 3;  // of two tiles side by side

template <int n>
struct Count {
  static constexpr int value = n;
};

// For the number of columns that are left, up to that of a tile.
template <int n, class Use>
inline void use_columns(std::int64_t left, const Use& use) {
  if constexpr (n > 1) {
    if (left < n) return use_columns<n - 1>(left, use);
  }
  use(Count<n>());
}

// For the tiles of rows of a matrix: rows that do not fill one are tiles of a row each.
template <class Use>
inline void use_rows(std::int64_t left, const Use& use) {
  if (left >= kRows)
    use(Count<kRows>());
  else
    use(Count<1>());
}

// The rows of the tile at (row, column), of A in U'U = A, without what the rows above add to them.
template <int rows, int columns>
inline void reduce_tile(const UpperRows& a, std::int64_t row, std::int64_t column, Pack (&tile)[rows][columns]) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) tile[r][c] = a.row(row + r)[column + c];
  const Pack* above = a.first + row;
  for (std::int64_t k = 0; k < row; above += a.width - ++k)
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) tile[r][c] -= above[r] * above[column - row + c];
}

template <int rows>
inline void factorise_diagonal(const UpperRows& a, std::int64_t row, Pack* inverse_diagonal, Mask& valid) {
  Pack tile[rows][rows];
  reduce_tile(a, row, row, tile);  // below the diagonal it means nothing
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < r; ++k)
      for (int c = r; c < rows; ++c) tile[r][c] -= tile[k][r] * tile[k][c];
    valid &= tile[r][r] > Pack{};
    const Pack scale = broadcast(1.0) / square_root(tile[r][r]);
    inverse_diagonal[row + r] = scale;
    for (int c = r; c < rows; ++c) a.row(row + r)[row + c] = tile[r][c] *= scale;
  }
}

// [A, B] becomes [U, U'^{-1} B], A = U'U; inverse_diagonal is that of U. Lanes that are not positive
// definite are false in the answer.
Mask factorise(const UpperRows& a, Pack* inverse_diagonal) {
  Mask valid = Pack{} == Pack{};
  for (std::int64_t row = 0; row < a.n;) {
    use_rows(a.n - row, [&](auto n_rows) {
      constexpr int rows = n_rows.value;
      factorise_diagonal<rows>(a, row, inverse_diagonal, valid);
      for (std::int64_t column = row + rows; column < a.width;) {
        use_columns<kColumns>(a.width - column, [&](auto n_columns) {
          constexpr int columns = n_columns.value;
          Pack tile[rows][columns];
          reduce_tile(a, row, column, tile);
#pragma GCC unroll 4
          for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
              for (int k = 0; k < r; ++k) tile[r][c] -= a.row(row + k)[row + r] * tile[k][c];
              a.row(row + r)[column + c] = tile[r][c] *= inverse_diagonal[row + r];
            }
          column += columns;
        });
      }
      row += rows;
    });
  }
  return valid;
}

// tr(X' B X): what is above B's diagonal counts twice.
struct Form {
  Pack diagonal{};
  Pack above{};
  Pack whole() const { return diagonal + above + above; }
};

struct Forms {
  Form inverse;  // tr(U^{-1} U'^{-1} B)
  Form solved;   // tr(W' B W), W = U^{-1} Y
};

// [U, Y, ..] becomes [U^{-1}, U^{-1} Y, ..], from the last row to the first.
struct Solve {
  const UpperRows& u;
  const UpperRows& b;
  const Pack* inverse_diagonal;  // of U
  Pack* panel;                   // 2 kRows n

  // Rows row .. of U and of B right of the tile on the diagonal, side by side: a column of U, the same of B,
  // the next of U ..
  template <int rows>
  void copy_rows(std::int64_t row) const {
    for (int r = 0; r < rows; ++r) {
      const Pack *of_u = u.row(row + r), *of_b = b.row(row + r);
      for (std::int64_t k = row + rows; k < u.n; ++k) {
        Pack* at = panel + 2 * rows * (k - row - rows) + r;
        at[0] = of_u[k];
        at[rows] = of_b[k];
      }
    }
  }

  // The tile at (row, column) of X, U X = [I, Y], where u has X below and [U, Y] elsewhere; `form` gets
  // what it adds.
  template <int rows, int columns>
  void find_tile(std::int64_t row, std::int64_t column, Form& form) const {
    Pack tile[rows][columns], mixed[rows][columns];  // mixed: B X, of what is right of B's diagonal
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        const bool is_known = column + c >= u.n;
        tile[r][c] = is_known ? u.row(row + r)[column + c] : broadcast(column + c == row + r ? 1.0 : 0.0);
        mixed[r][c] = Pack{};
      }
    const Pack* factors = panel;
    const auto add = [&](const Pack (&below)[columns]) {
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
          tile[r][c] -= factors[r] * below[c];
          mixed[r][c] += factors[rows + r] * below[c];
        }
      factors += 2 * rows;
    };
    std::int64_t k = row + rows;
    Pack below[columns];
    const Pack* known = u.row(k) + column;
    for (const std::int64_t end = column < u.n ? column : u.n; k < end; known += u.width - ++k) {
      for (int c = 0; c < columns; ++c) below[c] = known[c];
      add(below);
    }
    for (; k < u.n && k < column + columns; known += u.width - ++k) {
      for (int c = 0; c < columns; ++c) below[c] = column + c < k ? Pack{} : known[c];
      add(below);
    }
    Form added;
#pragma GCC unroll 4
    for (int r = rows - 1; r >= 0; --r)
      for (int c = columns - 1; c >= 0; --c) {
        for (int i = r + 1; i < rows; ++i) {
          tile[r][c] -= u.row(row + r)[row + i] * tile[i][c];
          mixed[r][c] += b.row(row + r)[row + i] * tile[i][c];
        }
        tile[r][c] *= inverse_diagonal[row + r];
        added.diagonal += b.row(row + r)[row + r] * (tile[r][c] * tile[r][c]);
        added.above += tile[r][c] * mixed[r][c];
      }
    form.diagonal += added.diagonal;
    form.above += added.above;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        if (column + c >= row + r) u.row(row + r)[column + c] = tile[r][c];
  }

  template <int rows>
  void find_tiles(std::int64_t row, std::int64_t first, std::int64_t last, Form& form) const {
    while (last > first) {
      use_columns<kSolvedColumns>(last - first, [&](auto n_columns) {
        last -= n_columns.value;
        find_tile<rows, n_columns.value>(row, last, form);
      });
    }
  }

  // Y are the first `n_solved` columns beside U.
  Forms run(std::int64_t n_solved) const {
    Forms forms;
    const std::int64_t of_single = u.n / kRows * kRows;
    for (std::int64_t end = u.n; end > 0;) {
      use_rows(end > of_single ? 1 : kRows, [&](auto n_rows) {
        constexpr int rows = n_rows.value;
        const std::int64_t row = end - rows;
        copy_rows<rows>(row);
        find_tiles<rows>(row, u.n, u.n + n_solved, forms.solved);
        find_tiles<rows>(row, end, u.n, forms.inverse);
        find_tile<rows, rows>(row, row, forms.inverse);
        end = row;
      });
    }
    return forms;
  }
};

struct Fit {
  Pack rss{};
  Pack freedom{};
};

Fit fit_lanes(const SideSystems& s, const Lanes& lanes, Pack* scratch) {
  const std::int64_t d = s.n_features, one = d + s.n_outputs;
  // Beside the features' columns there are those of the outputs; in the system also two of sums.
  const UpperRows scatter = {scratch, d, one}, system = {scatter.end(), d, one + 2};
  Pack* real = system.end();  // sums of [x, y], of samples
  Pack* sums = real + one;    // and with the prior's
  Pack* inverse_diagonal = sums + one;
  Pack* panel = inverse_diagonal + d;
  const Products products = {s, lanes};
  const auto prior = [&](std::int64_t i, std::int64_t j) {
    return broadcast(s.prior[i * s.width + j]);
  };
  const Pack weight = products(s.sums_row, one);
  const Pack total = weight + prior(s.sums_row, one);
  const Pack centring = broadcast(1.0) / total;
  for (std::int64_t j = 0; j < one; ++j) {
    real[j] = j < d ? products(j, one) : products(s.sums_row, j);
    sums[j] = real[j] + (j < d ? prior(j, one) : prior(s.sums_row, j));
  }
  for (std::int64_t i = 0; i < d; ++i) {
    const Pack scaled = centring * sums[i];
    Pack *of_samples = scatter.row(i), *row = system.row(i);
    products.copy(i, i, one, of_samples);
    for (std::int64_t j = i; j < one; ++j) {
      const Pack added = j < d ? broadcast(s.base[i * s.base_stride + j]) : prior(i, j);
      row[j] = added + of_samples[j] - scaled * sums[j];
    }
    row[one] = real[i];
    row[one + 1] = sums[i];
  }
  const Mask valid = factorise(system, inverse_diagonal);
  Pack mixed{}, square{};
  for (std::int64_t i = 0; i < d; ++i) {
    const Pack* row = system.row(i);
    mixed += row[one] * row[one + 1];
    square += row[one + 1] * row[one + 1];
  }
  const Forms forms = Solve{system, scatter, inverse_diagonal, panel}.run(s.n_outputs);

  Fit fit;
  fit.rss = forms.solved.whole();
  for (std::int64_t k = d; k < one; ++k) {
    Pack along{}, cross{}, along_real{};
    for (std::int64_t j = 0; j < d; ++j) {
      const Pack w = system.row(j)[k];
      along += w * sums[j];
      along_real += w * real[j];
      cross += w * scatter.row(j)[k];
    }
    const Pack intercept = centring * (sums[k] - along);
    fit.rss += products(s.sums_row + 1, k) - cross - cross +
               intercept * (intercept * weight - 2.0 * real[k] + 2.0 * along_real);
  }
  const Pack infinite = broadcast(__builtin_inf());
  fit.rss = valid ? fit.rss : infinite;

  // Leverages about the pooled mean: tr(A^{-1} sum (x - mean)(x - mean)') and the mean's own.
  // With mean = sums / total: sum (x - mean)(x - mean)' = sum x x' - s m' - m s' + W m m'.
  fit.freedom = forms.inverse.whole() + (weight - 2.0 * mixed + weight * square / total) / total;
  return fit;
}

void fit_sides(const SideSystems& systems, const Side* sides, std::int64_t n, double* scratch,
               double* rss, double* freedom) {
  const auto address = reinterpret_cast<std::uintptr_t>(scratch);
  const std::uintptr_t aligned = (address + sizeof(Pack) - 1) / sizeof(Pack) * sizeof(Pack);
  for (std::int64_t first = 0; first < n; first += kLanes) {
    const std::int64_t used = n - first < kLanes ? n - first : kLanes;
    const Fit fit =
        fit_lanes(systems, lanes_of(sides + first, used), reinterpret_cast<Pack*>(aligned));
    for (std::int64_t l = 0; l < used; ++l) {
      rss[first + l] = fit.rss[l];
      freedom[first + l] = fit.freedom[l];
    }
  }
}

}  // namespace

extern const SideKernels side_table;
const SideKernels side_table = {fit_sides};

}  // namespace fctree::ridge::FCTREE_ISA
