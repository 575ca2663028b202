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

// Checks that operators share: all outputs have the type of the first argument; the same, and
// argument `arg` is a fixed dimension of the first.
Status check_same_type(const NodeView& node);
Status check_dim(const NodeView& node, size_t arg);

// Data movement by an index map: permute, expand, flip, repeat, unfold ...
std::span<const Op> movement_ops();

}  // namespace executorch::backends::webgpu
