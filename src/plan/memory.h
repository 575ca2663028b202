#pragma once

#include "plan/plan.h"

namespace executorch::backends::webgpu {

// Fills `plan.buffers`, `places` and `constants` for what was lowered. Activations share buffers by
// lifetime; a value that a dispatch reads never lies in the buffer that the dispatch writes, as
// WebGPU demands. kOutOfMemory when a value exceeds the device's limits, naming it.
Status plan_memory(const LoweredGraph& lowered, const Capabilities& caps, Plan& plan);

}  // namespace executorch::backends::webgpu
