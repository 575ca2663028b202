#pragma once

#include <span>

#include "ops/op.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

// Adds the dispatch that writes the elements that `map` finds in `source` to the node's first
// output, followers included, or to `out`, another output. The map must cover as many elements as
// the output has.
void add_movement(const NodeView& node, Lowering& lowering, ValueId source, const ViewMap& map,
                  ValueId out = kNoValue);

// Data movement by an index map: permute, expand, flip, repeat, unfold ...
std::span<const Op> movement_ops();

}  // namespace executorch::backends::webgpu
