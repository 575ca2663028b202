#pragma once

#include <webgpu/webgpu.h>

#include <string>
#include <string_view>

// Dawn's header has what the standard one lacks (toggles, the blob cache, its own features).
// Everything that needs those stands behind this one switch.
#if defined(WGPU_DAWN_TOGGLES_DESCRIPTOR_INIT) && !defined(__EMSCRIPTEN__)
#define ETWG_DAWN 1
#else
#define ETWG_DAWN 0
#endif

// In a browser no thread that owns a GPU object may block: results arrive in callbacks only.
#if defined(__EMSCRIPTEN__)
#define ETWG_CAN_BLOCK 0
#else
#define ETWG_CAN_BLOCK 1
#endif

namespace executorch::backends::webgpu {

// The view borrows `text`, which must outlive the call it is passed to.
inline WGPUStringView view(std::string_view text) { return {text.data(), text.size()}; }

// Copies; the API's strings may be null and may be null-terminated rather than counted.
inline std::string to_string(WGPUStringView text) {
  if (text.data == nullptr) return {};
  if (text.length == WGPU_STRLEN) return text.data;
  return {text.data, text.length};
}

}  // namespace executorch::backends::webgpu
