// What the core throws. The bindings translate: std::invalid_argument -> ValueError,
// std::bad_alloc -> MemoryError, Interrupted -> the pending KeyboardInterrupt, and
// anything else -> RuntimeError (a bug of ours).
#pragma once

#include <exception>

namespace fctree {

// The caller's interrupt check asked for the computation to stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace fctree
