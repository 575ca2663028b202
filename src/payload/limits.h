#pragma once

#include <cstdint>

namespace executorch::backends::webgpu {

inline constexpr uint32_t kMaxNameLength = 256;  // of an operator's name or a constant's key
inline constexpr uint32_t kMaxArgs = 64;         // of an operator call

}  // namespace executorch::backends::webgpu
