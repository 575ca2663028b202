#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// Tensors made of nothing but arguments: full, zeros, ones, arange, scalar_tensor ... What has no
// symbolic argument is made once, at load.
std::span<const Op> creation_ops();

}  // namespace executorch::backends::webgpu
