#include "cli/compare.h"

#include <cmath>
#include <cstring>
#include <string>

#include "base/result.h"

namespace executorch::backends::webgpu::cli {

namespace {

// "[1, 3]": where element `index` of a dense tensor lies.
std::string position(const Shape& dims, int64_t index) {
  Shape at = dims;
  for (int d = dims.rank() - 1; d >= 0; --d) {
    at[d] = index % dims[d];
    index /= dims[d];
  }
  return to_string(at);
}

std::vector<double> widened(const HostArray& array) {
  std::vector<double> wide(static_cast<size_t>(array.dims.numel()));
  (void)convert_elements(array.data.data(), array.dtype, wide.data(), DType::kFloat64,
                         array.dims.numel());
  return wide;
}

bool within(double got, double wanted, const Tolerance& tolerance) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (!std::isfinite(wanted) || !std::isfinite(got)) return got == wanted;
  return std::fabs(got - wanted) <= tolerance.atol + tolerance.rtol * std::fabs(wanted);
}

Comparison compare_floats(const HostArray& got, const HostArray& wanted,
                          const Tolerance& tolerance) {
  const std::vector<double> g = widened(got), w = widened(wanted);
  Comparison result;
  size_t wrong = 0, first = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    if (std::isfinite(g[i]) && std::isfinite(w[i])) {
      result.largest_error = std::max(result.largest_error, std::fabs(g[i] - w[i]));
    }
    if (within(g[i], w[i], tolerance)) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong > 0) {
    result.wrong =
        fmt::format("{} of {} elements are off, by up to {:.3g}; the first at {}: {} instead of {}",
                    wrong, w.size(), result.largest_error,
                    position(wanted.dims, static_cast<int64_t>(first)), g[first], w[first]);
  }
  return result;
}

int64_t integer_at(const HostArray& array, size_t index) {
  const std::byte* at = array.data.data() + index * size_of(array.dtype);
  switch (array.dtype) {
    case DType::kInt8:
      return std::to_integer<int8_t>(*at);
    case DType::kInt32: {
      int32_t value;
      std::memcpy(&value, at, sizeof(value));
      return value;
    }
    case DType::kInt64: {
      int64_t value;
      std::memcpy(&value, at, sizeof(value));
      return value;
    }
    default:
      return std::to_integer<uint8_t>(*at);
  }
}

Comparison compare_integers(const HostArray& got, const HostArray& wanted) {
  Comparison result;
  size_t wrong = 0, first = 0;
  const auto count = static_cast<size_t>(wanted.dims.numel());
  for (size_t i = 0; i < count; ++i) {
    const int64_t g = integer_at(got, i), w = integer_at(wanted, i);
    if (g == w) continue;
    if (wrong++ == 0) first = i;
    result.largest_error =
        std::max(result.largest_error, std::fabs(static_cast<double>(g) - static_cast<double>(w)));
  }
  if (wrong > 0) {
    result.wrong = fmt::format("{} of {} elements differ; the first at {}: {} instead of {}", wrong,
                               count, position(wanted.dims, static_cast<int64_t>(first)),
                               integer_at(got, first), integer_at(wanted, first));
  }
  return result;
}

}  // namespace

Comparison compare(const HostArray& got, const HostArray& wanted, const Tolerance& tolerance) {
  if (got.dtype != wanted.dtype) {
    return {0, fmt::format("type {} instead of {}", name_of(got.dtype), name_of(wanted.dtype))};
  }
  if (got.dims != wanted.dims) {
    return {0, fmt::format("sizes {} instead of {}", to_string(got.dims), to_string(wanted.dims))};
  }
  return is_float(got.dtype) ? compare_floats(got, wanted, tolerance)
                             : compare_integers(got, wanted);
}

}  // namespace executorch::backends::webgpu::cli
