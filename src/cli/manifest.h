#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/compare.h"

namespace executorch::backends::webgpu::cli {

// A pack of exported programs with what they must compute, as tests/pack/export_pack.py writes it.
struct PackValue {
  std::variant<std::string, int64_t> value;  // a .npy file, by its whole path, or an integer
  Tolerance tolerance;                       // of an output
};

struct PackRun {
  std::vector<PackValue> inputs, outputs;
};

struct PackCase {
  std::string name, family;
  std::string model;              // whole path, like `data`
  std::vector<std::string> data;  // .ptd files
  bool delegated = true;          // whether it can run without ExecuTorch
  std::vector<PackRun> runs;      // in order, on one load
};

Result<std::vector<PackCase>> read_manifest(const std::string& folder);

}  // namespace executorch::backends::webgpu::cli
