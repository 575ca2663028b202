#pragma once

#include <span>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// Integers computed on the host from live sizes: sym_size and arithmetic on its results.
std::span<const Op> symbolic_ops();

}  // namespace executorch::backends::webgpu
