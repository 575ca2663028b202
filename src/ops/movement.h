#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// Views and the copies that an index map describes: view, permute, expand, slice, select, flip ...
std::span<const Op> movement_ops();

}  // namespace executorch::backends::webgpu
