#pragma once

#include <readers/program_generated.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace executorch::backends::webgpu::test {

namespace program_fb = executorch_flatbuffer;

// Writes a .pte with one method, `forward`, that calls delegates. Nothing is checked.
class ProgramSpec {
 public:
  using Builder = flatbuffers::FlatBufferBuilder;
  template <typename T>
  using Offset = flatbuffers::Offset<T>;
  using ScalarType = program_fb::ScalarType;

  std::vector<int32_t> inputs, outputs;
  std::string backend = "VulkanBackend";
  std::vector<std::string> operators;  // CPU operators, as "name.overload"

  // These return the id of the value.
  int32_t tensor(std::vector<int32_t> sizes, bool dynamic = false,
                 ScalarType type = ScalarType::FLOAT, std::vector<uint8_t> dim_order = {}) {
    return add([=](Builder& b) {
      return tensor_table(b, sizes, type, dim_order, 0, dynamic,
                          Offset<program_fb::ExtraTensorInfo>());
    });
  }
  int32_t constant(std::vector<int32_t> sizes, std::span<const float> elements) {
    const Bytes bytes = std::as_bytes(elements);
    constants_.emplace_back(reinterpret_cast<const uint8_t*>(bytes.data()),
                            reinterpret_cast<const uint8_t*>(bytes.data() + bytes.size()));
    const auto index = static_cast<uint32_t>(constants_.size());  // 0 means: none
    return add([=](Builder& b) {
      return tensor_table(b, sizes, ScalarType::FLOAT, {}, index, false,
                          Offset<program_fb::ExtraTensorInfo>());
    });
  }
  // A constant in another file.
  int32_t external(std::vector<int32_t> sizes, std::string key) {
    return add([=](Builder& b) {
      const auto extra = program_fb::CreateExtraTensorInfoDirect(
          b, 0, key.c_str(), program_fb::TensorDataLocation::EXTERNAL);
      return tensor_table(b, sizes, ScalarType::FLOAT, {}, 1, false, extra);
    });
  }
  int32_t integer(int64_t value) {
    return add([=](Builder& b) {
      return program_fb::CreateEValue(b, program_fb::KernelTypes::Int,
                                      program_fb::CreateInt(b, value).Union());
    });
  }
  int32_t real(double value) {
    return add([=](Builder& b) {
      return program_fb::CreateEValue(b, program_fb::KernelTypes::Double,
                                      program_fb::CreateDouble(b, value).Union());
    });
  }

  // Returns the delegate's index.
  int32_t delegate(const std::vector<std::byte>& blob) {
    const auto* begin = reinterpret_cast<const uint8_t*>(blob.data());
    blobs_.emplace_back(begin, begin + blob.size());
    return static_cast<int32_t>(blobs_.size() - 1);
  }
  void call(int32_t delegate, std::vector<int32_t> args) {
    instructions_.push_back([=](Builder& b) {
      return program_fb::CreateInstruction(
          b, program_fb::InstructionArguments::DelegateCall,
          program_fb::CreateDelegateCallDirect(b, delegate, &args).Union());
    });
  }
  void call_kernel(int32_t op, std::vector<int32_t> args) {
    instructions_.push_back([=](Builder& b) {
      return program_fb::CreateInstruction(
          b, program_fb::InstructionArguments::KernelCall,
          program_fb::CreateKernelCallDirect(b, op, &args).Union());
    });
  }
  void move(int32_t from, int32_t to) {
    instructions_.push_back([=](Builder& b) {
      return program_fb::CreateInstruction(b, program_fb::InstructionArguments::MoveCall,
                                           program_fb::CreateMoveCall(b, from, to).Union());
    });
  }

  // A file without segments: the blobs and constants lie in the FlatBuffer.
  std::vector<std::byte> build() const {
    Builder b;
    std::vector<Offset<program_fb::EValue>> values;
    for (const auto& write : values_) values.push_back(write(b));
    std::vector<Offset<program_fb::Instruction>> instructions;
    for (const auto& write : instructions_) instructions.push_back(write(b));
    std::vector<Offset<program_fb::Operator>> operator_tables;
    for (const std::string& op : operators) {
      const size_t dot = op.find('.');
      operator_tables.push_back(program_fb::CreateOperatorDirect(b, op.substr(0, dot).c_str(),
                                                                 op.substr(dot + 1).c_str()));
    }
    std::vector<Offset<program_fb::BackendDelegate>> delegates;
    std::vector<Offset<program_fb::BackendDelegateInlineData>> blobs;
    for (const auto& blob : blobs_) {
      const auto place = program_fb::CreateBackendDelegateDataReference(
          b, program_fb::DataLocation::INLINE, static_cast<uint32_t>(blobs.size()));
      delegates.push_back(program_fb::CreateBackendDelegateDirect(b, backend.c_str(), place));
      b.ForceVectorAlignment(blob.size(), 1, 16);
      blobs.push_back(program_fb::CreateBackendDelegateInlineDataDirect(b, &blob));
    }
    const std::vector<Offset<program_fb::Chain>> chains = {
        program_fb::CreateChainDirect(b, nullptr, nullptr, &instructions)};
    const std::vector<Offset<program_fb::ExecutionPlan>> plans = {
        program_fb::CreateExecutionPlanDirect(b, "forward", 0, &values, &inputs, &outputs, &chains,
                                              &operator_tables, &delegates)};
    std::vector<Offset<program_fb::Buffer>> buffers = {program_fb::CreateBuffer(b)};
    for (const auto& constant : constants_) {
      b.ForceVectorAlignment(constant.size(), 1, 16);
      buffers.push_back(program_fb::CreateBufferDirect(b, &constant));
    }
    b.Finish(program_fb::CreateProgramDirect(b, 0, &plans, &buffers, &blobs), "ET12");
    const auto* begin = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
    return {begin, begin + b.GetSize()};
  }

 private:
  static Offset<program_fb::EValue> tensor_table(Builder& b, const std::vector<int32_t>& sizes,
                                                 ScalarType type,
                                                 const std::vector<uint8_t>& dim_order,
                                                 uint32_t data, bool dynamic,
                                                 Offset<program_fb::ExtraTensorInfo> extra) {
    const auto dynamism = dynamic ? program_fb::TensorShapeDynamism::DYNAMIC_BOUND
                                  : program_fb::TensorShapeDynamism::STATIC;
    const auto table =
        program_fb::CreateTensorDirect(b, type, 0, &sizes, dim_order.empty() ? nullptr : &dim_order,
                                       false, data, 0, 0, dynamism, extra);
    return program_fb::CreateEValue(b, program_fb::KernelTypes::Tensor, table.Union());
  }

  using WriteValue = std::function<Offset<program_fb::EValue>(Builder&)>;
  using WriteInstruction = std::function<Offset<program_fb::Instruction>(Builder&)>;

  int32_t add(WriteValue write) {
    values_.push_back(std::move(write));
    return static_cast<int32_t>(values_.size() - 1);
  }

  std::vector<WriteValue> values_;
  std::vector<WriteInstruction> instructions_;
  std::vector<std::vector<uint8_t>> blobs_, constants_;
};

}  // namespace executorch::backends::webgpu::test
