#pragma once

#include <string>
#include <string_view>

namespace executorch::backends::webgpu {

// Why WebGPU may have found no adapter, for the user to act on: whether the Vulkan loader is
// there and which drivers it was told of. `complaint` is what WebGPU itself said; may be empty.
std::string explain_no_adapter(std::string_view complaint);

}  // namespace executorch::backends::webgpu
