#pragma once

#include <cstdint>
#include <optional>

namespace executorch::backends::webgpu {

// Arithmetic on sizes that come from a file: nullopt instead of a wrapped value.
inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

inline uint64_t div_up(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

}  // namespace executorch::backends::webgpu
