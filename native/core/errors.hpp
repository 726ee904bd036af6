// What the core throws. The bindings translate: std::invalid_argument -> ValueError,
// std::bad_alloc -> MemoryError, Interrupted -> the pending KeyboardInterrupt, DeviceError ->
// RuntimeError as it is, and anything else -> RuntimeError (a bug of ours).
#pragma once

#include <exception>
#include <stdexcept>

namespace fctree {

// The caller's interrupt check asked for the computation to stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// A device is missing, or has refused something.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace fctree
