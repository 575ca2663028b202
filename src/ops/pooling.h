#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// max_pool2d (with and without indices) and avg_pool2d over [C, H, W] or [N, C, H, W].
std::span<const Op> pooling_ops();

}  // namespace executorch::backends::webgpu
