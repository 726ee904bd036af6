// The kernels of ridge/side_kernels.hpp, compiled once per instruction set.
#include "ridge/side_kernels.hpp"

#include "core/simd.hpp"

namespace fctree::ridge::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

// The upper triangle of a square of n, row by row: row(i)[j] for j >= i.
struct Triangle {
  Pack* first;
  std::int64_t n;
  Pack* row(std::int64_t i) const { return first + i * (2 * n - i - 1) / 2; }
  std::int64_t size() const { return n * (n + 1) / 2; }
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
void gather(const SideSystems& s, const Lanes& lanes, const Triangle& products) {
  for (std::int64_t i = 0; i < products.n; ++i) {
    Pack* row = products.row(i);
    for (std::int64_t j = i; j < products.n; ++j) {
      const std::int64_t at = i * s.width + j;
      Pack left;
      for (int l = 0; l < kLanes; ++l) left[l] = lanes.left[l][at];
      row[j] = lanes.right * broadcast(s.whole[at]) + lanes.sign * left;
    }
  }
}

inline Pack dot_packs(const Pack* a, const Pack* b, std::int64_t n) {
  Pack even{}, odd{};
  std::int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < n) even += a[i] * b[i];
  return even + odd;
}

// a becomes U, a = U'U; inverse_diagonal is that of U. Lanes that are not positive definite are
// false in the answer.
Mask factorise(const Triangle& a, Pack* inverse_diagonal) {
  Mask valid = Pack{} == Pack{};
  for (std::int64_t k = 0; k < a.n; ++k) {
    Pack* row = a.row(k);
    valid &= row[k] > Pack{};
    const Pack scale = broadcast(1.0) / square_root(row[k]);
    inverse_diagonal[k] = scale;
    for (std::int64_t j = k; j < a.n; ++j) row[j] *= scale;
    for (std::int64_t i = k + 1; i < a.n; ++i) {
      const Pack factor = row[i];
      Pack* target = a.row(i);
      for (std::int64_t j = i; j < a.n; ++j) target[j] -= factor * row[j];
    }
  }
  return valid;
}

// U becomes G = U^{-1}, column by column.
void invert(const Triangle& u, const Pack* inverse_diagonal, Pack* column) {
  for (std::int64_t j = 0; j < u.n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) column[i] = u.row(i)[j];
    for (std::int64_t i = 0; i < j; ++i)
      u.row(i)[j] = -inverse_diagonal[j] * dot_packs(u.row(i) + i, column + i, j - i);
    u.row(j)[j] = inverse_diagonal[j];
  }
}

// out = G' v
void multiply_transposed(const Triangle& g, const Pack* v, Pack* out) {
  for (std::int64_t j = 0; j < g.n; ++j) out[j] = Pack{};
  for (std::int64_t i = 0; i < g.n; ++i) {
    const Pack* row = g.row(i);
    for (std::int64_t j = i; j < g.n; ++j) out[j] += v[i] * row[j];
  }
}

// tr(G G' B), B by its upper triangle.
Pack trace_of_product(const Triangle& g, const Triangle& b) {
  Pack diagonal{}, above{};
  for (std::int64_t j = 0; j < g.n; ++j) {
    const Pack* row = g.row(j);
    diagonal += b.row(j)[j] * dot_packs(row + j, row + j, g.n - j);
    for (std::int64_t i = 0; i < j; ++i)
      above += b.row(i)[j] * dot_packs(g.row(i) + j, row + j, g.n - j);
  }
  return diagonal + above + above;
}

Pack symmetric_form(const Triangle& b, const Pack* w, std::int64_t d) {
  Pack total{};
  for (std::int64_t i = 0; i < d; ++i) {
    const Pack* row = b.row(i);
    const Pack above = dot_packs(row + i + 1, w + i + 1, d - i - 1);
    total += w[i] * (row[i] * w[i] + above + above);
  }
  return total;
}

struct Fit {
  Pack rss{};
  Pack freedom{};
};

Fit fit_lanes(const SideSystems& s, const Lanes& lanes, Pack* scratch) {
  const std::int64_t d = s.n_features, one = d + s.n_outputs;
  const Triangle products = {scratch, one + 1};
  const Triangle system = {products.first + products.size(), d};
  Pack* sums = system.first + system.size();  // of x, of samples and prior
  Pack* rhs = sums + d;
  Pack* half = rhs + d;
  Pack* w = half + d;
  Pack* inverse_diagonal = w + d;
  gather(s, lanes, products);
  const auto prior = [&](std::int64_t i, std::int64_t j) {
    return broadcast(s.prior[i * s.width + j]);
  };
  const Pack weight = products.row(one)[one];
  const Pack total = weight + prior(one, one);
  const Pack centring = s.fit_intercept ? broadcast(1.0) / total : Pack{};
  for (std::int64_t j = 0; j < d; ++j) sums[j] = products.row(j)[one] + prior(j, one);
  for (std::int64_t i = 0; i < d; ++i) {
    const Pack scaled = centring * sums[i];
    const Pack* own = products.row(i);
    Pack* row = system.row(i);
    for (std::int64_t j = i; j < d; ++j)
      row[j] = broadcast(s.base[i * s.base_stride + j]) + own[j] - scaled * sums[j];
  }
  const Mask valid = factorise(system, inverse_diagonal);
  invert(system, inverse_diagonal, half);

  Fit fit;
  for (std::int64_t k = d; k < one; ++k) {
    const Pack target_sum = products.row(k)[one] + prior(k, one);
    for (std::int64_t j = 0; j < d; ++j)
      rhs[j] = products.row(j)[k] + prior(j, k) - centring * sums[j] * target_sum;
    multiply_transposed(system, rhs, half);
    Pack along{}, cross{}, along_real{};
    for (std::int64_t j = 0; j < d; ++j) {
      w[j] = dot_packs(system.row(j) + j, half + j, d - j);
      along += w[j] * sums[j];
      along_real += w[j] * products.row(j)[one];
      cross += w[j] * products.row(j)[k];
    }
    const Pack intercept = centring * (target_sum - along);
    fit.rss += products.row(k)[k] + symmetric_form(products, w, d) - cross - cross +
               intercept * (intercept * weight - 2.0 * products.row(k)[one] + 2.0 * along_real);
  }
  const Pack infinite = broadcast(__builtin_inf());
  fit.rss = valid ? fit.rss : infinite;

  // Leverages about the pooled mean: tr(A^{-1} sum (x - mean)(x - mean)') and the mean's own.
  fit.freedom = trace_of_product(system, products);
  if (s.fit_intercept) {
    // With mean = sums / total: sum (x - mean)(x - mean)' = sum x x' - s m' - m s' + W m m'.
    for (std::int64_t j = 0; j < d; ++j) rhs[j] = products.row(j)[one];
    multiply_transposed(system, rhs, half);
    multiply_transposed(system, sums, w);
    const Pack mixed = dot_packs(half, w, d), square = dot_packs(w, w, d);
    fit.freedom += (weight - 2.0 * mixed + weight * square / total) / total;
  }
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
