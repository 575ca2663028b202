#pragma once

#include <executorch/runtime/core/error.h>

#include "base/result.h"

namespace executorch::backends::webgpu {

// The ExecuTorch code for an error of this library.
runtime::Error to_executorch(ErrorCode code);

// Logs the message where ExecuTorch's log goes, keeps it for etwebgpu_last_error(), and returns the
// code. `what` says what was being done.
runtime::Error report(std::string_view what, const Error& error);

}  // namespace executorch::backends::webgpu
