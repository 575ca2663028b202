#include "ops/movement.h"

namespace executorch::backends::webgpu {

std::span<const Op> movement_ops() { return {}; }

}  // namespace executorch::backends::webgpu
