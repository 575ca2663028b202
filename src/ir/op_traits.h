#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace executorch::backends::webgpu {

// What an operator does to data. Passes and the planner decide by this, never by name.
enum class OpKind : uint8_t {
  kCompute,    // reads tensors, writes new ones
  kPointwise,  // element i of the output depends on element i (broadcast) of the inputs
  kView,       // the output is the first argument's bytes under other sizes: nothing moves
  kSymbolic,   // computes integers on the host: shape rule only
};

struct OpTraits {
  OpKind kind = OpKind::kCompute;
  bool takes_followers = false;  // pointwise nodes may be fused onto its first output
};

// nullptr-like answer for unknown operators: kCompute that takes no followers.
using TraitsOf = std::function<OpTraits(std::string_view op)>;

}  // namespace executorch::backends::webgpu
