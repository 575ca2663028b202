#pragma once

#include <optional>

#include "session/host_array.h"

namespace executorch::backends::webgpu::cli {

struct Tolerance {
  double atol = 1e-5;
  double rtol = 1e-5;
};

struct Comparison {
  double largest_error = 0;  // of the finite elements
  // What is wrong, for a person; nothing when all is right.
  std::optional<std::string> wrong;
};

// dtype and sizes must be equal. Integers and bools must be too; floats within atol + rtol *
// |wanted|, with NaN and infinities where they are wanted and nowhere else. The sign of zero does
// not count.
Comparison compare(const HostArray& got, const HostArray& wanted, const Tolerance& tolerance);

}  // namespace executorch::backends::webgpu::cli
