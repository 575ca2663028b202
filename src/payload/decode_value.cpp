#include <string>

#include "base/flatbuffer.h"
#include "payload/decode.h"

namespace executorch::backends::webgpu {
namespace {

// The offset that says "look it up by name".
constexpr uint64_t kNamedOffset = UINT64_MAX;

Result<DType> decode_dtype(vkgraph::VkDataType type) {
  switch (type) {
    case vkgraph::VkDataType::BOOL:
      return DType::kBool;
    case vkgraph::VkDataType::UINT8:
      return DType::kUInt8;
    case vkgraph::VkDataType::INT8:
      return DType::kInt8;
    case vkgraph::VkDataType::INT32:
      return DType::kInt32;
    case vkgraph::VkDataType::FLOAT16:
      return DType::kFloat16;
    case vkgraph::VkDataType::FLOAT32:
      return DType::kFloat32;
    case vkgraph::VkDataType::FLOAT64:
      return DType::kFloat64;
    case vkgraph::VkDataType::INT64:
      return DType::kInt64;
    case vkgraph::VkDataType::UNSET:
      break;
  }
  return invalid("tensor with the unknown dtype {}", static_cast<int>(type));
}

// Storage and layout are texture matters that a runtime on buffers ignores, but a number that the
// schema does not know means that the file is damaged or newer than it.
Status check_storage(const vkgraph::VkTensor& tensor) {
  if (vkgraph::EnumNameVkStorageType(tensor.storage_type())[0] == '\0') {
    return invalid("tensor with the unknown storage type {}",
                   static_cast<int>(tensor.storage_type()));
  }
  if (vkgraph::EnumNameVkMemoryLayout(tensor.memory_layout())[0] == '\0') {
    return invalid("tensor with the unknown memory layout {}",
                   static_cast<int>(tensor.memory_layout()));
  }
  return {};
}

Result<Shape> decode_dims(const flatbuffers::Vector<uint32_t>* dims) {
  Shape shape;
  if (dims == nullptr) return shape;  // a scalar
  if (dims->size() > static_cast<size_t>(kMaxRank)) {
    return fail(ErrorCode::kNotSupported, "tensor of rank {}; at most {} is supported",
                dims->size(), kMaxRank);
  }
  for (uint32_t d : *dims) shape.push_back(d);
  if (!bounded_numel(shape, kMaxElements)) {
    return fail(ErrorCode::kNotSupported, "tensor {} has 2^32 elements or more", to_string(shape));
  }
  return shape;
}

Result<Value> decode_tensor(const vkgraph::VkTensor& table,
                            const std::vector<Constant>& constants) {
  Tensor tensor;
  ETWG_ASSIGN(tensor.dtype, decode_dtype(table.datatype()));
  tensor.staging = tensor.dtype;
  if (table.staging_datatype() != vkgraph::VkDataType::UNSET) {
    ETWG_ASSIGN(tensor.staging, decode_dtype(table.staging_datatype()));
  }
  if (size_of(tensor.dtype) == 8) {
    return fail(ErrorCode::kNotSupported,
                "tensor of {} on the GPU; export with the compile option downcast_64_bit",
                name_of(tensor.dtype));
  }
  ETWG_TRY(check_storage(table));
  ETWG_ASSIGN(tensor.max_dims, decode_dims(table.dims()));
  // An absent constant_id reads as 0 and means constant 0; "not constant" is stored as -1. (The
  // same goes for mem_obj_id, which is not used: memory is planned anew.)
  if (table.constant_id() < 0) return tensor;
  tensor.constant = table.constant_id();
  if (static_cast<size_t>(tensor.constant) >= constants.size()) {
    return invalid("tensor of constant {}, but there are {}", tensor.constant, constants.size());
  }
  const uint64_t held = constants[static_cast<size_t>(tensor.constant)].nbytes;
  const uint64_t needed = static_cast<uint64_t>(tensor.max_dims.numel()) * size_of(tensor.dtype);
  if (held != needed) {
    return invalid("tensor {}{} takes {} bytes, but constant {} has {}", name_of(tensor.dtype),
                   to_string(tensor.max_dims), needed, tensor.constant, held);
  }
  return tensor;
}

Result<Value> decode_value_list(const vkgraph::ValueList& table, size_t value_count,
                                DecodeBudget& budget) {
  ValueList list;
  ETWG_ASSIGN(list.items, decode_items<ValueId>(table.items(), budget));
  for (ValueId item : list.items) {
    if (item < 0 || static_cast<size_t>(item) >= value_count) {
      return invalid("list item {} is not one of the {} values", item, value_count);
    }
  }
  return list;
}

Result<Value> decode_string(const flatbuffers::String* string, DecodeBudget& budget) {
  if (string == nullptr) return std::string();
  if (!budget.take(string->size())) {
    return invalid("string of {} bytes: the strings together are longer than the file",
                   string->size());
  }
  return string->str();
}

}  // namespace

Result<Constant> decode_constant(const vkgraph::VkBytes* bytes, uint64_t raw_size) {
  if (bytes == nullptr) return invalid("absent");
  Constant constant;
  constant.nbytes = bytes->length();
  // An empty tensor has no bytes to find, whatever the rest says.
  if (constant.nbytes == 0) return constant;
  if (bytes->offset() != kNamedOffset) {
    const auto end = checked_add(bytes->offset(), bytes->length());
    if (!end || *end > raw_size) {
      return invalid("{} bytes at {} of a raw region of {} bytes", bytes->length(), bytes->offset(),
                     raw_size);
    }
    constant.offset = bytes->offset();
    return constant;
  }
  const flatbuffers::String* key = bytes->named_key();
  if (key == nullptr || key->size() == 0) return invalid("neither an offset nor a key");
  if (key->size() > kMaxNameLength) return invalid("key of {} characters", key->size());
  constant.key = key->str();
  return constant;
}

Result<Value> decode_value(const vkgraph::VkValue* value, const std::vector<Constant>& constants,
                           size_t value_count, DecodeBudget& budget) {
  const auto type = value == nullptr ? vkgraph::GraphTypes::NONE : value->value_type();
  if (type == vkgraph::GraphTypes::Null) return Null{};
  if (type == vkgraph::GraphTypes::NONE || value->value() == nullptr) {
    return invalid("has no content");
  }
  switch (type) {
    case vkgraph::GraphTypes::Int:
      return value->value_as_Int()->int_val();
    case vkgraph::GraphTypes::Double:
      return value->value_as_Double()->double_val();
    case vkgraph::GraphTypes::Bool:
      return value->value_as_Bool()->bool_val();
    case vkgraph::GraphTypes::VkTensor:
      return decode_tensor(*value->value_as_VkTensor(), constants);
    case vkgraph::GraphTypes::IntList:
      return decode_items<int64_t>(value->value_as_IntList()->items(), budget);
    case vkgraph::GraphTypes::DoubleList:
      return decode_items<double>(value->value_as_DoubleList()->items(), budget);
    case vkgraph::GraphTypes::BoolList:
      return decode_items<bool>(value->value_as_BoolList()->items(), budget);
    case vkgraph::GraphTypes::ValueList:
      return decode_value_list(*value->value_as_ValueList(), value_count, budget);
    case vkgraph::GraphTypes::String:
      return decode_string(value->value_as_String()->string_val(), budget);
    case vkgraph::GraphTypes::SymInt:
      return SymInt{value->value_as_SymInt()->value()};
    default:
      return invalid("is of the unknown kind {}", static_cast<int>(type));
  }
}

}  // namespace executorch::backends::webgpu
