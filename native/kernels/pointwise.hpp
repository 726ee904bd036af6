// The kernels, as functions of one pair of samples; everything that the core knows of a kernel.
//
// Papers: Kanoh and Sugiyama 2022 (perfect and oblivious trees, theorem 1) and 2023 (any
// architecture, theorem 3; decision lists, propositions 1 and 2). Their T, Td and S enter
// only through the cosine of the augmented samples,
//   c = a^2 S / sqrt((a^2 Sxx + 1/2)(a^2 Sx'x' + 1/2)),   a the scale,
// because S Td = c / (2 pi sqrt(1 - c^2)): the inner products cancel. With
//   t = 2 T = 1/2 + asin(c) / pi,  g = 2 S Td = c / (pi sqrt(1 - c^2)),
//   A(t) = sum_d q_d t^d,  q_d = Q(d) / 2^d (at most 1 in a tree, where they sum to 1)
// every tree's kernel is K = A(t) + g A'(t): nothing overflows, whatever the depth.
//
// The samples come normalised, u = a x / sqrt(a^2 Sxx + 1/2), so that a plain product of
// rows is c; 1 - |c| is put together from differences that are exact for equal rows.
//
// The upper half of this file is compiled once. The lower half exists if FCTREE_ISA names an
// instruction set (or a device): it is compiled once for each.
#pragma once

#include <cstdint>

namespace fctree::kernels {

enum class KernelKind {
  power,           // weight * t^depth: perfect and oblivious trees, rule sets
  decision_list,   // A of a decision list of this depth
  endless_list,    // A of an infinitely deep decision list
  leaf_counts,     // A from its coefficients
  relu,            // the ReLU network's kernel, `depth` layers
  exponential,     // exp(-a |x - x'|): no tree's, for comparison
  linear           // the product itself
};

// How rows are scaled, so that products of rows are what a kernel is a function of.
enum class Normalisation {
  augmented,  // u = a x / sqrt(a^2 |x|^2 + 1/2): the tree kernels
  unit,       // u = x / |x|, factor |x|: the ReLU kernel
  scaled,     // u = a x: the exponential kernel
  none        // u = x
};

struct NamedKernel {
  KernelKind kind;
  const char* name;  // as the bindings ask for it
  Normalisation rows;
};

constexpr NamedKernel kKernels[] = {
    {KernelKind::power, "power", Normalisation::augmented},
    {KernelKind::decision_list, "decision_list", Normalisation::augmented},
    {KernelKind::endless_list, "endless_list", Normalisation::augmented},
    {KernelKind::leaf_counts, "leaf_counts", Normalisation::augmented},
    {KernelKind::relu, "relu", Normalisation::unit},
    {KernelKind::exponential, "exponential", Normalisation::scaled},
    {KernelKind::linear, "linear", Normalisation::none},
};

// A derivative of a kernel in its place; by the cosine is, for the exponential kernel, K / (a |x - x'|),
// the factor of (x - x') in the gradient.
enum class Derivative { none, log_scale, cosine };

struct KernelSpec {
  KernelKind kind;
  Derivative derivative;
  std::int64_t depth;
  double weight;               // power: the factor
  const double* coefficients;  // leaf_counts: q_0 .. q_depth
};

}  // namespace fctree::kernels

#if defined(FCTREE_ISA)

#include "kernels/angle.hpp"
#include "kernels/powers.hpp"

namespace fctree::kernels::FCTREE_ISA {

// A kernel is a struct with operator()(pair), of a Pair (angle.hpp). One that goes through layers (`layered`) is also
// start, n_steps times step, and finish: many pairs are then taken through each layer together,
// since a CPU can overlap pairs, but not the layers of one pair.

// g = k / (2 pi)
template <class T>
FCTREE_DEVICE constexpr T k_to_g() {
  return Circle<T>::inverse_pi / 2;
}

// A and its first two derivatives at t.
template <class V>
struct Expansion {
  V zeroth, first, second;
};

// A(t) + g A'(t) of a `Sum` that has expand(t).
template <class Sum>
struct ExpandedSum {
  template <class V>
  FCTREE_DEVICE V value(V t, V k) const {
    const Expansion<V> a = static_cast<const Sum&>(*this).expand(t);
    return a.zeroth + (k * k_to_g<typename Number<V>::Scalar>()) * a.first;
  }
};

struct PowerSum {
  explicit FCTREE_DEVICE PowerSum(const KernelSpec& spec)
      : depth(spec.depth), weight(spec.weight) {}
  // weight t^D + g D weight t^(D-1) needs one power only.
  template <class V>
  FCTREE_DEVICE V value(V t, V k) const {
    using T = typename Number<V>::Scalar;
    return integer_power(t, depth - 1, T(weight)) * (t + k * (k_to_g<T>() * T(depth)));
  }
  template <class V>
  FCTREE_DEVICE Expansion<V> expand(V t) const {
    using T = typename Number<V>::Scalar;
    const V lower = integer_power(t, depth > 1 ? depth - 2 : 0, T(weight));
    const V first = depth > 1 ? lower * t : lower;
    return {first * t, first * T(depth), lower * (T(depth) * T(depth - 1))};
  }
  std::int64_t depth;
  double weight;
};

// A(t) = sum_(d=1..D) T^d + T^D with T = t / 2 <= 1/2, in closed form: 1 - T does not cancel.
struct ListSum : ExpandedSum<ListSum> {
  explicit FCTREE_DEVICE ListSum(const KernelSpec& spec) : depth(spec.depth) {}
  template <class V>
  FCTREE_DEVICE Expansion<V> expand(V t) const {
    using T = typename Number<V>::Scalar;
    const V x = t * T(0.5);
    const V share = T(1) / (T(1) - x);
    const T d = T(depth);
    const V lowest = integer_power(x, depth > 1 ? depth - 2 : 0, T(1));
    const V lower = depth > 1 ? lowest * x : lowest;  // x^(D-1)
    const V last = lower * x;
    const V zeroth = x * (T(1) - last) * share + last;
    const V first = (T(1) - last * (d + T(1) - d * x)) * share * share + lower * d;
    const V bracket = T(2) - lower * (d * (d + T(1)) - x * (T(2) * (d * d - T(1)) - x * (d * (d - T(1)))));
    const V second = bracket * share * share * share + lowest * (d * (d - T(1)));
    return {zeroth, first * T(0.5), second * T(0.25)};
  }
  std::int64_t depth;
};

// Proposition 2: A(t) = T / (1 - T).
struct EndlessListSum : ExpandedSum<EndlessListSum> {
  explicit FCTREE_DEVICE EndlessListSum(const KernelSpec&) {}
  template <class V>
  FCTREE_DEVICE Expansion<V> expand(V t) const {
    using T = typename Number<V>::Scalar;
    const V share = T(1) / (T(2) - t);
    const V first = share * share * T(2);
    return {t * share, first, first * share * T(2)};
  }
};

// Horner's scheme for A, A' and A'': O(depth).
struct LeafSum : ExpandedSum<LeafSum> {
  explicit FCTREE_DEVICE LeafSum(const KernelSpec& spec)
      : depth(spec.depth), coefficients(spec.coefficients) {}
  template <class V>
  FCTREE_DEVICE Expansion<V> expand(V t) const {
    using N = Number<V>;
    using T = typename N::Scalar;
    V zeroth = N::set(0), first = N::set(0), second = N::set(0);
    for (std::int64_t k = depth; k >= 0; --k) {
      second = second * t + first * T(2);
      first = first * t + zeroth;
      zeroth = zeroth * t + T(coefficients[k]);
    }
    return {zeroth, first, second};
  }
  std::int64_t depth;
  const double* coefficients;
};

template <class Sum>
struct TreeKernel {
  static constexpr bool layered = false;
  explicit FCTREE_DEVICE TreeKernel(const KernelSpec& spec) : sum(spec) {}
  template <class V>
  FCTREE_DEVICE V operator()(const Pair<V>& pair) const {
    const Angle<V> angle(pair);
    return sum.value(angle.t, angle.k);
  }
  Sum sum;
};

// d K / d c: t changes by d c / (pi sin), g by d c / (pi sin^3). d K / d log(scale): c changes by
// c (gap + gap').
template <class Sum>
struct TreeKernelGradient {
  static constexpr bool layered = false;
  explicit FCTREE_DEVICE TreeKernelGradient(const KernelSpec& spec)
      : sum(spec), by_cosine(spec.derivative == Derivative::cosine) {}
  template <class V>
  FCTREE_DEVICE V operator()(const Pair<V>& pair) const {
    using T = typename Number<V>::Scalar;
    const Angle<V> angle(pair);
    const Expansion<V> a = sum.expand(angle.t);
    const V g = angle.k * k_to_g<T>();
    const V slope = T(1) + (angle.inverse_root * angle.inverse_root) * T(0.25);
    const V by_scale = pair.gap() * g;
    const V change = by_cosine ? angle.inverse_root * k_to_g<T>() : by_scale;
    return change * (a.first * slope + g * a.second);
  }
  Sum sum;
  bool by_cosine;
};

// A complement indistinguishable from 0 whose root can still be inverted.
template <class T>
struct Smallest;
template <>
struct Smallest<double> {
  static constexpr double value = 1e-300;
};
template <>
struct Smallest<float> {
  static constexpr float value = 1e-36f;
};

// The ReLU network's kernel (Arora et al. 2019; depth 1 is the linear kernel), divided
// by the samples' lengths: with t of the layer's cosine c,
//   c <- c t + sin / pi,  theta <- theta t + c.
// (1 - |c|) / 2 is propagated too, so that nearly parallel samples stay distinct from layer to
// layer.
struct ReluKernel {
  static constexpr bool layered = true;
  template <class V>
  struct State {
    V c, half, theta;
  };

  explicit FCTREE_DEVICE ReluKernel(const KernelSpec& spec) : n_steps(spec.depth - 1) {}

  template <class V>
  FCTREE_DEVICE State<V> start(const Pair<V>& pair) const {
    using N = Number<V>;
    using T = typename N::Scalar;
    const V m = N::absolute(pair.product);
    // Equal samples have 0 there, and the roots would divide by it; this is as good as 0.
    const V half = N::larger(pair.half_complement(m), N::set(Smallest<T>::value));
    // Near the ends c is computed from it, so that equal samples have exactly 1.
    const V near_one = T(1) - half * T(2);
    const V near_end = N::select(N::greater(N::set(T(0)), pair.product), -near_one, near_one);
    const V c = N::select(N::greater(m, N::set(T(0.5))), near_end, pair.product);
    return {c, half, c};
  }
  template <class V>
  FCTREE_DEVICE State<V> step(const State<V>& state) const {
    using N = Number<V>;
    using T = typename N::Scalar;
    const V c = state.c, half = state.half;
    const V arc = arc_share(N::absolute(c), half);
    const V t = N::select(N::greater(c, N::set(T(0))), T(1) - arc, arc);
    const V square = half - half * half;
    const V sine = square * N::inverse_root(square) * (T(2) * Circle<T>::inverse_pi);
    const V next = c * t + sine;
    // (1 - next) / 2, for c > 1/2 without the difference from 1.
    const V kept = half + (c * arc - sine) * T(0.5);
    const V after = N::select(N::greater(c, N::set(T(0.5))), kept, (T(1) - next) * T(0.5));
    return {next, N::larger(after, N::set(Smallest<T>::value)), state.theta * t + next};
  }
  template <class V>
  FCTREE_DEVICE V finish(const State<V>& state, const V& factor) const {
    return state.theta * factor;
  }
  template <class V>
  FCTREE_DEVICE V operator()(const Pair<V>& pair) const {
    State<V> state = start(pair);
    for (std::int64_t k = 0; k < n_steps; ++k) state = step(state);
    return finish(state, pair.factor);
  }
  std::int64_t n_steps;
};

// exp(-d), d = a |x - x'|, whose square comes from differences that are 0 for equal rows.
struct ExponentialKernel {
  static constexpr bool layered = false;
  explicit FCTREE_DEVICE ExponentialKernel(const KernelSpec& spec) : derivative(spec.derivative) {}
  template <class V>
  FCTREE_DEVICE V operator()(const Pair<V>& pair) const {
    using N = Number<V>;
    using T = typename N::Scalar;
    const V square = (pair.self_left - pair.product) + (pair.self_right - pair.product);
    const V kept = N::larger(square, N::set(Smallest<T>::value));
    const V inverse = N::inverse_root(kept), distance = kept * inverse;
    const V value = negative_exponential(distance);
    if (derivative == Derivative::none) return value;
    if (derivative == Derivative::log_scale) return -(distance * value);
    // Rows that are equal to rounding have no direction.
    const V rounding = (pair.self_left + pair.self_right) * (sizeof(T) == 8 ? T(1e-14) : T(1e-5));
    return N::select(N::greater(square, rounding), value * inverse, N::set(T(0)));
  }
  Derivative derivative;
};

struct LinearKernel {
  static constexpr bool layered = false;
  explicit FCTREE_DEVICE LinearKernel(const KernelSpec&) {}
  template <class V>
  FCTREE_DEVICE V operator()(const Pair<V>& pair) const {
    return pair.product;
  }
};

// visit(kernel) with the kernel that a specification names.
template <class Visit>
FCTREE_DEVICE inline void with_kernel(const KernelSpec& spec, const Visit& visit) {
  const bool differentiated = spec.derivative != Derivative::none;
  switch (spec.kind) {
    case KernelKind::power:
      return differentiated ? visit(TreeKernelGradient<PowerSum>(spec))
                           : visit(TreeKernel<PowerSum>(spec));
    case KernelKind::decision_list:
      return differentiated ? visit(TreeKernelGradient<ListSum>(spec))
                           : visit(TreeKernel<ListSum>(spec));
    case KernelKind::endless_list:
      return differentiated ? visit(TreeKernelGradient<EndlessListSum>(spec))
                           : visit(TreeKernel<EndlessListSum>(spec));
    case KernelKind::leaf_counts:
      return differentiated ? visit(TreeKernelGradient<LeafSum>(spec))
                           : visit(TreeKernel<LeafSum>(spec));
    case KernelKind::relu:
      return visit(ReluKernel(spec));
    case KernelKind::exponential:
      return visit(ExponentialKernel(spec));
    case KernelKind::linear:
      return visit(LinearKernel(spec));
  }
}

// visit(sum) with the A of a tree kernel, for many architectures from one t and g.
template <class Visit>
FCTREE_DEVICE inline void with_sum(const KernelSpec& spec, const Visit& visit) {
  switch (spec.kind) {
    case KernelKind::power:
      return visit(PowerSum(spec));
    case KernelKind::decision_list:
      return visit(ListSum(spec));
    case KernelKind::endless_list:
      return visit(EndlessListSum(spec));
    case KernelKind::leaf_counts:
      return visit(LeafSum(spec));
    default:
      return;
  }
}

}  // namespace fctree::kernels::FCTREE_ISA

#endif
