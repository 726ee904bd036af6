// The core's exceptions. The bindings translate: std::invalid_argument -> ValueError,
// std::bad_alloc -> MemoryError, Interrupted -> the pending KeyboardInterrupt, DeviceError ->
// RuntimeError, and anything else -> RuntimeError (an internal error).
#pragma once

#include <exception>
#include <stdexcept>

namespace fctree {

// The caller's interrupt check requested a stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// A device is missing, or a call to it failed.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace fctree
