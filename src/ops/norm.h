#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// layer_norm, rms_norm, group_norm and batch_norm (of inference).
std::span<const Op> norm_ops();

}  // namespace executorch::backends::webgpu
