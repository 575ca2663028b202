#pragma once

#include <cstdint>

namespace executorch::backends::webgpu {

// Bounds what decoding a FlatBuffer may allocate. Many references in one may lead to the same list,
// so a small file could unfold to gigabytes; one that shares nothing has no more items than bytes.
class DecodeBudget {
 public:
  explicit DecodeBudget(uint64_t file_bytes) : left_(file_bytes) {}

  // False when `items` more are too many.
  bool take(uint64_t items) {
    if (items > left_) return false;
    left_ -= items;
    return true;
  }

 private:
  uint64_t left_;
};

}  // namespace executorch::backends::webgpu
