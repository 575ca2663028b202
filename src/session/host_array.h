#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "engine/host_value.h"
#include "ir/dtype.h"
#include "ir/shape.h"

namespace executorch::backends::webgpu {

// A dense row-major tensor in host memory that owns its elements.
struct HostArray {
  DType dtype = DType::kFloat32;
  Shape dims;
  std::vector<std::byte> data;

  HostArray() = default;
  HostArray(DType type, const Shape& sizes) : dtype(type) { resize(sizes); }
  explicit HostArray(DType type) : dtype(type) {}

  // Takes other sizes; what the elements are then is not defined. Memory is kept when it shrinks.
  void resize(const Shape& sizes) {
    dims = sizes;
    data.resize(static_cast<size_t>(sizes.numel()) * size_of(dtype));
  }
  HostTensorView view() const { return {data.data(), dtype, dims}; }
};

// What a program hands out: a tensor, or an integer (a live size, or computed from one).
using HostOutputValue = std::variant<HostArray, int64_t>;

}  // namespace executorch::backends::webgpu
