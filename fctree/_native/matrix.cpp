// Matrices in, matrices out: Gram matrices of the tree kernels, and what the build holds. An array
// that is not of the type and layout wanted is refused rather than copied. One file to compile, so
// that pybind11's templates are compiled once.
#include <pybind11/stl.h>

#include "core/cpu.hpp"
#include "core/parallel.hpp"
#include "device_functions.hpp"
#include "gram_functions.hpp"
#include "translate.hpp"

namespace fctree::bindings {

namespace {

py::dict build_config() {
  py::dict simd;
  simd["built"] = built_instruction_sets();
  simd["in_use"] = name(instruction_set_in_use());
  py::dict config;
  config["compiler"] = __VERSION__;
  config["openmp"] = has_openmp();
  config["simd"] = simd;
  config["eigen"] = eigen_version();
#if defined(FCTREE_CUDA)
  config["cuda"] = true;
#else
  config["cuda"] = false;
#endif
  return config;
}

}  // namespace

}  // namespace fctree::bindings

PYBIND11_MODULE(matrix, module) {
  using namespace fctree::bindings;
  module.doc() = "Gram matrices; build facts.";
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const py::builtin_exception&) {
      throw;
    } catch (...) {
      fctree::set_python_error();
    }
  });
  module.def("build_config", &build_config, "What was built and what is in use.");
  define_gram_functions(module);
  define_device_functions(module);
}
