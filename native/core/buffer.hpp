// Memory that is left uninitialised. The loop that fills it is the first to touch its pages, so the threads
// share the work of getting them from the system, which for 100 MB takes longer than a round of boosting.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/types.hpp"

namespace fctree {

template <class T>
class Buffer {
  static_assert(std::is_trivial<T>::value, "elements are not constructed");

 public:
  Buffer() : Buffer(0) {}
  explicit Buffer(index_t size) : values_(new T[static_cast<std::size_t>(size)]), size_(size) {}

  index_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  T& operator[](index_t i) { return values_[i]; }
  const T& operator[](index_t i) const { return values_[i]; }

  // At least this long; what was in it is lost where it grows.
  void reserve(index_t size) {
    if (size > size_) *this = Buffer(size);
  }

 private:
  std::unique_ptr<T[]> values_;
  index_t size_;
};

}  // namespace fctree
