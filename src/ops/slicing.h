#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// slice, select, split: ranges of one dimension.
std::span<const Op> slicing_ops();

}  // namespace executorch::backends::webgpu
