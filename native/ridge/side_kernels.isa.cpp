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
struct Products {
  const SideSystems& systems;
  const Lanes& lanes;

  Pack operator()(std::int64_t i, std::int64_t j) const {
    const std::int64_t at = i * systems.width + j;
    Pack left;
    for (int l = 0; l < kLanes; ++l) left[l] = lanes.left[l][at];
    return lanes.right * broadcast(systems.whole[at]) + lanes.sign * left;
  }
};

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

// Rows of a triangle that pass through the registers together: what they change is loaded and
// stored once for all of them.
constexpr std::int64_t kRowsAtOnce = 4;

// a becomes U, a = U'U; inverse_diagonal is that of U. Lanes that are not positive definite are
// false in the answer.
Mask factorise(const Triangle& a, Pack* inverse_diagonal) {
  Mask valid = Pack{} == Pack{};
  for (std::int64_t first = 0; first < a.n; first += kRowsAtOnce) {
    const std::int64_t last = first + kRowsAtOnce < a.n ? first + kRowsAtOnce : a.n;
    for (std::int64_t k = first; k < last; ++k) {
      Pack* row = a.row(k);
      valid &= row[k] > Pack{};
      const Pack scale = broadcast(1.0) / square_root(row[k]);
      inverse_diagonal[k] = scale;
      for (std::int64_t j = k; j < a.n; ++j) row[j] *= scale;
      for (std::int64_t i = k + 1; i < last; ++i) {
        const Pack factor = row[i];
        Pack* target = a.row(i);
        for (std::int64_t j = i; j < a.n; ++j) target[j] -= factor * row[j];
      }
    }
    if (last == a.n) break;
    const Pack *r0 = a.row(first), *r1 = a.row(first + 1), *r2 = a.row(first + 2),
               *r3 = a.row(first + 3);
    for (std::int64_t i = last; i < a.n; ++i) {
      const Pack f0 = r0[i], f1 = r1[i], f2 = r2[i], f3 = r3[i];
      Pack* target = a.row(i);
      for (std::int64_t j = i; j < a.n; ++j)
        target[j] = (((target[j] - f0 * r0[j]) - f1 * r1[j]) - f2 * r2[j]) - f3 * r3[j];
    }
  }
  return valid;
}

// a[j] and b[j] become the sums over i >= first of u[i] G_ij and of v[i] G_ij, for j >= first.
void combine_rows(const Triangle& g, std::int64_t first, const Pack* u, const Pack* v, Pack* a,
                  Pack* b) {
  for (std::int64_t j = first; j < g.n; ++j) a[j] = b[j] = Pack{};
  std::int64_t i = first;
  for (; i + kRowsAtOnce <= g.n; i += kRowsAtOnce) {
    for (std::int64_t k = i; k < i + kRowsAtOnce; ++k) {
      const Pack* row = g.row(k);
      for (std::int64_t j = k; j < i + kRowsAtOnce; ++j) {
        a[j] += u[k] * row[j];
        b[j] += v[k] * row[j];
      }
    }
    const Pack *r0 = g.row(i), *r1 = g.row(i + 1), *r2 = g.row(i + 2), *r3 = g.row(i + 3);
    const Pack u0 = u[i], u1 = u[i + 1], u2 = u[i + 2], u3 = u[i + 3];
    const Pack v0 = v[i], v1 = v[i + 1], v2 = v[i + 2], v3 = v[i + 3];
    for (std::int64_t j = i + kRowsAtOnce; j < g.n; ++j) {
      a[j] = (((a[j] + u0 * r0[j]) + u1 * r1[j]) + u2 * r2[j]) + u3 * r3[j];
      b[j] = (((b[j] + v0 * r0[j]) + v1 * r1[j]) + v2 * r2[j]) + v3 * r3[j];
    }
  }
  for (; i < g.n; ++i) {
    const Pack* row = g.row(i);
    for (std::int64_t j = i; j < g.n; ++j) {
      a[j] += u[i] * row[j];
      b[j] += v[i] * row[j];
    }
  }
}

// U becomes G = U^{-1}, row by row from the last: G_i = -(sum over k > i of U_ik G_k) / U_ii. Returns
// tr(G G' B), B by its upper triangle, from the same rows. scratch: 3 n.
Pack invert(const Triangle& u, const Pack* inverse_diagonal, const Triangle& b, Pack* scratch) {
  Pack *own = scratch, *solved = own + u.n, *mixed = solved + u.n;
  Pack diagonal{}, above{};
  for (std::int64_t i = u.n - 1; i >= 0; --i) {
    Pack* row = u.row(i);
    for (std::int64_t j = i + 1; j < u.n; ++j) own[j] = row[j];
    combine_rows(u, i + 1, own, b.row(i), solved, mixed);
    row[i] = inverse_diagonal[i];
    for (std::int64_t j = i + 1; j < u.n; ++j) row[j] = -inverse_diagonal[i] * solved[j];
    diagonal += b.row(i)[i] * dot_packs(row + i, row + i, u.n - i);
    above += dot_packs(row + i + 1, mixed + i + 1, u.n - i - 1);
  }
  return diagonal + above + above;
}

// out = G' v
void multiply_transposed(const Triangle& g, const Pack* v, Pack* out) {
  for (std::int64_t j = 0; j < g.n; ++j) out[j] = Pack{};
  for (std::int64_t i = 0; i < g.n; ++i) {
    const Pack* row = g.row(i);
    for (std::int64_t j = i; j < g.n; ++j) out[j] += v[i] * row[j];
  }
}

Pack symmetric_form(const Triangle& b, const Pack* w) {
  Pack total{};
  for (std::int64_t i = 0; i < b.n; ++i) {
    const Pack* row = b.row(i);
    const Pack above = dot_packs(row + i + 1, w + i + 1, b.n - i - 1);
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
  const std::int64_t of_sums = s.sums_row, of_squares = s.sums_row + 1;
  const Triangle scatter = {scratch, d}, system = {scratch + scatter.size(), d};
  Pack* real = system.first + system.size();  // sums of x, of samples
  Pack* sums = real + d;                      // and with the prior's
  Pack* own = sums + d;
  Pack* rhs = own + d;
  Pack* half = rhs + d;
  Pack* w = half + d;
  Pack* inverse_diagonal = w + d;
  const Products products = {s, lanes};
  const auto prior = [&](std::int64_t i, std::int64_t j) {
    return broadcast(s.prior[i * s.width + j]);
  };
  const Pack weight = products(of_sums, one);
  const Pack total = weight + prior(of_sums, one);
  const Pack centring = broadcast(1.0) / total;
  for (std::int64_t j = 0; j < d; ++j) {
    real[j] = products(j, one);
    sums[j] = real[j] + prior(j, one);
  }
  for (std::int64_t i = 0; i < d; ++i) {
    const Pack scaled = centring * sums[i];
    Pack *of_samples = scatter.row(i), *row = system.row(i);
    for (std::int64_t j = i; j < d; ++j) {
      of_samples[j] = products(i, j);
      row[j] = broadcast(s.base[i * s.base_stride + j]) + of_samples[j] - scaled * sums[j];
    }
  }
  const Mask valid = factorise(system, inverse_diagonal);

  Fit fit;
  // Leverages about the pooled mean: tr(A^{-1} sum (x - mean)(x - mean)') and the mean's own.
  fit.freedom = invert(system, inverse_diagonal, scatter, rhs);
  for (std::int64_t k = d; k < one; ++k) {
    const Pack of_target = products(of_sums, k), target_sum = of_target + prior(of_sums, k);
    for (std::int64_t j = 0; j < d; ++j) {
      own[j] = products(j, k);
      rhs[j] = own[j] + prior(j, k) - centring * sums[j] * target_sum;
    }
    multiply_transposed(system, rhs, half);
    Pack along{}, cross{}, along_real{};
    for (std::int64_t j = 0; j < d; ++j) {
      w[j] = dot_packs(system.row(j) + j, half + j, d - j);
      along += w[j] * sums[j];
      along_real += w[j] * real[j];
      cross += w[j] * own[j];
    }
    const Pack intercept = centring * (target_sum - along);
    fit.rss += products(of_squares, k) + symmetric_form(scatter, w) - cross - cross +
               intercept * (intercept * weight - 2.0 * of_target + 2.0 * along_real);
  }
  const Pack infinite = broadcast(__builtin_inf());
  fit.rss = valid ? fit.rss : infinite;

  // With mean = sums / total: sum (x - mean)(x - mean)' = sum x x' - s m' - m s' + W m m'.
  multiply_transposed(system, real, half);
  multiply_transposed(system, sums, w);
  const Pack mixed = dot_packs(half, w, d), square = dot_packs(w, w, d);
  fit.freedom += (weight - 2.0 * mixed + weight * square / total) / total;
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
