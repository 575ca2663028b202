#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/op.h"
#include "ops/reducer.h"

namespace executorch::backends::webgpu {

// What one output of a reduction is made from.
struct Reduction {
  const NodeView& node;
  size_t output;  // of the node; the first takes the fused followers
  const Reducer& reducer;
  std::vector<bool> reduced;  // by dim of the node's first argument
  bool as_float;              // the elements are taken as f32, else as i32
  std::optional<float> correction;
};

// Adds the dispatches of one output, by layout and live sizes.
void add_reduction(const Reduction& reduction, Lowering& lowering);

// sum, mean, amax, argmax, var ... over any dims.
std::span<const Op> reduction_ops();

}  // namespace executorch::backends::webgpu
