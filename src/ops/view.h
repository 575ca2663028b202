#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// Operators whose output is the input's bytes under other sizes: view, squeeze, clone, prepack ...
std::span<const Op> view_ops();

}  // namespace executorch::backends::webgpu
