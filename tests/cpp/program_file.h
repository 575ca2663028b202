#pragma once

#include <readers/flat_tensor_generated.h>
#include <readers/program_generated.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace executorch::backends::webgpu {

// Writes .pte and .ptd files for tests, right or wrong ones: nothing is checked.

namespace fb = executorch_flatbuffer;
using Builder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;
using ByteVector = std::vector<std::byte>;

inline void put(ByteVector& bytes, size_t at, uint64_t number, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<std::byte>(number >> (8 * i));
}

// A finished FlatBuffer with `header` zero bytes spliced in behind its identifier, and the root
// offset corrected for it, as the writers of .pte and .ptd files do.
inline ByteVector spliced(const Builder& b, size_t header) {
  const auto* begin = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  ByteVector bytes(begin, begin + 8);
  put(bytes, 0, load_le<uint32_t>(bytes, 0) + header, 4);
  bytes.resize(8 + header);
  bytes.insert(bytes.end(), begin + 8, begin + b.GetSize());
  return bytes;
}

// A program with one method; what the cases below alter is data, the rest is fixed.
struct FileSpec {
  std::string name = "forward";
  // Values: 0 tensor x, 1 tensor y, 2 int, 3 list of ints, 4 constant tensor, 5 tensor list, then
  // `more`.
  std::vector<int32_t> sizes = {2, 3};
  std::vector<uint8_t> dim_order = {0, 1};
  fb::ScalarType scalar_type = fb::ScalarType::FLOAT;
  fb::TensorShapeDynamism dynamism = fb::TensorShapeDynamism::DYNAMIC_BOUND;
  int32_t storage_offset = 0;
  std::vector<int64_t> int_list = {2, 2};
  std::vector<int32_t> optional_tensors = {0, -1};
  std::vector<int32_t> constant_sizes = {4};
  uint32_t constant_index = 1;
  std::vector<uint64_t> constant_offsets = {0, 16};
  std::string external_name;  // of value 4, when it lies outside of the file
  fb::KernelTypes kind_of_2 = fb::KernelTypes::Int;

  std::vector<int32_t> inputs = {0}, outputs = {1};
  std::vector<int32_t> delegate_args = {0, 1};
  int32_t delegate_index = 0;
  std::string delegate_id = "VulkanBackend";
  fb::DataLocation location = fb::DataLocation::SEGMENT;
  uint32_t blob_index = 1;
  bool cpu_operator = false;
  int32_t op_index = 0;
  int32_t move_to = -2;  // a MoveCall to there, when it is not -2
  int32_t jump_to = -2;  // a JumpFalseCall likewise
  int chains = 1;
  int methods = 1;

  std::vector<std::pair<uint64_t, uint64_t>> segments = {{0, 32}, {32, 16}, {48, 8}};
  std::vector<std::pair<std::string, uint32_t>> named = {{"weight", 2}};
  size_t segment_bytes = 56;
  uint32_t header_length = 32;
  const char* identifier = "ET12";

  Offset<fb::EValue> tensor(Builder& b, const std::vector<int32_t>& dims,
                            const std::vector<uint8_t>& order, uint32_t data,
                            const std::string& external = "") const {
    const auto extra = external.empty()
                           ? Offset<fb::ExtraTensorInfo>()
                           : fb::CreateExtraTensorInfoDirect(b, 0, external.c_str(),
                                                             fb::TensorDataLocation::EXTERNAL);
    const auto table =
        fb::CreateTensorDirect(b, scalar_type, storage_offset, &dims, &order, false, data, 0, 0,
                               data == 0 ? dynamism : fb::TensorShapeDynamism::STATIC, extra);
    return fb::CreateEValue(b, fb::KernelTypes::Tensor, table.Union());
  }

  Offset<fb::ExecutionPlan> plan(Builder& b) const {
    std::vector<Offset<fb::EValue>> values = {
        tensor(b, sizes, dim_order, 0),
        tensor(b, {2, 3}, {0, 1}, 0),
        fb::CreateEValue(b, kind_of_2, fb::CreateInt(b, 5).Union()),
        fb::CreateEValue(b, fb::KernelTypes::IntList,
                         fb::CreateIntListDirect(b, &int_list).Union()),
        tensor(b, constant_sizes, {0}, constant_index, external_name),
        fb::CreateEValue(b, fb::KernelTypes::OptionalTensorList,
                         fb::CreateOptionalTensorListDirect(b, &optional_tensors).Union()),
        fb::CreateEValue(b, fb::KernelTypes::Double, fb::CreateDouble(b, 0.5).Union()),
        fb::CreateEValue(b, fb::KernelTypes::Bool, fb::CreateBool(b, true).Union()),
        fb::CreateEValue(b, fb::KernelTypes::String, fb::CreateStringDirect(b, "none").Union()),
        fb::CreateEValue(b, fb::KernelTypes::Null, fb::CreateNull(b).Union()),
    };
    std::vector<Offset<fb::Instruction>> instructions;
    if (cpu_operator) {
      const std::vector<int32_t> args = {0, 2, 1};
      instructions.push_back(
          fb::CreateInstruction(b, fb::InstructionArguments::KernelCall,
                                fb::CreateKernelCallDirect(b, op_index, &args).Union()));
    }
    instructions.push_back(fb::CreateInstruction(
        b, fb::InstructionArguments::DelegateCall,
        fb::CreateDelegateCallDirect(b, delegate_index, &delegate_args).Union()));
    if (move_to != -2) {
      instructions.push_back(fb::CreateInstruction(b, fb::InstructionArguments::MoveCall,
                                                   fb::CreateMoveCall(b, 0, move_to).Union()));
    }
    if (jump_to != -2) {
      instructions.push_back(fb::CreateInstruction(b, fb::InstructionArguments::JumpFalseCall,
                                                   fb::CreateJumpFalseCall(b, 7, jump_to).Union()));
    }
    std::vector<Offset<fb::Chain>> chain_tables;
    for (int i = 0; i < chains; ++i) {
      chain_tables.push_back(fb::CreateChainDirect(b, nullptr, nullptr, &instructions));
    }
    std::vector<Offset<fb::Operator>> operators;
    if (cpu_operator) operators.push_back(fb::CreateOperatorDirect(b, "aten::add", "out"));
    const std::vector<uint8_t> spec_value = {1, 2};
    const std::vector<Offset<fb::CompileSpec>> specs = {
        fb::CreateCompileSpecDirect(b, "skip_tag_memory_metadata", &spec_value)};
    const std::vector<Offset<fb::BackendDelegate>> delegates = {fb::CreateBackendDelegateDirect(
        b, delegate_id.c_str(), fb::CreateBackendDelegateDataReference(b, location, blob_index),
        &specs)};
    return fb::CreateExecutionPlanDirect(b, name.c_str(), 0, &values, &inputs, &outputs,
                                         &chain_tables, &operators, &delegates);
  }

  ByteVector build() const {
    Builder b;
    std::vector<Offset<fb::ExecutionPlan>> plans;
    for (int i = 0; i < methods; ++i) plans.push_back(plan(b));
    const std::vector<uint8_t> inline_blob = {9, 8, 7};
    const std::vector<Offset<fb::BackendDelegateInlineData>> inline_data = {
        fb::CreateBackendDelegateInlineDataDirect(b, &inline_blob)};
    std::vector<Offset<fb::DataSegment>> segment_tables;
    for (auto [offset, size] : segments) {
      segment_tables.push_back(fb::CreateDataSegment(b, offset, size));
    }
    std::vector<Offset<fb::NamedData>> named_tables;
    for (const auto& [key, segment] : named) {
      named_tables.push_back(fb::CreateNamedDataDirect(b, key.c_str(), segment));
    }
    const auto constants = fb::CreateSubsegmentOffsetsDirect(b, 0, &constant_offsets);
    b.Finish(fb::CreateProgramDirect(b, 0, &plans, nullptr, &inline_data, &segment_tables,
                                     constants, nullptr, &named_tables),
             identifier);
    ByteVector file = spliced(b, 32);
    const size_t program_size = file.size();
    file.resize(round_up(program_size, 16));
    const size_t base = file.size();
    for (size_t i = 0; i < segment_bytes; ++i) file.push_back(static_cast<std::byte>(i));
    std::memcpy(&file[8], "eh00", 4);
    put(file, 12, header_length, 4);
    put(file, 16, program_size, 8);
    put(file, 24, base, 8);
    put(file, 32, segment_bytes, 8);
    return file;
  }
};

// A .ptd file with one blob of 8 bytes, each `fill`.
inline ByteVector data_file(const char* key, uint32_t segment, uint64_t segment_size, int fill) {
  namespace ft = flat_tensor_flatbuffer;
  Builder b;
  const std::vector<Offset<ft::DataSegment>> segments = {ft::CreateDataSegment(b, 0, segment_size)};
  const std::vector<Offset<ft::NamedData>> named = {ft::CreateNamedDataDirect(b, key, segment)};
  b.Finish(ft::CreateFlatTensorDirect(b, 0, &segments, &named), "FT01");
  const size_t flatbuffer_size = b.GetSize();
  ByteVector file = spliced(b, 48);
  const size_t base = round_up(file.size(), 16);
  file.resize(base);
  file.resize(base + 8, static_cast<std::byte>(fill));
  std::memcpy(&file[8], "FH01", 4);
  put(file, 12, 40, 4);
  put(file, 16, 48, 8);
  put(file, 24, flatbuffer_size, 8);
  put(file, 32, base, 8);
  put(file, 40, 8, 8);
  return file;
}

}  // namespace executorch::backends::webgpu
