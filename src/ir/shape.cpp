#include "ir/shape.h"

#include <fmt/ranges.h>

namespace executorch::backends::webgpu {

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

int normalize_dim(int64_t dim, int rank) {
  const int64_t n = rank == 0 ? 1 : rank;
  if (dim < -n || dim >= n) return -1;
  return static_cast<int>(dim < 0 ? dim + n : dim);
}

}  // namespace executorch::backends::webgpu
