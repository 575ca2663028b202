#pragma once

#include <string>

namespace executorch::backends::webgpu {

struct AdapterInfo;

// The machine's adapters with features and limits, as JSON: {"devices": [...]}, or
// {"error": "..."} with the reason why there is none. The one that would be chosen has
// "selected": true.
std::string devices_json();

// One of them: an object with its name, vendor, architecture, backend, driver, type, features and
// limits.
std::string device_json(const AdapterInfo& info);

}  // namespace executorch::backends::webgpu
