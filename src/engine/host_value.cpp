#include "engine/host_value.h"

#include <bit>
#include <cstring>

namespace executorch::backends::webgpu {

namespace {

uint16_t half_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {
    // Subnormal: adding 0.5 aligns the 10 result bits at the end of the sum's mantissa, rounded.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

float float_from_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

struct Half {
  uint16_t bits;
};

double widen(Half value) { return float_from_half(value.bits); }
double widen(float value) { return value; }
double widen(double value) { return value; }

template <typename To>
To narrow(double value) {
  if constexpr (std::is_same_v<To, Half>) {
    return Half{half_from_float(static_cast<float>(value))};
  } else {
    return static_cast<To>(value);
  }
}

// Host memory may be unaligned for its type (a view into a file), hence memcpy.
template <typename From, typename To>
void convert_floats(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, in + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    To result;
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) {
      result.bits = half_from_float(value);
    } else if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
      result = float_from_half(value.bits);
    } else {
      result = narrow<To>(widen(value));
    }
    std::memcpy(out + static_cast<size_t>(i) * sizeof(To), &result, sizeof(To));
  }
}

template <typename From>
void convert_floats_to(const void* from, void* to, DType to_dtype, int64_t count) {
  switch (to_dtype) {
    case DType::kFloat16:
      return convert_floats<From, Half>(from, to, count);
    case DType::kFloat32:
      return convert_floats<From, float>(from, to, count);
    default:
      return convert_floats<From, double>(from, to, count);
  }
}

Status narrow_integers(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (int64_t i = 0; i < count; ++i) {
    int64_t wide;
    std::memcpy(&wide, in + static_cast<size_t>(i) * sizeof(wide), sizeof(wide));
    const auto value = static_cast<int32_t>(wide);
    if (value != wide) {
      return fail(ErrorCode::kInvalidArgument,
                  "element {} is {}, which the GPU's 32-bit integers cannot hold", i, wide);
    }
    std::memcpy(out + static_cast<size_t>(i) * sizeof(value), &value, sizeof(value));
  }
  return {};
}

void widen_integers(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (int64_t i = 0; i < count; ++i) {
    int32_t value;
    std::memcpy(&value, in + static_cast<size_t>(i) * sizeof(value), sizeof(value));
    const int64_t wide = value;
    std::memcpy(out + static_cast<size_t>(i) * sizeof(wide), &wide, sizeof(wide));
  }
}

}  // namespace

bool can_convert(DType from, DType to) {
  if (from == to || (is_float(from) && is_float(to))) return true;
  const auto is_integer = [](DType t) { return t == DType::kInt32 || t == DType::kInt64; };
  return is_integer(from) && is_integer(to);
}

Status convert_elements(const void* from, DType from_dtype, void* to, DType to_dtype,
                        int64_t count) {
  if (count == 0) return {};
  if (from_dtype == to_dtype) {
    std::memcpy(to, from, static_cast<size_t>(count) * size_of(to_dtype));
    return {};
  }
  if (!can_convert(from_dtype, to_dtype)) {
    return fail(ErrorCode::kInvalidArgument, "{} cannot be passed as {}", name_of(from_dtype),
                name_of(to_dtype));
  }
  switch (from_dtype) {
    case DType::kInt64:
      return narrow_integers(from, to, count);
    case DType::kInt32:
      widen_integers(from, to, count);
      return {};
    case DType::kFloat16:
      convert_floats_to<Half>(from, to, to_dtype, count);
      return {};
    case DType::kFloat32:
      convert_floats_to<float>(from, to, to_dtype, count);
      return {};
    default:
      convert_floats_to<double>(from, to, to_dtype, count);
      return {};
  }
}

}  // namespace executorch::backends::webgpu
