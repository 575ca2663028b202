#pragma once

#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// Shape rule of pointwise operators: PyTorch's broadcasting over all tensor arguments, at the live
// sizes. Refuses sizes that do not match, and an operand that has become 1 at run time along a
// dimension that the exported program does not broadcast.
Status infer_broadcast(const NodeView& node, LiveValues& live);

}  // namespace executorch::backends::webgpu
