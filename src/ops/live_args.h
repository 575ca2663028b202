#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// Arguments as functions of the live values, for params and shape-dependent choices that are
// evaluated after the NodeView is gone.
using LiveInteger = std::function<std::optional<int64_t>(const LiveValues&)>;
using LiveIntegers = std::function<std::vector<int64_t>(const LiveValues&)>;

LiveInteger live_integer(const NodeView& node, size_t arg);
LiveIntegers live_integers(const NodeView& node, size_t arg);

}  // namespace executorch::backends::webgpu
