// Gram matrices of the tree kernels: native/kernels on NumPy arrays.
#pragma once

#include <pybind11/stl.h>

#include "kernel_arrays.hpp"
#include "kernels/batch.hpp"
#include "kernels/empirical.hpp"

namespace fctree::bindings {

KernelKind kind_of(const std::string& name) {
  for (const NamedKernel& kernel : kKernels)
    if (name == kernel.name) return kernel.kind;
  throw std::invalid_argument("no kernel is called " + name);
}

Derivative derivative_of(const std::string& name) {
  if (name == "none") return Derivative::none;
  if (name == "log_scale") return Derivative::log_scale;
  if (name == "cosine") return Derivative::cosine;
  throw std::invalid_argument("no derivative is by " + name);
}

OwnedSpec make_spec(const std::string& kind, index_t depth, double weight,
                    std::vector<double> coefficients, const std::string& derivative) {
  OwnedSpec owned{{kind_of(kind), derivative_of(derivative), depth, weight, nullptr}, std::move(coefficients)};
  if (owned.spec.kind == KernelKind::leaf_counts)
    owned.spec.depth = static_cast<index_t>(owned.coefficients.size()) - 1;
  if (owned.spec.depth < 1) throw std::invalid_argument("depth must be at least 1");
  return owned;
}

template <class T>
Samples<T> samples_of(const Array<T>& x) {
  if (x.ndim() != 2) throw std::invalid_argument("samples must have two dimensions");
  return {x.data(), x.shape(0), x.shape(1)};
}

template <class T>
void gram(const std::vector<OwnedSpec>& specs, const Array<T>& x,
          const std::optional<Array<T>>& y, double scale, Array<T> out, int n_threads) {
  const BatchInput<T> input(x, y, scale);
  T* data = checked_output(
      out, {input.n_problems, static_cast<index_t>(specs.size()), input.n_x, input.n_y});
  const std::vector<KernelSpec> all = views(specs);
  const ReleasedGil released;
  compute_gram_batch(all, input.all, input.n_problems, data, execution_on(n_threads));
}

template <class T>
void gram_product(const OwnedSpec& spec, const Array<T>& x, const std::optional<Array<T>>& y,
                  double scale, const Array<T>& vectors, Array<T> out, int n_threads) {
  const BatchInput<T> input(x, y, scale);
  if (vectors.ndim() != 3 || vectors.shape(0) != input.n_problems || vectors.shape(1) != input.n_y)
    throw std::invalid_argument("vectors need one row for each row of Y");
  const BatchVectors<T> batch = {vectors.data(), input.n_problems, vectors.shape(2)};
  T* data = checked_output(out, {input.n_problems, input.n_x, batch.n_vectors});
  const ReleasedGil released;
  multiply_gram_batch(view(spec), input.all, batch, data, execution_on(n_threads));
}

template <class T>
void gram_diagonal(const OwnedSpec& spec, const Array<T>& x, double scale, Array<T> out) {
  const Samples<T> samples = samples_of(x);
  T* data = checked_output(out, {samples.n_rows});
  const ReleasedGil released;
  compute_diagonal(view(spec), samples, scale, data);
}

void empirical(const LeafPaths& paths, const Array<double>& split_weights,
               const Array<double>& leaf_weights, const Array<double>& x,
               const std::optional<Array<double>>& y, double scale, Array<double> out,
               int n_threads) {
  GramInput<double> input = {samples_of(x), {nullptr, 0, 0}, scale};
  if (y) input.y = samples_of(*y);
  if (y && input.y.n_features != input.x.n_features)
    throw std::invalid_argument("X and Y need the same number of features");
  if (split_weights.ndim() != 3 || split_weights.shape(1) != paths.n_parameters ||
      split_weights.shape(2) != input.x.n_features)
    throw std::invalid_argument("split_weights must be (n_trees, n_parameters, n_features)");
  if (leaf_weights.ndim() != 2 || leaf_weights.shape(0) != split_weights.shape(0) ||
      leaf_weights.shape(1) != paths.n_leaves())
    throw std::invalid_argument("leaf_weights must be (n_trees, n_leaves)");
  double* data = checked_output(out, {input.x.n_rows, y ? input.y.n_rows : input.x.n_rows});
  const EnsembleWeights weights = {split_weights.data(), leaf_weights.data(),
                                   split_weights.shape(0)};
  const ReleasedGil released;
  compute_empirical(paths, weights, input, data, execution_on(n_threads));
}

LeafPaths make_paths(std::vector<std::int64_t> start, std::vector<std::int64_t> parameter,
                     std::vector<std::int64_t> left, std::int64_t n_parameters) {
  if (start.empty() || start.front() != 0 || parameter.size() != left.size() ||
      start.back() != static_cast<std::int64_t>(parameter.size()))
    throw std::invalid_argument("the paths' arrays do not belong together");
  for (std::size_t l = 1; l < start.size(); ++l)
    if (start[l] < start[l - 1]) throw std::invalid_argument("path_start must not decrease");
  for (std::int64_t p : parameter)
    if (p < 0 || p >= n_parameters) throw std::invalid_argument("no such parameter");
  return {std::move(start), std::move(parameter), std::move(left), n_parameters};
}

// The functions that exist for both types; an array of the other type does not match.
template <class T>
void define_for(py::module_& module) {
  module.def("gram", &gram<T>, py::arg("specs"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("n_threads"), "out (n_problems, n_specs, n_x, n_y), problem by problem.");
  module.def("gram_product", &gram_product<T>, py::arg("spec"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"),
             py::arg("vectors").noconvert(), py::arg("out").noconvert(), py::arg("n_threads"),
             "out (n_problems, n_x, n_vectors) = K(X, Y) vectors, problem by problem.");
  module.def("gram_diagonal", &gram_diagonal<T>, py::arg("spec"), py::arg("X").noconvert(),
             py::arg("scale"), py::arg("out").noconvert(), "out (n_x,): K(x, x).");
}

inline void define_gram_functions(py::module_& module) {
  py::class_<OwnedSpec>(module, "KernelSpec")
      .def(py::init(&make_spec), py::arg("kind"), py::kw_only(), py::arg("depth") = 1,
           py::arg("weight") = 1.0, py::arg("coefficients") = std::vector<double>(),
           py::arg("derivative") = "none");
  py::class_<LeafPaths>(module, "LeafPaths")
      .def(py::init(&make_paths), py::kw_only(), py::arg("path_start"),
           py::arg("path_parameter"), py::arg("path_left"), py::arg("n_parameters"));
  define_for<double>(module);
  define_for<float>(module);
  module.def("empirical", &empirical, py::arg("paths"), py::arg("split_weights").noconvert(),
             py::arg("leaf_weights").noconvert(), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("n_threads"), "out (n_x, n_y): the finite ensemble's kernel.");
}

}  // namespace fctree::bindings
