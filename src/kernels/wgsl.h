#pragma once

#include <string_view>

namespace executorch::backends::webgpu {

// The text of src/kernels/wgsl/<name>.wgsl, embedded by the build. Empty when there is none.
std::string_view wgsl_source(std::string_view name);

}  // namespace executorch::backends::webgpu
