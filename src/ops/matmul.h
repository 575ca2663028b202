#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// mm, bmm, addmm, linear: the rows of this family in the operator table.
std::span<const Op> matmul_ops();

}  // namespace executorch::backends::webgpu
