#include "program/decode_value.h"

#include <array>

namespace executorch::backends::webgpu {
namespace {

namespace fb = executorch_flatbuffer;

std::optional<DType> dtype_of(fb::ScalarType type) {
  switch (type) {
    case fb::ScalarType::BOOL:
      return DType::kBool;
    case fb::ScalarType::BYTE:
      return DType::kUInt8;
    case fb::ScalarType::CHAR:
      return DType::kInt8;
    case fb::ScalarType::INT:
      return DType::kInt32;
    case fb::ScalarType::LONG:
      return DType::kInt64;
    case fb::ScalarType::HALF:
      return DType::kFloat16;
    case fb::ScalarType::FLOAT:
      return DType::kFloat32;
    case fb::ScalarType::DOUBLE:
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

Result<Shape> decode_sizes(const flatbuffers::Vector<int32_t>* sizes) {
  Shape shape;
  if (sizes == nullptr) return shape;
  if (sizes->size() > static_cast<size_t>(kMaxRank)) {
    return fail(ErrorCode::kNotSupported, "tensor of rank {}; at most {} is supported",
                sizes->size(), kMaxRank);
  }
  for (int32_t size : *sizes) {
    if (size < 0) return invalid("tensor with the negative size {}", size);
    shape.push_back(size);
  }
  // Room for the size in bytes, at up to 8 an element.
  if (!bounded_numel(shape, uint64_t{1} << 59)) {
    return fail(ErrorCode::kNotSupported, "tensor {} is too large", to_string(shape));
  }
  return shape;
}

// An absent dim order is the plain one.
Result<std::vector<uint8_t>> decode_dim_order(const flatbuffers::Vector<uint8_t>* order, int rank) {
  std::vector<uint8_t> result;
  if (order == nullptr) {
    for (int i = 0; i < rank; ++i) result.push_back(static_cast<uint8_t>(i));
    return result;
  }
  std::array<bool, kMaxRank> seen{};
  if (order->size() != static_cast<size_t>(rank)) {
    return invalid("tensor of rank {} with a dim order of {}", rank, order->size());
  }
  for (uint8_t dim : *order) {
    if (dim >= rank || seen[dim]) return invalid("tensor whose dim order is not a permutation");
    seen[dim] = true;
    result.push_back(dim);
  }
  return result;
}

// Where a tensor's initial bytes start; they may go on beyond its end. `index` is not zero.
Result<Bytes> find_data(const fb::Tensor& table, const ProgramBuffer& program,
                        const std::vector<Bytes>& segments) {
  const uint32_t index = table.data_buffer_idx();
  const bool is_mutable = table.allocation_info() != nullptr;
  if (const auto* buffers = program->constant_buffer();
      !is_mutable && buffers != nullptr && buffers->size() != 0) {
    const auto* buffer = index < buffers->size() ? buffers->Get(index) : nullptr;
    if (buffer == nullptr || buffer->storage() == nullptr) {
      return invalid("tensor of constant buffer {}, which is not there", index);
    }
    return program.bytes_of(*buffer->storage());
  }
  const fb::SubsegmentOffsets* offsets = program->constant_segment();
  if (is_mutable) {
    const uint64_t which = table.extra_tensor_info() == nullptr
                               ? 0
                               : table.extra_tensor_info()->mutable_data_segments_idx();
    const auto* all = program->mutable_data_segments();
    offsets = all != nullptr && which < all->size()
                  ? all->Get(static_cast<flatbuffers::uoffset_t>(which))
                  : nullptr;
  }
  if (offsets == nullptr || offsets->offsets() == nullptr || index >= offsets->offsets()->size() ||
      offsets->segment_index() >= segments.size()) {
    return invalid("tensor of {} data {}, which is not there", is_mutable ? "mutable" : "constant",
                   index);
  }
  const Bytes segment = segments[offsets->segment_index()];
  const uint64_t offset = item_of(*offsets->offsets(), index);
  if (offset > segment.size()) {
    return invalid("tensor data at {} of a segment of {} bytes", offset, segment.size());
  }
  return segment.subspan(static_cast<size_t>(offset));
}

Result<HostValue> decode_tensor(const fb::Tensor& table, const ProgramBuffer& program,
                                const std::vector<Bytes>& segments) {
  HostTensor tensor;
  tensor.scalar_type = static_cast<int>(table.scalar_type());
  tensor.dtype = dtype_of(table.scalar_type());
  if (fb::EnumNameScalarType(table.scalar_type())[0] == '\0') {
    return invalid("tensor with the unknown scalar type {}", tensor.scalar_type);
  }
  if (fb::EnumNameTensorShapeDynamism(table.shape_dynamism())[0] == '\0') {
    return invalid("tensor with the unknown dynamism {}", static_cast<int>(table.shape_dynamism()));
  }
  tensor.dynamism = static_cast<Dynamism>(table.shape_dynamism());
  if (table.storage_offset() != 0) {
    return fail(ErrorCode::kNotSupported, "tensor with the storage offset {}; only 0 is supported",
                table.storage_offset());
  }
  ETWG_ASSIGN(tensor.sizes, decode_sizes(table.sizes()));
  ETWG_ASSIGN(tensor.dim_order, decode_dim_order(table.dim_order(), tensor.sizes.rank()));

  const fb::ExtraTensorInfo* extra = table.extra_tensor_info();
  if (extra != nullptr && extra->location() == fb::TensorDataLocation::EXTERNAL) {
    const auto* name = extra->fully_qualified_name();
    if (name == nullptr || name->size() == 0 || name->size() > 4096) {
      return invalid("tensor stored outside of the file, without a proper name");
    }
    tensor.external_key = name->str();
    return tensor;
  }
  if (table.data_buffer_idx() == 0) return tensor;
  if (!tensor.dtype) {
    return fail(ErrorCode::kNotSupported, "tensor with data of the scalar type {}",
                fb::EnumNameScalarType(table.scalar_type()));
  }
  ETWG_ASSIGN(const Bytes from, find_data(table, program, segments));
  const uint64_t nbytes = static_cast<uint64_t>(tensor.sizes.numel()) * size_of(*tensor.dtype);
  const auto data = sub_bytes(from, 0, nbytes);
  if (!data) {
    return invalid("tensor {}{} takes {} bytes, but {} are stored", name_of(*tensor.dtype),
                   to_string(tensor.sizes), nbytes, from.size());
  }
  tensor.data = *data;
  return tensor;
}

// `lowest` is -1 where None may stand in the list.
template <typename Items>
Result<std::vector<HostId>> decode_id_list(const Items* items, int lowest, size_t value_count,
                                           DecodeBudget& budget) {
  ETWG_ASSIGN(const auto wide, decode_items<int64_t>(items, budget));
  std::vector<HostId> ids;
  ids.reserve(wide.size());
  for (int64_t id : wide) {
    if (id < lowest || id >= static_cast<int64_t>(value_count)) {
      return invalid("list item {} is not one of the {} values", id, value_count);
    }
    ids.push_back(static_cast<HostId>(id));
  }
  return ids;
}

}  // namespace

Result<HostValue> decode_host_value(const fb::EValue* value, const ProgramBuffer& program,
                                    const std::vector<Bytes>& segments, size_t value_count,
                                    DecodeBudget& budget) {
  const auto type = value == nullptr ? fb::KernelTypes::NONE : value->val_type();
  if (type == fb::KernelTypes::Null) return HostNull{};
  if (type == fb::KernelTypes::NONE || value->val() == nullptr) return invalid("has no content");
  switch (type) {
    case fb::KernelTypes::Int:
      return value->val_as_Int()->int_val();
    case fb::KernelTypes::Bool:
      return value->val_as_Bool()->bool_val();
    case fb::KernelTypes::Double:
      return value->val_as_Double()->double_val();
    case fb::KernelTypes::Tensor:
      return decode_tensor(*value->val_as_Tensor(), program, segments);
    case fb::KernelTypes::String: {
      ETWG_ASSIGN(auto text, decode_items<char>(value->val_as_String()->string_val(), budget));
      return std::string(text.begin(), text.end());
    }
    case fb::KernelTypes::IntList: {
      ETWG_ASSIGN(auto ids,
                  decode_id_list(value->val_as_IntList()->items(), 0, value_count, budget));
      return HostIntList{std::move(ids)};
    }
    case fb::KernelTypes::DoubleList:
      return decode_items<double>(value->val_as_DoubleList()->items(), budget);
    case fb::KernelTypes::BoolList:
      return decode_items<bool>(value->val_as_BoolList()->items(), budget);
    case fb::KernelTypes::TensorList: {
      ETWG_ASSIGN(auto ids,
                  decode_id_list(value->val_as_TensorList()->items(), 0, value_count, budget));
      return HostTensorList{std::move(ids)};
    }
    case fb::KernelTypes::OptionalTensorList: {
      ETWG_ASSIGN(auto ids, decode_id_list(value->val_as_OptionalTensorList()->items(), -1,
                                           value_count, budget));
      return HostTensorList{std::move(ids)};
    }
    default:
      return invalid("is of the unknown kind {}", static_cast<int>(type));
  }
}

Status check_host_lists(const std::vector<HostValue>& values) {
  for (size_t id = 0; id < values.size(); ++id) {
    if (const auto* ints = std::get_if<HostIntList>(&values[id])) {
      for (HostId item : ints->items) {
        if (!std::holds_alternative<int64_t>(values[static_cast<size_t>(item)])) {
          return invalid("value {}: its item, value {}, is not an integer", id, item);
        }
      }
    } else if (const auto* tensors = std::get_if<HostTensorList>(&values[id])) {
      for (HostId item : tensors->items) {
        if (item < 0) continue;
        const HostValue& value = values[static_cast<size_t>(item)];
        if (!std::holds_alternative<HostTensor>(value) &&
            !std::holds_alternative<HostNull>(value)) {
          return invalid("value {}: its item, value {}, is not a tensor", id, item);
        }
      }
    }
  }
  return {};
}

}  // namespace executorch::backends::webgpu
