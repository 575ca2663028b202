#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace executorch::backends::webgpu {

// Element types of tensors. On the GPU only kBool to kFloat32 occur: the exporter stores 64-bit
// tensors as 32-bit ones, and only host tensors (EValues) keep the wide types.
enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt32,
  kFloat16,
  kFloat32,
  kInt64,
  kFloat64,
};

constexpr size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
      return 1;
    case DType::kFloat16:
      return 2;
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kUInt8:
      return "uint8";
    case DType::kInt8:
      return "int8";
    case DType::kInt32:
      return "int32";
    case DType::kFloat16:
      return "float16";
    case DType::kFloat32:
      return "float32";
    case DType::kInt64:
      return "int64";
    case DType::kFloat64:
      return "float64";
  }
  return "?";
}

constexpr bool is_float(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

}  // namespace executorch::backends::webgpu
