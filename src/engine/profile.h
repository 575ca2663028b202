#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace executorch::backends::webgpu {

// One dispatch of a profiled run.
struct ProfileEntry {
  std::string op;      // "aten.linear.default"
  std::string kernel;  // "gemm_direct"
  uint32_t debug_id = 0;
  uint64_t begin_ns = 0, end_ns = 0;  // on the GPU's own clock
  uint64_t bytes = 0;                 // read and written if each bound byte is touched once
  uint64_t flops = 0;                 // 0 where the kernel does not count them
};

using Profile = std::vector<ProfileEntry>;

}  // namespace executorch::backends::webgpu
