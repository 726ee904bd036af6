// Shared by the bindings of the kernels: specifications by name, arrays as samples.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "kernels/gram.hpp"
#include "translate.hpp"

namespace fctree::bindings {

using namespace kernels;

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// A specification that owns its coefficients.
struct OwnedSpec {
  KernelSpec spec;
  std::vector<double> coefficients;
};

inline KernelSpec view(const OwnedSpec& owned) {
  KernelSpec spec = owned.spec;
  spec.coefficients = owned.coefficients.data();
  return spec;
}

inline std::vector<KernelSpec> views(const std::vector<OwnedSpec>& specs) {
  if (specs.empty()) throw std::invalid_argument("a Gram matrix needs a specification");
  std::vector<KernelSpec> all;
  for (const OwnedSpec& spec : specs) all.push_back(view(spec));
  return all;
}

inline Execution execution_on(int n_threads) { return {n_threads, &signal_raised, nullptr}; }

template <class T>
T* checked_output(Array<T>& out, const std::vector<index_t>& shape) {
  if (static_cast<std::size_t>(out.ndim()) != shape.size() ||
      !std::equal(shape.begin(), shape.end(), out.shape()))
    throw std::invalid_argument("out has the wrong shape");
  return out.mutable_data();
}

// All problems' rows of X (n_problems, n_x, n_features), and of Y likewise.
template <class T>
Samples<T> samples_of_all(const Array<T>& x) {
  if (x.ndim() != 3) throw std::invalid_argument("a batch of samples must have three dimensions");
  return {x.data(), x.shape(0) * x.shape(1), x.shape(2)};
}

template <class T>
struct BatchInput {
  BatchInput(const Array<T>& x, const std::optional<Array<T>>& y, double scale)
      : all{samples_of_all(x), {nullptr, 0, 0}, scale},
        n_problems(x.shape(0)), n_x(x.shape(1)), n_y(y ? y->shape(1) : x.shape(1)) {
    if (y) {
      all.y = samples_of_all(*y);
      if (y->shape(0) != n_problems || y->shape(2) != x.shape(2))
        throw std::invalid_argument("X and Y need as many problems and features");
    }
    if (n_problems < 1) throw std::invalid_argument("a batch needs at least one problem");
  }
  GramInput<T> all;
  index_t n_problems, n_x, n_y;
};

}  // namespace fctree::bindings
