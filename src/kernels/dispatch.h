#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/live_values.h"

namespace executorch::backends::webgpu {

// A number that depends on live sizes: called when they changed, never while recording.
using LiveFn = std::function<uint32_t(const LiveValues&)>;

enum class Access : uint8_t { kRead, kReadWrite };

// Storage binding `@group(0) @binding(i)`, i being its index in Dispatch::bindings.
struct Binding {
  ValueId value = kNoValue;
  Access access = Access::kRead;
};

// One use of a kernel. The last binding of the group is the uniform Params, when there are params.
struct Dispatch {
  std::string kernel;  // name for profiles and errors, e.g. "gemm_direct"
  std::string source;  // complete WGSL with the entry point `main`; pipelines are shared by it
  std::vector<Binding> bindings;
  std::vector<LiveFn> params;  // 32-bit words of the Params struct
  // Number of workgroups for live sizes; 0 skips the dispatch. The engine folds more than the
  // device allows in one dimension into two; kernels use `workgroup_index` of the preamble.
  std::function<uint64_t(const LiveValues&)> workgroups;
  // Whether this specialisation is right for live sizes; nullptr: for all.
  std::function<bool(const LiveValues&)> applies;
  uint32_t debug_id = 0;  // of the node, for profiles
  std::string op;         // of the node, for profiles and errors
  // Arithmetic operations for live sizes, for the profiler's comparison with the device's ceiling.
  std::function<uint64_t(const LiveValues&)> flops;
};

// Specialisations of one piece of work, the preferred first; the last one applies to all sizes.
// Each run takes the first that applies.
struct Step {
  std::vector<Dispatch> variants;
};

}  // namespace executorch::backends::webgpu
