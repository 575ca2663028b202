#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// aten.convolution (1-D, 2-D, transposed, grouped) and et_vk.conv_with_clamp. Layout is NCHW.
std::span<const Op> convolution_ops();

}  // namespace executorch::backends::webgpu
