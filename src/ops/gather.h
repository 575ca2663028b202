#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// Reads at positions that a tensor of indices gives: embedding, index_select, index, gather.
// An index that is out of range cannot stop the run; it yields NaN (0 for integers), never
// another element.
std::span<const Op> gather_ops();

}  // namespace executorch::backends::webgpu
