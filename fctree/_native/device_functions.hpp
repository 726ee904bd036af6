// Gram matrices on a device: native/cuda on arrays given by their addresses, and the emulation of
// the device's programs on NumPy arrays.
#pragma once

#include <pybind11/stl.h>

#include "cuda/device.h"
#include "cuda/emulation.hpp"
#include "kernel_arrays.hpp"

namespace fctree::bindings {

// An array wherever it lies; whoever made this keeps the array alive.
struct ArrayAddress {
  std::uintptr_t address;
  std::vector<index_t> shape;
  std::string dtype;
  bool on_device;

  template <class T>
  cuda::DeviceArray<T> as() const {
    if (dtype != (sizeof(T) == sizeof(double) ? "float64" : "float32"))
      throw std::invalid_argument("arrays on a device must be of one type");
    return {reinterpret_cast<T*>(address), on_device};
  }
};

struct DevicePlace {
  int device;
  std::uintptr_t stream;
  std::int64_t max_bytes;

  cuda::DeviceCall call() const {
    return {device, reinterpret_cast<void*>(stream), max_bytes, &signal_raised};
  }
};

template <class T>
cuda::DeviceSamples<T> device_samples(const ArrayAddress& x) {
  return {x.as<const T>(), x.shape[1], x.shape[2]};
}

template <class T>
cuda::DeviceInput<T> device_input(const ArrayAddress& x, const std::optional<ArrayAddress>& y,
                                  double scale) {
  cuda::DeviceInput<T> input = {device_samples<T>(x), {{nullptr, false}, 0, 0}, x.shape[0], scale};
  if (y) {
    input.y = device_samples<T>(*y);
    if (y->shape[0] != x.shape[0] || y->shape[2] != x.shape[2])
      throw std::invalid_argument("X and Y need as many problems and features");
  }
  return input;
}

std::vector<index_t> gram_shape(const ArrayAddress& x, const std::optional<ArrayAddress>& y,
                                index_t n_specs) {
  if (x.shape.size() != 3 || (y && y->shape.size() != 3))
    throw std::invalid_argument("samples must have three dimensions");
  return {x.shape[0], n_specs, x.shape[1], y ? y->shape[1] : x.shape[1]};
}

void check_shape(const ArrayAddress& array, const std::vector<index_t>& shape, const char* name) {
  if (array.shape != shape) throw std::invalid_argument(std::string(name) + " has the wrong shape");
}

template <class T>
void gram_on(const std::vector<KernelSpec>& specs, const ArrayAddress& x,
             const std::optional<ArrayAddress>& y, double scale, const ArrayAddress& out,
             const DevicePlace& place) {
  const cuda::DeviceInput<T> input = device_input<T>(x, y, scale);
  const cuda::DeviceArray<T> target = out.as<T>();
  const ReleasedGil released;
  cuda::compute_gram(specs, input, target, place.call());
}

void device_gram(const std::vector<OwnedSpec>& specs, const ArrayAddress& x,
                 const std::optional<ArrayAddress>& y, double scale, const ArrayAddress& out,
                 const DevicePlace& place) {
  check_shape(out, gram_shape(x, y, static_cast<index_t>(specs.size())), "out");
  if (x.dtype == "float32") gram_on<float>(views(specs), x, y, scale, out, place);
  else gram_on<double>(views(specs), x, y, scale, out, place);
}

template <class T>
void product_on(const KernelSpec& spec, const cuda::DeviceInput<T>& input,
                const ArrayAddress& vectors, const ArrayAddress& out, const DevicePlace& place) {
  const cuda::DeviceArray<const T> from = vectors.as<const T>();
  const cuda::DeviceArray<T> target = out.as<T>();
  const index_t n_vectors = vectors.shape[2];
  const ReleasedGil released;
  cuda::multiply_gram(spec, input, from, n_vectors, target, place.call());
}

void device_product(const OwnedSpec& spec, const ArrayAddress& x,
                    const std::optional<ArrayAddress>& y, double scale,
                    const ArrayAddress& vectors, const ArrayAddress& out, const DevicePlace& place) {
  if (vectors.shape.size() != 3) throw std::invalid_argument("vectors need three dimensions");
  const std::vector<index_t> shape = gram_shape(x, y, 1);
  check_shape(vectors, {shape[0], shape[3], vectors.shape[2]}, "vectors");
  check_shape(out, {shape[0], shape[2], vectors.shape[2]}, "out");
  if (x.dtype == "float32")
    product_on<float>(view(spec), device_input<float>(x, y, scale), vectors, out, place);
  else
    product_on<double>(view(spec), device_input<double>(x, y, scale), vectors, out, place);
}

// Memory of a device; -1 is the current one.
class DeviceBuffer {
 public:
  DeviceBuffer(std::int64_t n_bytes, int device)
      : n_bytes_(n_bytes), data_(cuda::allocate(device, n_bytes)) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cuda::release(data_); }

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }
  void fill(const py::array& from) {
    check(from);
    const void* data = from.data();
    const ReleasedGil released;
    cuda::copy_to_device(data_, data, n_bytes_);
  }
  void read(py::array to) const {
    check(to);
    void* data = to.mutable_data();
    const ReleasedGil released;
    cuda::copy_from_device(data, data_, n_bytes_);
  }

 private:
  void check(const py::array& array) const {
    if (array.nbytes() != n_bytes_ || !(array.flags() & py::array::c_style))
      throw std::invalid_argument("the array is not of the buffer's size, or not contiguous");
  }
  std::int64_t n_bytes_;
  void* data_;
};

cuda::ThreadOrder order_named(const std::string& name) {
  if (name == "rising") return cuda::ThreadOrder::rising;
  if (name == "falling") return cuda::ThreadOrder::falling;
  if (name == "shuffled") return cuda::ThreadOrder::shuffled;
  throw std::invalid_argument("no order is called " + name);
}

// out (n_problems, n_specs, n_x, stride); returns how often each element was written.
template <class T>
py::array_t<std::uint8_t> emulated_gram(const std::vector<OwnedSpec>& specs, const Array<T>& x,
                                        const std::optional<Array<T>>& y, double scale,
                                        Array<T> out, const std::string& order) {
  const BatchInput<T> batch(x, y, scale);
  const index_t stride = out.ndim() == 4 ? out.shape(3) : 0;
  T* data = checked_output(
      out, {batch.n_problems, static_cast<index_t>(specs.size()), batch.n_x, stride});
  if (stride < batch.n_y) throw std::invalid_argument("out has too few columns");
  const cuda::EmulatedInput<T> input = {batch.all.x, batch.all.y, batch.n_problems, scale,
                                        order_named(order)};
  const std::vector<std::uint8_t> counts = cuda::emulate_gram(views(specs), input, data, stride);
  return py::array_t<std::uint8_t>(static_cast<py::ssize_t>(counts.size()), counts.data());
}

template <class T>
void emulated_product(const OwnedSpec& spec, const Array<T>& x, const std::optional<Array<T>>& y,
                      double scale, const Array<T>& vectors, Array<T> out,
                      const std::string& order) {
  const BatchInput<T> batch(x, y, scale);
  if (vectors.ndim() != 3 || vectors.shape(0) != batch.n_problems || vectors.shape(1) != batch.n_y)
    throw std::invalid_argument("vectors need one row for each row of Y");
  T* data = checked_output(out, {batch.n_problems, batch.n_x, vectors.shape(2)});
  const cuda::EmulatedInput<T> input = {batch.all.x, batch.all.y, batch.n_problems, scale,
                                        order_named(order)};
  cuda::emulate_product(view(spec), input, vectors.data(), vectors.shape(2), data);
}

template <class T>
void define_emulation(py::module_& module) {
  module.def("emulated_gram", &emulated_gram<T>, py::arg("specs"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"), py::arg("out").noconvert(),
             py::arg("order") = "rising",
             "The device's programs thread by thread; how often each element of out was written.");
  module.def("emulated_product", &emulated_product<T>, py::arg("spec"), py::arg("X").noconvert(),
             py::arg("Y").noconvert().none(true), py::arg("scale"),
             py::arg("vectors").noconvert(), py::arg("out").noconvert(),
             py::arg("order") = "rising", "The same for products with vectors.");
}

inline void define_device_functions(py::module_& module) {
  py::class_<ArrayAddress>(module, "ArrayAddress")
      .def(py::init<std::uintptr_t, std::vector<index_t>, std::string, bool>(), py::arg("address"),
           py::arg("shape"), py::arg("dtype"), py::arg("on_device"))
      .def_readonly("address", &ArrayAddress::address)
      .def_readonly("shape", &ArrayAddress::shape)
      .def_readonly("dtype", &ArrayAddress::dtype)
      .def_readonly("on_device", &ArrayAddress::on_device);
  py::class_<DevicePlace>(module, "DevicePlace")
      .def(py::init<int, std::uintptr_t, std::int64_t>(), py::arg("device") = -1,
           py::arg("stream") = 0, py::arg("max_bytes") = 0)
      .def_readonly("device", &DevicePlace::device)
      .def_readonly("stream", &DevicePlace::stream);
  py::class_<DeviceBuffer>(module, "DeviceBuffer")
      .def(py::init<std::int64_t, int>(), py::arg("n_bytes"), py::arg("device") = -1)
      .def_property_readonly("address", &DeviceBuffer::address)
      .def("fill", &DeviceBuffer::fill, py::arg("array"))
      .def("read", &DeviceBuffer::read, py::arg("array"));
  module.def("device_gram", &device_gram, py::arg("specs"), py::arg("X"), py::arg("Y").none(true),
             py::arg("scale"), py::arg("out"), py::arg("place"),
             "out (n_problems, n_specs, n_x, n_y) on a device.");
  module.def("device_product", &device_product, py::arg("spec"), py::arg("X"),
             py::arg("Y").none(true), py::arg("scale"), py::arg("vectors"), py::arg("out"),
             py::arg("place"), "out (n_problems, n_x, n_vectors) = K(X, Y) vectors on a device.");
  module.def("why_no_device", &cuda::why_unavailable,
             "Why no device can be used; empty where one can.");
  module.def("device_name", &cuda::device_name);
  module.def("wait_for_stream", [](std::uintptr_t stream, int device) {
    const ReleasedGil released;
    cuda::wait_for(device, reinterpret_cast<void*>(stream));
  }, py::arg("stream"), py::arg("device"),
             "Waits until all previous work in a stream of a device is done.");
  module.def("device_of", [](std::uintptr_t address) {
    return cuda::device_of(reinterpret_cast<const void*>(address));
  }, py::arg("address"), "The device whose memory an address is in, or -1.");
  define_emulation<double>(module);
  define_emulation<float>(module);
}

}  // namespace fctree::bindings
