// The kernels of soft/dense.hpp, compiled once per instruction set. Strides are multiples of the
// widest vector (kPadding in block.hpp), so vectors over samples are always whole.
#include "soft/dense.hpp"

#include "core/lanes.hpp"

namespace fctree::soft::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

constexpr int kNodes = 4;    // of a register block
constexpr int kVectors = 4;  // and vectors of samples or features

template <class T, int kRows, int kColumns>
void product_block(const T* w, std::int64_t n_features, const T* x, std::int64_t stride, T* t) {
  using V = typename Lanes<T>::Vector;
  constexpr int L = Lanes<T>::count;
  V sums[kRows][kColumns] = {};
  for (std::int64_t j = 0; j < n_features; ++j) {
    V columns[kColumns];
    for (int c = 0; c < kColumns; ++c) columns[c] = load_lanes(x + j * stride + c * L);
    for (int r = 0; r < kRows; ++r) {
      const V value = set_lanes<T>(w[r * n_features + j]);
      for (int c = 0; c < kColumns; ++c) sums[r][c] += value * columns[c];
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) store_lanes(t + r * stride + c * L, sums[r][c]);
}

template <class T, int kColumns>
void product_columns(const T* w, std::int64_t n_nodes, std::int64_t n_features, const T* x,
                     std::int64_t stride, T* t) {
  std::int64_t node = 0;
  for (; node + kNodes <= n_nodes; node += kNodes)
    product_block<T, kNodes, kColumns>(w + node * n_features, n_features, x, stride,
                                       t + node * stride);
  for (; node < n_nodes; ++node)
    product_block<T, 1, kColumns>(w + node * n_features, n_features, x, stride,
                                  t + node * stride);
}

template <class T>
void products(const T* w, std::int64_t n_nodes, std::int64_t n_features, const T* x,
              std::int64_t stride, T* t) {
  constexpr int L = Lanes<T>::count;
  std::int64_t i = 0;
  for (; i + kVectors * L <= stride; i += kVectors * L)
    product_columns<T, kVectors>(w, n_nodes, n_features, x + i, stride, t + i);
  for (; i < stride; i += L) product_columns<T, 1>(w, n_nodes, n_features, x + i, stride, t + i);
}

template <class V>
V between_0_and_1(V x) {
  const V zero{}, one = zero + 1;
  return x < zero ? zero : (x > one ? one : x);
}

template <class T>
void smooth_step(const NodeRows<T>& node, T inverse_gamma) {
  using V = typename Lanes<T>::Vector;
  for (std::int64_t i = 0; i < node.n; i += Lanes<T>::count) {
    const V u = load_lanes(node.t_then_left + i) * inverse_gamma;
    const V v = between_0_and_1(T(0.5) + u), w = between_0_and_1(T(0.5) - u);
    const V left = v * v * (T(3) - T(2) * v), right = w * w * (T(3) - T(2) * w);
    const V p = load_lanes(node.probability + i);
    store_lanes(node.t_then_left + i, left);
    store_lanes(node.slope + i, p * (T(6) * v * w * inverse_gamma));
    store_lanes(node.left_probability + i, p * left);
    store_lanes(node.right_probability + i, p * right);
  }
}

// exp on (-inf, 0], what is below `least` as `least`: 2^n exp(r), |r| <= log(2) / 2, and the
// exponential series of r.
template <class T>
struct Exponential;

template <>
struct Exponential<float> {
  typedef std::uint32_t Bits __attribute__((vector_size(kVectorBytes)));
  static constexpr float least = -87.0f, shift = 12582912.0f;  // 1.5 * 2^23
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr int degree = 7, mantissa_bits = 23;
  static constexpr std::uint32_t bias = 127;
};
template <>
struct Exponential<double> {
  typedef std::uint64_t Bits __attribute__((vector_size(kVectorBytes)));
  static constexpr double least = -708.0, shift = kRoundingShift;
  static constexpr double ln2_high = 0.693145751953125, ln2_low = 1.42860682030941723212e-6;
  static constexpr int degree = 13, mantissa_bits = 52;
  static constexpr std::uint64_t bias = 1023;
};

template <class T>
typename Lanes<T>::Vector exponential(typename Lanes<T>::Vector z) {
  using E = Exponential<T>;
  using V = typename Lanes<T>::Vector;
  using Bits = typename E::Bits;
  const V least = set_lanes<T>(E::least);
  z = z < least ? least : z;
  const V shifted = z * T(1.4426950408889634) + E::shift;
  const V n = shifted - E::shift;
  const V r = (z - n * E::ln2_high) - n * E::ln2_low;
  T factorial = T(1);
  for (int k = 2; k <= E::degree; ++k) factorial *= T(k);
  V sum = set_lanes<T>(T(1) / factorial);
  for (int k = E::degree; k > 0; --k) {
    factorial /= T(k);
    sum = sum * r + T(1) / factorial;
  }
  const Bits power = (reinterpret_cast<Bits>(shifted) + E::bias) << E::mantissa_bits;
  return sum * reinterpret_cast<V>(power);
}

template <class T>
void logistic(const NodeRows<T>& node, T rate) {
  using V = typename Lanes<T>::Vector;
  constexpr int L = Lanes<T>::count;
  const V one = set_lanes<T>(T(1)), zero{};
  for (std::int64_t i = 0; i < node.n; i += L) {
    const V t = load_lanes(node.t_then_left + i) * rate;
    const V e = exponential<T>(t < zero ? t : -t);
    const V large = one / (one + e), small = e * large;
    const V left = t < zero ? small : large, right = t < zero ? large : small;
    const V p = load_lanes(node.probability + i);
    store_lanes(node.t_then_left + i, left);
    store_lanes(node.slope + i, p * (large * small) * rate);
    store_lanes(node.left_probability + i, p * left);
    store_lanes(node.right_probability + i, p * right);
  }
}

template <class T>
void add_scaled(const T* value, T a, std::int64_t n, T* out) {
  constexpr int L = Lanes<T>::count;
  const auto factor = set_lanes<T>(a);
  for (std::int64_t i = 0; i < n; i += L)
    store_lanes(out + i, load_lanes(out + i) + factor * load_lanes(value + i));
}

template <class T>
T dot(const T* a, const T* b, std::int64_t n) {
  typename Lanes<T>::Vector sum{};
  for (std::int64_t i = 0; i < n; i += Lanes<T>::count)
    sum += load_lanes(a + i) * load_lanes(b + i);
  return sum_lanes<T>(sum);
}

template <class T>
void combine(const T* left_share, const T* slope, const T* right, std::int64_t n, T* left,
             T* derivative) {
  for (std::int64_t i = 0; i < n; i += Lanes<T>::count) {
    const auto other = load_lanes(right + i);
    const auto difference = load_lanes(left + i) - other;
    store_lanes(derivative + i, load_lanes(slope + i) * difference);
    store_lanes(left + i, other + load_lanes(left_share + i) * difference);
  }
}

// A matrix whose elements are `row` and `column` apart.
template <class T>
struct Strided {
  const T* values;
  std::int64_t row;
  std::int64_t column;
};

// The sum over i < n of column i of a times row i of b is added to rows of out.
template <class T>
struct OuterSum {
  Strided<T> a;
  const T* b;
  std::int64_t b_stride;
  std::int64_t n;
  T* out;
  std::int64_t out_stride;
};

// Rows r .. r + kRows - 1 of out, a vector of columns from j on, of which `rest` count if not 0.
template <class T, int kRows>
void outer_block(const OuterSum<T>& sum, std::int64_t r, std::int64_t j, int rest) {
  using V = typename Lanes<T>::Vector;
  V sums[kRows] = {};
  const bool whole = rest == 0;
  const T* a = sum.a.values + r * sum.a.row;
  const T* b = sum.b + j;
  for (std::int64_t i = 0; i < sum.n; ++i) {
    const T* row = b + i * sum.b_stride;
    const V columns = whole ? load_lanes(row) : load_first(row, rest);
    for (int k = 0; k < kRows; ++k)
      sums[k] += set_lanes<T>(a[k * sum.a.row + i * sum.a.column]) * columns;
  }
  for (int k = 0; k < kRows; ++k) {
    T* at = sum.out + (r + k) * sum.out_stride + j;
    if (whole)
      store_lanes(at, load_lanes(at) + sums[k]);
    else
      store_first<T>(at, load_first(at, rest) + sums[k], rest);
  }
}

template <class T>
void add_outer(const OuterSum<T>& sum, std::int64_t n_rows, std::int64_t n_columns) {
  constexpr int L = Lanes<T>::count;
  constexpr int kRows = 8;
  for (std::int64_t j = 0; j < n_columns; j += L) {
    const int rest = n_columns - j >= L ? 0 : static_cast<int>(n_columns - j);
    std::int64_t r = 0;
    for (; r + kRows <= n_rows; r += kRows) outer_block<T, kRows>(sum, r, j, rest);
    for (; r < n_rows; ++r) outer_block<T, 1>(sum, r, j, rest);
  }
}

template <class T>
void add_split_gradient(const SplitDerivatives<T>& derivative, const SampleRows<T>& x,
                        T* gradient) {
  const Strided<T> a = {derivative.values, derivative.stride, 1};
  add_outer<T>({a, x.values, x.stride, x.n_rows, gradient, x.n_features}, derivative.n_nodes,
               x.n_features);
}

template <class T>
void add_input_gradient(const SplitDerivatives<T>& derivative, const T* w, const SampleRows<T>& x,
                        T* gradient) {
  const Strided<T> a = {derivative.values, 1, derivative.stride};
  add_outer<T>({a, w, x.n_features, derivative.n_nodes, gradient, x.stride}, x.n_rows,
               x.n_features);
}

template <class T>
constexpr DenseKernels<T> table() {
  return {products<T>, smooth_step<T>, logistic<T>,           add_scaled<T>,
          dot<T>,      combine<T>,     add_split_gradient<T>, add_input_gradient<T>};
}

}  // namespace

extern const DenseKernels<double> dense_table_double;
const DenseKernels<double> dense_table_double = table<double>();
extern const DenseKernels<float> dense_table_float;
const DenseKernels<float> dense_table_float = table<float>();

}  // namespace fctree::soft::FCTREE_ISA
