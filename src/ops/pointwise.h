#pragma once

#include <span>

#include "kernels/kernel_builder.h"
#include "ops/op.h"

namespace executorch::backends::webgpu {

// Declares the output of `node` (its result() after the fused followers) and emits
//   fn store(i: u32, value: V|I)
// which runs the followers on `value` (V when the node's own first output is a float tensor, else
// I), converts and writes group/element i. Every kernel writes its first output this way.
// The extra operands of followers take storage bindings: passes keep within the device's limit.
void emit_store(KernelBuilder& kernel, const NodeView& node);

// The number of lanes for kernels that compute single elements of rows of length `row` (live
// function of the output's last dimension): see KernelBuilder::can_store_single.
bool can_store_single(const NodeView& node, const Capabilities& caps);

// The rows of this family in the operator table.
std::span<const Op> pointwise_ops();

}  // namespace executorch::backends::webgpu
