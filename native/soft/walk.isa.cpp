// The kernels of soft/walk.hpp, compiled once per instruction set.
#include "soft/walk.hpp"

#include "core/lanes.hpp"

namespace fctree::soft::FCTREE_ISA {

using namespace fctree::FCTREE_ISA;

namespace {

constexpr std::int64_t kTogether = 4;  // samples whose products are summed together
constexpr std::int64_t kRoom = kBlockRows + kVectorBytes;  // vectors end behind the last one

// t[i] = <w, x of sample[i]>, i < n. The last samples are repeated where n is no multiple of
// kTogether, so that every product is summed in the same way at any position.
template <class T>
void products(const WalkInput<T>& input, const T* w, const std::uint16_t* sample, std::int64_t n,
              T* t) {
  using V = typename Lanes<T>::Vector;
  constexpr std::int64_t L = Lanes<T>::count;
  const std::int64_t p = input.n_features;
  const std::int64_t whole = p - p % L;
  for (std::int64_t i = 0; i < n; i += kTogether) {
    const std::int64_t last = n - 1;
    const T* x0 = input.x + sample[i] * input.stride;
    const T* x1 = input.x + sample[i + 1 < n ? i + 1 : last] * input.stride;
    const T* x2 = input.x + sample[i + 2 < n ? i + 2 : last] * input.stride;
    const T* x3 = input.x + sample[i + 3 < n ? i + 3 : last] * input.stride;
    V s0{}, s1{}, s2{}, s3{};
    for (std::int64_t j = 0; j < whole; j += L) {
      const V v = load_lanes(w + j);
      s0 += v * load_lanes(x0 + j);
      s1 += v * load_lanes(x1 + j);
      s2 += v * load_lanes(x2 + j);
      s3 += v * load_lanes(x3 + j);
    }
    if (whole < p) {
      const V v = load_first(w + whole, static_cast<int>(p - whole));
      s0 += v * load_lanes(x0 + whole);
      s1 += v * load_lanes(x1 + whole);
      s2 += v * load_lanes(x2 + whole);
      s3 += v * load_lanes(x3 + whole);
    }
    sum_four(s0, s1, s2, s3, t + i);
  }
}

// The smooth step of a node's samples, written without cancellation: with v = t / gamma + 1/2 and
// w = 1 - v, both cut to [0, 1], S = v^2 (3 - 2 v), 1 - S = w^2 (3 - 2 w), S' = 6 v w / gamma.
template <class T>
struct Routing {
  T left[kRoom];
  T right[kRoom];
  T slope[kRoom];
};

template <class T>
void smooth_steps(const T* t, std::int64_t n, T inverse_gamma, Routing<T>& routing) {
  using V = typename Lanes<T>::Vector;
  const V zero{}, half = set_lanes<T>(T(0.5)), one = set_lanes<T>(T(1));
  for (std::int64_t i = 0; i < n; i += Lanes<T>::count) {
    const V u = load_lanes(t + i) * inverse_gamma;
    V v = half + u, w = half - u;
    v = v < zero ? zero : (v > one ? one : v);
    w = w < zero ? zero : (w > one ? one : w);
    store_lanes(routing.left + i, v * v * (T(3) - T(2) * v));
    store_lanes(routing.right + i, w * w * (T(3) - T(2) * w));
    store_lanes(routing.slope + i, v * w * (T(6) * inverse_gamma));
  }
}

// NaN is fractional, to the left only: one path propagates it to the output and the gradients.
// Neither share of a fractional sample is 0: the smallest nonzero v is half a unit of rounding.
template <class T>
inline bool goes_left(T left) {
  return left != T(0);
}
template <class T>
inline bool goes_right(T right) {
  return right > T(0);
}
template <class T>
inline bool fractional(T left, T right) {
  return (left != T(0)) & (right != T(0));
}

// The pairs of one side, appended to `to`; those of fractional nodes point to their record.
template <class T, bool kRight, bool kRecord>
void append_side(const Frontier<T>& from, std::int64_t begin, std::int64_t n,
                 const Routing<T>& routing, std::int32_t first_record, Frontier<T>& to) {
  std::uint16_t* sample = to.sample + to.n_pairs;
  T* probability = to.probability + to.n_pairs;
  std::int32_t* slot = to.slot + to.n_pairs;
  std::int64_t at = 0;
  std::int32_t record_slot = 2 * first_record + (kRight ? 1 : 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t e = begin + i;
    const T left = routing.left[i], right = routing.right[i];
    sample[at] = from.sample[e];
    probability[at] = from.probability[e] * (kRight ? right : left);
    if (kRecord) {
      const std::int32_t is_fractional = fractional(left, right);
      slot[at] = from.slot[e] + (record_slot - from.slot[e]) * is_fractional;
      record_slot += 2 * is_fractional;
    }
    at += kRight ? goes_right(right) : goes_left(left);
  }
  to.n_pairs += at;
}

template <class T>
void remember(const Frontier<T>& from, std::int64_t begin, std::int64_t n,
              const Routing<T>& routing, FractionalRecords<T>& records) {
  std::int64_t r = records.n_records + 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t e = begin + i;
    records.sample[r] = from.sample[e];
    records.left[r] = routing.left[i];
    records.slope[r] = from.probability[e] * routing.slope[i];
    records.slot[r] = from.slot[e];
    r += fractional(routing.left[i], routing.right[i]);
  }
  records.n_records = r - 1;
}

template <class T>
inline std::int32_t child_of(const WalkInput<T>& input, std::int32_t split, int side) {
  return input.children == nullptr ? 2 * split + 1 + side : input.children[2 * split + side];
}

// The pairs of one child, appended to the list that it belongs to.
template <class T, bool kRight, bool kRecord>
void append_child(std::int32_t child, const Frontier<T>& from, const NodeRange& range,
                  const Routing<T>& routing, std::int32_t first_record, Frontier<T>& to) {
  const std::int64_t begin = to.n_pairs, n = range.end - range.begin;
  append_side<T, kRight, kRecord>(from, range.begin, n, routing, first_record, to);
  if (to.n_pairs > begin)
    to.nodes[to.n_nodes++] = {child, static_cast<std::int32_t>(begin),
                              static_cast<std::int32_t>(to.n_pairs)};
}

template <class T, bool kRecord>
void route_level(const WalkInput<T>& input, const Frontier<T>& from, Frontier<T>& to,
                 Frontier<T>& leaves, FractionalRecords<T>* records) {
  alignas(64) T t[kRoom];
  Routing<T> routing;
  to.n_nodes = 0;
  to.n_pairs = 0;
  for (std::int64_t g = 0; g < from.n_nodes; ++g) {
    const NodeRange range = from.nodes[g];
    const std::int64_t n = range.end - range.begin;
    products(input, input.split_weights + range.node * input.n_features,
             from.sample + range.begin, n, t);
    smooth_steps(t, n, input.inverse_gamma, routing);
    std::int32_t first_record = 0;
    if (kRecord) {
      first_record = static_cast<std::int32_t>(records->n_records + 1);
      remember(from, range.begin, n, routing, *records);
      const std::int32_t end = static_cast<std::int32_t>(records->n_records + 1);
      if (end > first_record)
        records->nodes[records->n_nodes++] = {range.node, first_record, end};
    }
    const std::int32_t left = child_of(input, range.node, 0), right = child_of(input, range.node, 1);
    append_child<T, false, kRecord>(left, from, range, routing, first_record,
                                    left < input.n_splits ? to : leaves);
    append_child<T, true, kRecord>(right, from, range, routing, first_record,
                                   right < input.n_splits ? to : leaves);
  }
}

template <class T>
void route(const WalkInput<T>& input, const Frontier<T>& from, Frontier<T>& to,
           Frontier<T>& leaves, FractionalRecords<T>* records) {
  if (records == nullptr)
    route_level<T, false>(input, from, to, leaves, records);
  else
    route_level<T, true>(input, from, to, leaves, records);
}

template <class T>
void add_outputs(const Frontier<T>& leaves, std::int64_t first_leaf, const T* leaf_weights,
                 std::int64_t n_outputs, T* out) {
  for (std::int64_t g = 0; g < leaves.n_nodes; ++g) {
    const NodeRange range = leaves.nodes[g];
    const T* o = leaf_weights + (range.node - first_leaf) * n_outputs;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      T* row = out + leaves.sample[e] * n_outputs;
      for (std::int64_t k = 0; k < n_outputs; ++k) row[k] += leaves.probability[e] * o[k];
    }
  }
}

template <class T>
void leaf_values(const Frontier<T>& leaves, std::int64_t first_leaf, const T* leaf_weights,
                 const T* gradient, std::int64_t n_outputs, T* value) {
  for (std::int64_t g = 0; g < leaves.n_nodes; ++g) {
    const NodeRange range = leaves.nodes[g];
    const T* o = leaf_weights + (range.node - first_leaf) * n_outputs;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const T* row = gradient + leaves.sample[e] * n_outputs;
      T sum = T(0);
      for (std::int64_t k = 0; k < n_outputs; ++k) sum += row[k] * o[k];
      value[leaves.slot[e]] = sum;
    }
  }
}

template <class T>
void derivatives(const FractionalRecords<T>& records, T* value, T* derivative) {
  for (std::int64_t r = records.n_records; r > 0; --r) {
    const T right = value[2 * r + 1];
    const T difference = value[2 * r] - right;
    value[records.slot[r]] = right + records.left[r] * difference;
    derivative[r] = records.slope[r] * difference;
  }
}

// row[j ..] += sum of derivative * x over records begin .. end, for kVectors vectors of features;
// the last one ends after `rest` elements if that is not 0.
template <class T, int kVectors>
void add_products(const WalkInput<T>& input, const std::uint16_t* sample, const T* derivative,
                  const NodeRange& range, T* row, int rest) {
  using V = typename Lanes<T>::Vector;
  constexpr int L = Lanes<T>::count;
  V sums[kVectors] = {};
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const V d = set_lanes<T>(derivative[r]);
    const T* x = input.x + sample[r] * input.stride;
    for (int c = 0; c < kVectors; ++c) sums[c] += d * load_lanes(x + c * L);
  }
  for (int c = 0; c < kVectors; ++c) {
    T* at = row + c * L;
    if (c == kVectors - 1 && rest != 0)
      store_first<T>(at, load_first(at, rest) + sums[c], rest);
    else
      store_lanes(at, load_lanes(at) + sums[c]);
  }
}

template <class T>
void add_split_gradient(const WalkInput<T>& input, const FractionalRecords<T>& records,
                        const T* derivative, const NodeRange* first, const NodeRange* last,
                        T* gradient) {
  constexpr std::int64_t L = Lanes<T>::count;
  constexpr std::int64_t kWide = 4;
  for (const NodeRange* range = first; range != last; ++range) {
    T* row = gradient + range->node * input.n_features;
    for (std::int64_t j = 0; j < input.n_features; j += kWide * L) {
      WalkInput<T> part = input;
      part.x += j;
      const std::int64_t left = input.n_features - j;
      const int rest = left >= kWide * L ? 0 : static_cast<int>(left % L);
      const std::int64_t vectors = left >= kWide * L ? kWide : (left + L - 1) / L;
      if (vectors == 4)
        add_products<T, 4>(part, records.sample, derivative, *range, row + j, rest);
      else if (vectors == 3)
        add_products<T, 3>(part, records.sample, derivative, *range, row + j, rest);
      else if (vectors == 2)
        add_products<T, 2>(part, records.sample, derivative, *range, row + j, rest);
      else
        add_products<T, 1>(part, records.sample, derivative, *range, row + j, rest);
    }
  }
}

template <class T>
void add_leaf_gradient(const Frontier<T>& leaves, std::int64_t first_leaf,
                       const OutputGradient<T>& output, const NodeRange* first,
                       const NodeRange* last, T* gradient) {
  const auto [output_gradient, n_outputs] = output;
  for (const NodeRange* range = first; range != last; ++range) {
    T* row = gradient + (range->node - first_leaf) * n_outputs;
    for (std::int64_t e = range->begin; e < range->end; ++e) {
      const T* g = output_gradient + leaves.sample[e] * n_outputs;
      for (std::int64_t k = 0; k < n_outputs; ++k) row[k] += leaves.probability[e] * g[k];
    }
  }
}

template <class T>
void add_input_gradient(const WalkInput<T>& input, const FractionalRecords<T>& records,
                        const T* derivative, T* gradient) {
  using V = typename Lanes<T>::Vector;
  constexpr std::int64_t L = Lanes<T>::count;
  const std::int64_t whole = input.n_features - input.n_features % L;
  const int rest = static_cast<int>(input.n_features - whole);
  for (std::int64_t g = 0; g < records.n_nodes; ++g) {
    const NodeRange range = records.nodes[g];
    const T* w = input.split_weights + range.node * input.n_features;
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const V d = set_lanes<T>(derivative[r]);
      T* row = gradient + records.sample[r] * input.stride;
      for (std::int64_t j = 0; j < whole; j += L)
        store_lanes(row + j, load_lanes(row + j) + d * load_lanes(w + j));
      if (rest != 0)
        store_lanes(row + whole, load_lanes(row + whole) + d * load_first(w + whole, rest));
    }
  }
}

template <class T>
constexpr WalkKernels<T> table() {
  return {route<T>,
          add_outputs<T>,
          leaf_values<T>,
          derivatives<T>,
          add_split_gradient<T>,
          add_leaf_gradient<T>,
          add_input_gradient<T>};
}

}  // namespace

extern const WalkKernels<double> walk_table_double;
const WalkKernels<double> walk_table_double = table<double>();
extern const WalkKernels<float> walk_table_float;
const WalkKernels<float> walk_table_float = table<float>();

}  // namespace fctree::soft::FCTREE_ISA
