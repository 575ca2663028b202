#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// max_pool2d (with and without indices), avg_pool and adaptive_avg_pool in one and two dimensions,
// with or without a batch.
std::span<const Op> pooling_ops();

}  // namespace executorch::backends::webgpu
