#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/result.h"
#include "ir/dtype.h"
#include "ir/shape.h"

namespace executorch::backends::webgpu {

// A dense row-major tensor in host memory, lent for the duration of a call.
struct HostTensorView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  Shape dims;
};

// An input of a run: a tensor, or the value of a symbolic integer.
using HostInput = std::variant<HostTensorView, int64_t>;

// Whether host elements of one type can become GPU elements of another (or the reverse): the same
// type, any two float types, or int64 and int32.
bool can_convert(DType from, DType to);

// Copies `count` elements, converting. kInvalidArgument for an int64 that does not fit 32 bits.
// Floats round to nearest even; float64 beyond float32 becomes infinite, as a cast does.
Status convert_elements(const void* from, DType from_dtype, void* to, DType to_dtype,
                        int64_t count);

}  // namespace executorch::backends::webgpu
