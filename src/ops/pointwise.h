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

// The body of a kernel that works on groups of four elements of `tensor`, the values that it
// computes or another of as many elements: `fn compute(i: u32)` is called for every group.
void emit_groups(KernelBuilder& kernel, ValueId tensor);

// `compute` of a kernel that yields its elements one by one, by `fn element(e: u32) -> f32|i32`.
void emit_by_element(KernelBuilder& kernel, bool as_float);

// Whether a kernel can store single elements of the node's result (Lanes::k1); else it must compute
// four neighbours at a time, whatever rows they belong to.
bool can_store_single(const NodeView& node, const Capabilities& caps);

// The rows of this family in the operator table.
std::span<const Op> pointwise_ops();

}  // namespace executorch::backends::webgpu
