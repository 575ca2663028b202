#include "executorch/values.h"

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cstring>

namespace executorch::backends::webgpu {

using runtime::EValue;
using runtime::etensor::ScalarType;

namespace {

// Kernels see dense row-major memory; a channels-last tensor would be read in the wrong order.
bool is_row_major(const runtime::etensor::Tensor& tensor) {
  const auto order = tensor.dim_order();
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

tl::unexpected<Error> wrong_argument(size_t index, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, "argument {}: {}", index, what);
}

}  // namespace

std::optional<DType> to_dtype(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return DType::kBool;
    case ScalarType::Byte:
      return DType::kUInt8;
    case ScalarType::Char:
      return DType::kInt8;
    case ScalarType::Int:
      return DType::kInt32;
    case ScalarType::Long:
      return DType::kInt64;
    case ScalarType::Half:
      return DType::kFloat16;
    case ScalarType::Float:
      return DType::kFloat32;
    case ScalarType::Double:
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

Result<HostInput> to_input(const EValue& value, bool is_tensor, size_t index) {
  if (!value.isTensor()) {
    if (is_tensor) return wrong_argument(index, "a tensor was expected");
    if (value.isInt()) return HostInput(value.toInt());
    if (value.isBool()) return HostInput(int64_t{value.toBool()});
    return wrong_argument(index, "an integer was expected");
  }
  const auto tensor = value.toTensor();
  const auto dtype = to_dtype(tensor.scalar_type());
  if (!dtype) return wrong_argument(index, "this element type is not supported");
  if (!is_tensor) {
    if (tensor.numel() != 1 || (*dtype != DType::kInt32 && *dtype != DType::kInt64)) {
      return wrong_argument(index, "an integer was expected");
    }
    int64_t integer = 0;
    ETWG_TRY(convert_elements(tensor.const_data_ptr(), *dtype, &integer, DType::kInt64, 1));
    return HostInput(integer);
  }
  if (!is_row_major(tensor)) {
    return wrong_argument(index, "its memory is not row-major (channels last?)");
  }
  if (tensor.dim() > kMaxRank) return wrong_argument(index, "its rank is too large");
  HostTensorView view;
  view.data = tensor.const_data_ptr();
  view.dtype = *dtype;
  for (const auto size : tensor.sizes()) view.dims.push_back(size);
  return HostInput(view);
}

Result<Executable::HostOutput> prepare_output(EValue& value, const Executable& executable,
                                              size_t output) {
  const bool is_tensor =
      executable.plan().graph.tensor(executable.plan().graph.outputs[output]) != nullptr;
  if (!is_tensor) {
    const int64_t integer = executable.output_integer(output);
    if (value.isTensor()) {
      auto tensor = value.toTensor();
      const auto dtype = to_dtype(tensor.scalar_type());
      if (!dtype || tensor.numel() != 1) return wrong_argument(output, "an integer was expected");
      ETWG_TRY(convert_elements(&integer, DType::kInt64, tensor.mutable_data_ptr(), *dtype, 1));
    } else {
      value = EValue(integer);
    }
    return Executable::HostOutput{};
  }
  if (!value.isTensor()) return wrong_argument(output, "the output should be a tensor");
  auto tensor = value.toTensor();
  const auto dtype = to_dtype(tensor.scalar_type());
  if (!dtype) return wrong_argument(output, "the output's element type is not supported");
  if (!is_row_major(tensor)) {
    return wrong_argument(output, "the output's memory is not row-major (channels last?)");
  }
  ::executorch::aten::SizesType sizes[kMaxRank];
  const Shape& dims = executable.output_dims(output);
  for (int d = 0; d < dims.rank(); ++d)
    sizes[d] = static_cast<::executorch::aten::SizesType>(dims[d]);
  const auto resized = runtime::resize_tensor(
      tensor,
      runtime::ArrayRef<::executorch::aten::SizesType>(sizes, static_cast<size_t>(dims.rank())));
  if (resized != runtime::Error::Ok) {
    return wrong_argument(output,
                          fmt::format("the output cannot take the sizes {}", to_string(dims)));
  }
  return Executable::HostOutput{tensor.mutable_data_ptr(), *dtype};
}

}  // namespace executorch::backends::webgpu
