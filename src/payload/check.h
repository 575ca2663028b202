#pragma once

#include "base/result.h"
#include "ir/graph.h"

namespace executorch::backends::webgpu {

// The rules of parse_payload that span several values or nodes. Every id in `graph` is in range,
// but for those in `inputs` and `outputs`.
Status check_graph(const Graph& graph);

}  // namespace executorch::backends::webgpu
