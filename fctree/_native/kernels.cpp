// Gram matrices of the tree kernels: native/kernels on NumPy arrays. An array that is not of
// the type and layout wanted is refused rather than copied.
#include <pybind11/stl.h>

#include "kernel_arrays.hpp"
#include "kernels/batch.hpp"
#include "kernels/empirical.hpp"

namespace fctree {

namespace {

KernelKind kind_of(const std::string& name) {
  for (const NamedKernel& kernel : kKernels)
    if (name == kernel.name) return kernel.kind;
  throw std::invalid_argument("no kernel is called " + name);
}

OwnedSpec make_spec(const std::string& kind, index_t depth, double weight,
                    std::vector<double> coefficients, bool gradient) {
  OwnedSpec owned{{kind_of(kind), gradient, depth, weight, nullptr}, std::move(coefficients)};
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
GramInput<T> input_of(const Array<T>& x, const std::optional<Array<T>>& y, double scale) {
  GramInput<T> input = {samples_of(x), {nullptr, 0, 0}, scale};
  if (y) {
    input.y = samples_of(*y);
    if (input.y.n_features != input.x.n_features)
      throw std::invalid_argument("X and Y need the same number of features");
  }
  return input;
}

template <class T>
index_t n_columns(const GramInput<T>& input) {
  return input.y.data == nullptr ? input.x.n_rows : input.y.n_rows;
}

template <class T>
void gram(const OwnedSpec& spec, const Array<T>& x, const std::optional<Array<T>>& y,
          double scale, Array<T> out, int n_threads) {
  const GramInput<T> input = input_of(x, y, scale);
  T* data = checked_output(out, {input.x.n_rows, n_columns(input)});
  const ReleasedGil released;
  compute_gram(view(spec), input, data, n_columns(input), execution_on(n_threads));
}

template <class T>
void gram_path(const std::vector<OwnedSpec>& specs, const Array<T>& x,
               const std::optional<Array<T>>& y, double scale, Array<T> out, int n_threads) {
  const GramInput<T> input = input_of(x, y, scale);
  T* data = checked_output(
      out, {static_cast<index_t>(specs.size()), input.x.n_rows, n_columns(input)});
  const std::vector<KernelSpec> all = views(specs);
  const ReleasedGil released;
  compute_gram_path(all, input, data, execution_on(n_threads));
}

template <class T>
void gram_batch(const std::vector<OwnedSpec>& specs, const Array<T>& x,
                const std::optional<Array<T>>& y, double scale, Array<T> out, int n_threads) {
  const BatchInput<T> input(x, y, scale);
  T* data = checked_output(
      out, {input.n_problems, static_cast<index_t>(specs.size()), input.n_x, input.n_y});
  const std::vector<KernelSpec> all = views(specs);
  const ReleasedGil released;
  compute_gram_batch(all, input.all, input.n_problems, data, execution_on(n_threads));
}

template <class T>
void gram_product_batch(const OwnedSpec& spec, const Array<T>& x, const std::optional<Array<T>>& y,
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
void gram_product(const OwnedSpec& spec, const Array<T>& x, const std::optional<Array<T>>& y,
                  double scale, const Array<T>& vectors, Array<T> out, int n_threads) {
  const GramInput<T> input = input_of(x, y, scale);
  if (vectors.ndim() != 2 || vectors.shape(0) != n_columns(input))
    throw std::invalid_argument("vectors need one row for each row of Y");
  const index_t n_vectors = vectors.shape(1);
  T* data = checked_output(out, {input.x.n_rows, n_vectors});
  const T* values = vectors.data();
  const ReleasedGil released;
  multiply_gram(view(spec), input, values, n_vectors, data, execution_on(n_threads));
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
  const GramInput<double> input = input_of(x, y, scale);
  if (split_weights.ndim() != 3 || split_weights.shape(1) != paths.n_parameters ||
      split_weights.shape(2) != input.x.n_features)
    throw std::invalid_argument("split_weights must be (n_trees, n_parameters, n_features)");
  if (leaf_weights.ndim() != 2 || leaf_weights.shape(0) != split_weights.shape(0) ||
      leaf_weights.shape(1) != paths.n_leaves())
    throw std::invalid_argument("leaf_weights must be (n_trees, n_leaves)");
  double* data = checked_output(out, {input.x.n_rows, n_columns(input)});
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

template <class T>
void apply(void (*function)(const T*, std::int64_t, T*), const Array<T>& in, Array<T> out) {
  if (in.size() != out.size()) throw std::invalid_argument("out has the wrong size");
  function(in.data(), in.size(), out.mutable_data());
}

// The functions that exist for both types; an array of the other type does not match.
template <class T>
void define_for(py::module_& module) {
  module.def("gram", &gram<T>, py::arg("spec"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("n_threads"), "out (n_x, n_y) = the kernel's values.");
  module.def("gram_path", &gram_path<T>, py::arg("specs"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("n_threads"), "out (n_specs, n_x, n_y): one matrix a specification.");
  module.def("gram_product", &gram_product<T>, py::arg("spec"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"),
             py::arg("vectors").noconvert(), py::arg("out").noconvert(), py::arg("n_threads"),
             "out (n_x, n_vectors) = K(X, Y) vectors, without the matrix.");
  module.def("gram_batch", &gram_batch<T>, py::arg("specs"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("n_threads"), "out (n_problems, n_specs, n_x, n_y), problem by problem.");
  module.def("gram_product_batch", &gram_product_batch<T>, py::arg("spec"),
             py::arg("X").noconvert(), py::arg("Y").noconvert().none(true), py::arg("scale"),
             py::arg("vectors").noconvert(), py::arg("out").noconvert(), py::arg("n_threads"),
             "out (n_problems, n_x, n_vectors) = K(X, Y) vectors, problem by problem.");
  module.def("gram_diagonal", &gram_diagonal<T>, py::arg("spec"), py::arg("X").noconvert(),
             py::arg("scale"), py::arg("out").noconvert(), "out (n_x,): K(x, x).");
}

}  // namespace

}  // namespace fctree

PYBIND11_MODULE(kernels, module) {
  using namespace fctree;
  module.doc() = "Gram matrices of tree neural tangent kernels, in tiles.";
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const py::builtin_exception&) {
      throw;
    } catch (...) {
      set_python_error();
    }
  });
  py::class_<OwnedSpec>(module, "KernelSpec")
      .def(py::init(&make_spec), py::arg("kind"), py::kw_only(), py::arg("depth") = 1,
           py::arg("weight") = 1.0, py::arg("coefficients") = std::vector<double>(),
           py::arg("gradient") = false);
  py::class_<LeafPaths>(module, "LeafPaths")
      .def(py::init(&make_paths), py::kw_only(), py::arg("path_start"),
           py::arg("path_parameter"), py::arg("path_left"), py::arg("n_parameters"));
  define_for<double>(module);
  define_for<float>(module);
  define_device_kernels(module);
  module.def("empirical", &empirical, py::arg("paths"), py::arg("split_weights").noconvert(),
             py::arg("leaf_weights").noconvert(), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("n_threads"), "out (n_x, n_y): the finite ensemble's kernel.");
  const FunctionKernels& functions = function_kernels();
  module.def("arcsine", [&](const Array<double>& in, Array<double> out) {
    apply(functions.arcsine_double, in, out);
  }, py::arg("x").noconvert(), py::arg("out").noconvert());
  module.def("arcsine", [&](const Array<float>& in, Array<float> out) {
    apply(functions.arcsine_float, in, out);
  }, py::arg("x").noconvert(), py::arg("out").noconvert());
  module.def("arccosine", [&](const Array<double>& in, Array<double> out) {
    apply(functions.arccosine_double, in, out);
  }, py::arg("x").noconvert(), py::arg("out").noconvert());
  module.def("arccosine", [&](const Array<float>& in, Array<float> out) {
    apply(functions.arccosine_float, in, out);
  }, py::arg("x").noconvert(), py::arg("out").noconvert());
}
