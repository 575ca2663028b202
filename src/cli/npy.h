#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "session/host_array.h"

namespace executorch::backends::webgpu::cli {

// Reads NumPy's .npy, versions 1 to 3: little endian, C order, bool and the types of DType.
// Errors name the file and what is wrong with it.
Result<HostArray> read_npy(const std::string& path);
// The same from memory; `name` stands in the errors.
Result<HostArray> parse_npy(Bytes file, const std::string& name);

Status write_npy(const std::string& path, const HostArray& array);

}  // namespace executorch::backends::webgpu::cli
