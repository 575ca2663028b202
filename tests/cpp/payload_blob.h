#pragma once

#include <readers/schema_generated.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace executorch::backends::webgpu {

// Writes delegate blobs for tests, right or wrong ones: nothing is checked.
struct BlobSpec {
  using Builder = flatbuffers::FlatBufferBuilder;
  // A value's kind and how its table is written.
  struct Value {
    vkgraph::GraphTypes type;
    std::function<flatbuffers::Offset<void>(Builder&)> write;
  };
  struct Call {
    std::string name;
    std::vector<int32_t> args;
    uint32_t node_id = 0;
  };
  struct Constant {
    uint64_t offset = UINT64_MAX;
    uint64_t length = 0;
    std::string key;
  };

  std::vector<Value> values;
  std::vector<Call> chain;
  std::vector<uint32_t> inputs, outputs;
  std::vector<Constant> constants;
  std::vector<std::byte> raw;
  int shaders = 0;
  bool raw_size_in_header = true;

  static Value null() {
    return {vkgraph::GraphTypes::Null, [](Builder& b) { return vkgraph::CreateNull(b).Union(); }};
  }
  static Value integer(int64_t value) {
    return {vkgraph::GraphTypes::Int,
            [=](Builder& b) { return vkgraph::CreateInt(b, value).Union(); }};
  }
  static Value real(double value) {
    return {vkgraph::GraphTypes::Double,
            [=](Builder& b) { return vkgraph::CreateDouble(b, value).Union(); }};
  }
  static Value boolean(bool value) {
    return {vkgraph::GraphTypes::Bool,
            [=](Builder& b) { return vkgraph::CreateBool(b, value).Union(); }};
  }
  static Value symint() {
    return {vkgraph::GraphTypes::SymInt,
            [](Builder& b) { return vkgraph::CreateSymInt(b, 0).Union(); }};
  }
  static Value string(std::string text) {
    return {vkgraph::GraphTypes::String,
            [=](Builder& b) { return vkgraph::CreateString(b, b.CreateString(text)).Union(); }};
  }
  static Value ints(std::vector<int64_t> items) {
    return {vkgraph::GraphTypes::IntList,
            [=](Builder& b) { return vkgraph::CreateIntList(b, b.CreateVector(items)).Union(); }};
  }
  static Value reals(std::vector<double> items) {
    return {vkgraph::GraphTypes::DoubleList, [=](Builder& b) {
              return vkgraph::CreateDoubleList(b, b.CreateVector(items)).Union();
            }};
  }
  static Value booleans(std::vector<uint8_t> items) {
    return {vkgraph::GraphTypes::BoolList,
            [=](Builder& b) { return vkgraph::CreateBoolList(b, b.CreateVector(items)).Union(); }};
  }
  static Value list(std::vector<int32_t> items) {
    return {vkgraph::GraphTypes::ValueList,
            [=](Builder& b) { return vkgraph::CreateValueList(b, b.CreateVector(items)).Union(); }};
  }
  struct TensorSpec {
    vkgraph::VkDataType dtype = vkgraph::VkDataType::FLOAT32;
    int32_t constant = -1;
    vkgraph::VkDataType staging = vkgraph::VkDataType::UNSET;
    vkgraph::VkStorageType storage = vkgraph::VkStorageType::DEFAULT_STORAGE;
    vkgraph::VkMemoryLayout layout = vkgraph::VkMemoryLayout::DEFAULT_LAYOUT;
  };
  static Value tensor(std::vector<uint32_t> dims, TensorSpec spec) {
    return {vkgraph::GraphTypes::VkTensor, [=](Builder& b) {
              return vkgraph::CreateVkTensor(b, spec.dtype, b.CreateVector(dims), spec.constant, -1,
                                             spec.storage, spec.layout, spec.staging)
                  .Union();
            }};
  }
  static Value tensor(std::vector<uint32_t> dims) { return tensor(std::move(dims), TensorSpec()); }
  static Value constant(std::vector<uint32_t> dims, int32_t index) {
    TensorSpec spec;
    spec.constant = index;
    return tensor(std::move(dims), spec);
  }

  std::vector<std::byte> flatbuffer() const {
    Builder b;
    std::vector<flatbuffers::Offset<vkgraph::VkValue>> value_tables;
    for (const Value& value : values) {
      const auto table = value.write(b);
      value_tables.push_back(vkgraph::CreateVkValue(b, value.type, table));
    }
    std::vector<flatbuffers::Offset<vkgraph::OperatorCall>> calls;
    for (const Call& call : chain) {
      calls.push_back(
          vkgraph::CreateOperatorCallDirect(b, call.node_id, call.name.c_str(), &call.args));
    }
    std::vector<flatbuffers::Offset<vkgraph::VkBytes>> bytes, shader_bytes;
    for (const Constant& constant : constants) {
      bytes.push_back(
          vkgraph::CreateVkBytesDirect(b, constant.offset, constant.length,
                                       constant.key.empty() ? nullptr : constant.key.c_str()));
    }
    for (int i = 0; i < shaders; ++i) shader_bytes.push_back(vkgraph::CreateVkBytes(b));
    b.Finish(vkgraph::CreateVkGraphDirect(b, "0", &calls, &value_tables, &inputs, &outputs, &bytes,
                                          &shader_bytes),
             "VK00");
    const auto* begin = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
    return {begin, begin + b.GetSize()};
  }

  std::vector<std::byte> build() const {
    const std::vector<std::byte> body = flatbuffer();
    const size_t bytes_offset = 32 + round_up(body.size(), 16);
    std::vector<std::byte> blob(bytes_offset + raw.size());
    const auto put = [&](size_t at, uint64_t number, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        blob[at + i] = static_cast<std::byte>(number >> (8 * i));
      }
    };
    std::memcpy(&blob[4], "VH00", 4);
    put(8, 30, 2);
    put(10, 32, 4);
    put(14, body.size(), 4);
    put(18, bytes_offset, 4);
    put(22, raw_size_in_header ? raw.size() : 0, 8);
    std::memcpy(&blob[32], body.data(), body.size());
    if (!raw.empty()) std::memcpy(&blob[bytes_offset], raw.data(), raw.size());
    return blob;
  }
};

}  // namespace executorch::backends::webgpu
