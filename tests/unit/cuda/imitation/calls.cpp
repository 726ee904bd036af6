// Whole calls with the device imitated: slabs, batches and memory. Prints what is wrong.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <random>

#include "cuda/emulation.cpp"

// These read the imitation's headers.
#include "cuda/calls.cu"
#include "cuda/products.cu"

namespace fctree::kernels {

Normalisation normalisation_of(KernelKind kind) {
  for (const NamedKernel& known : kKernels)
    if (known.kind == kind) return known.rows;
  return Normalisation::none;
}

}  // namespace fctree::kernels

namespace fctree::cuda {

struct Case {
  std::int64_t n_problems, n_specs, n_x, n_y, n_features;  // n_y = 0: symmetric
  bool there;                                              // the output is on the device

  std::int64_t n_columns() const { return n_y == 0 ? n_x : n_y; }
};

template <class T>
std::vector<T> randoms(std::int64_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(normal(generator));
  return values;
}

std::vector<KernelSpec> specs_of(std::int64_t n_specs) {
  static const double coefficients[] = {0.0, 0.5, 0.25, 0.25};
  std::vector<KernelSpec> specs;
  for (std::int64_t s = 0; s < n_specs; ++s)
    specs.push_back({s == 1 ? KernelKind::leaf_counts : KernelKind::power, Derivative::none, 3,
                     2.0 + s, coefficients});
  return specs;
}

template <class T>
struct Data {
  explicit Data(const Case& c)
      : x(randoms<T>(c.n_problems * c.n_x * c.n_features, 1)),
        y(randoms<T>(c.n_problems * c.n_y * c.n_features, 2)),
        input{{{x.data(), false}, c.n_x, c.n_features},
              {{c.n_y == 0 ? nullptr : y.data(), false}, c.n_y, c.n_features}, c.n_problems, 2.0} {}
  std::vector<T> x, y;
  DeviceInput<T> input;
};

// What compute(output) writes, on the host or the device, and nothing beyond.
template <class T>
std::vector<T> output_of(std::int64_t size, bool there,
                         const std::function<void(const DeviceArray<T>&)>& compute) {
  const std::size_t before = imitation::used;
  std::vector<T> out(size + 64, std::numeric_limits<T>::quiet_NaN());
  if (there) {
    const DeviceMemory<T> memory(size);
    compute({memory.data(), true});
    std::copy(memory.data(), memory.data() + size, out.data());
  } else {
    compute({out.data(), false});
  }
  for (std::size_t k = size; k < out.size(); ++k)
    if (out[k] == out[k]) throw std::logic_error("written beyond the end");
  if (imitation::used != before) throw std::logic_error("memory is left");
  out.resize(size);
  return out;
}

template <class T>
void check_gram(const Case& c) {
  Data<T> data(c);
  const std::vector<KernelSpec> specs = specs_of(c.n_specs);
  const std::int64_t size = c.n_problems * c.n_specs * c.n_x * c.n_columns();
  std::vector<T> expected(size);
  const EmulatedInput<T> emulated = {
      {data.x.data(), c.n_problems * c.n_x, c.n_features},
      {c.n_y == 0 ? nullptr : data.y.data(), c.n_problems * c.n_y, c.n_features}, c.n_problems, 2.0,
      ThreadOrder::rising};
  emulate_gram(specs, emulated, expected.data(), c.n_columns());
  for (const int shared : {99 << 10, 227 << 10})
    for (const std::int64_t max_bytes : {0, 1, 40'000, 300'000}) {
      imitation::shared_memory = shared;
      const std::vector<T> found = output_of<T>(size, c.there, [&](const DeviceArray<T>& out) {
        compute_gram(specs, data.input, out, {-1, nullptr, max_bytes, nullptr});
      });
      if (found != expected)
        std::printf("%ld specifications of %ld problems, %ld bytes\n", long(c.n_specs),
                    long(c.n_problems), long(max_bytes));
    }
}

template <class T>
void check_product(const Case& c, std::int64_t n_vectors) {
  Data<T> data(c);
  const KernelSpec spec = specs_of(1)[0];
  const std::vector<T> v = randoms<T>(c.n_problems * c.n_columns() * n_vectors, 3);
  const std::int64_t matrix = c.n_x * c.n_columns(), size = c.n_problems * c.n_x * n_vectors;
  std::vector<T> K = output_of<T>(c.n_problems * matrix, false, [&](const DeviceArray<T>& out) {
    compute_gram({spec}, data.input, out, {-1, nullptr, 0, nullptr});
  });
  std::vector<T> first;
  for (const std::int64_t max_bytes : {0, 1, 9'000}) {
    const std::vector<T> found = output_of<T>(size, c.there, [&](const DeviceArray<T>& out) {
      multiply_gram<T>(spec, data.input, {v.data(), false}, n_vectors, out,
                       {-1, nullptr, max_bytes, nullptr});
    });
    if (first.empty()) first = found;
    if (found != first) std::printf("products differ with %ld bytes\n", long(max_bytes));
  }
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t row = k / n_vectors, problem = row / c.n_x;
    double sum = 0.0, sizes = 0.0;
    for (std::int64_t j = 0; j < c.n_columns(); ++j) {
      const double term = static_cast<double>(K[row * c.n_columns() + j]) *
                          v[(problem * c.n_columns() + j) * n_vectors + k % n_vectors];
      sum += term;
      sizes += std::abs(term);
    }
    if (!(std::abs(first[k] - sum) < (sizeof(T) == 4 ? 1e-5 : 1e-13) * sizes))
      std::printf("product %ld is %g, not %g\n", long(k), double(first[k]), sum);
  }
}

// A product whose sums, and a batch whose panels, take more than all memory.
void check_memory() {
  imitation::limit = 8 << 20;
  const Case product = {1, 1, 900, 2100, 2, false}, batch = {100, 1, 3, 0, 200, false};
  check_product<float>(product, 300);
  Data<float> data(batch);
  output_of<float>(100 * 9, false, [&](const DeviceArray<float>& out) {
    compute_gram(specs_of(1), data.input, out, {-1, nullptr, 0, nullptr});
  });
}

template <class T>
void check_all() {
  for (const std::int64_t n_problems : {1, 3})
    for (const std::int64_t n_y : {0, 132}) {
      for (const std::int64_t n_specs : {1, 3})
        check_gram<T>({n_problems, n_specs, 150, n_y, 5, n_specs == n_problems});
      check_product<T>({n_problems, 1, 201, n_y == 0 ? 0 : 2100, 3, n_y == 0}, 5);
    }
}

}  // namespace fctree::cuda

int main() {
  try {
    fctree::cuda::check_all<float>();
    fctree::cuda::check_all<double>();
    fctree::cuda::check_memory();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
}
