#pragma once

#include <string>

namespace executorch::backends::webgpu {

// The machine's adapters with features and limits, as JSON: {"devices": [...]}, or
// {"error": "..."} with the reason why there is none. The one that would be chosen has
// "selected": true.
std::string devices_json();

}  // namespace executorch::backends::webgpu
