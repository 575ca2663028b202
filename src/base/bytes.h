#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/checked.h"

namespace executorch::backends::webgpu {

// Bytes of a file or of a part of one. A view: whoever hands it out says how long it lives.
using Bytes = std::span<const std::byte>;

// The `size` bytes at `offset`, or nullopt when they do not all lie within `bytes`.
inline std::optional<Bytes> sub_bytes(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

// The little-endian integer at `offset`; the caller has checked that it lies within `bytes`.
template <typename T>
T load_le(Bytes bytes, size_t offset) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(std::to_integer<uint8_t>(bytes[offset + i])) << (8 * i));
  }
  return value;
}

// Whether the characters of `magic` stand at `offset`.
inline bool has_magic(Bytes bytes, size_t offset, std::string_view magic) {
  const auto found = sub_bytes(bytes, offset, magic.size());
  return found && std::memcmp(found->data(), magic.data(), magic.size()) == 0;
}

// Element count of a dense tensor with these sizes (none negative), with every zero counted as one,
// so that no partial product and no stride of such a shape can overflow. nullopt when it is `limit`
// or more.
template <typename Dims>
std::optional<uint64_t> bounded_numel(const Dims& dims, uint64_t limit) {
  uint64_t product = 1;
  for (int64_t d : dims) {
    const auto next = checked_mul(product, d == 0 ? 1 : static_cast<uint64_t>(d));
    if (!next || *next >= limit) return std::nullopt;
    product = *next;
  }
  return product;
}

}  // namespace executorch::backends::webgpu
