#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/profile.h"

namespace executorch::backends::webgpu::cli {

// Writes the dispatches as JSON that Perfetto and Chrome's tracing page open: one track a call of a
// delegate, times from the first dispatch on.
Status write_trace(const std::string& path, const std::string& adapter,
                   const std::vector<Profile>& calls);

}  // namespace executorch::backends::webgpu::cli
