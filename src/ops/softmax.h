#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

std::span<const Op> softmax_ops();

}  // namespace executorch::backends::webgpu
