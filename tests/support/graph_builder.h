#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace executorch::backends::webgpu::test {

// A value of a graph under construction, apart from plain integers.
struct V {
  ValueId id = kNoValue;
};

using Ints = std::vector<int64_t>;

// An argument of an operator: a value of the graph, or a literal that becomes one.
class Arg {
 public:
  Arg(V v) : id_(v.id) {}
  Arg(int v) : literal_(static_cast<int64_t>(v)) {}
  Arg(int64_t v) : literal_(v) {}
  Arg(double v) : literal_(v) {}
  Arg(bool v) : literal_(v) {}
  Arg(const char* v) : literal_(std::string(v)) {}
  Arg(Ints v) : literal_(std::move(v)) {}
  Arg(std::vector<V> items) {
    ValueList list;
    for (V item : items) list.items.push_back(item.id);
    literal_ = std::move(list);
  }
  Arg(std::nullopt_t) : literal_(Null{}) {}

  V in(Graph& graph) const { return {id_ != kNoValue ? id_ : graph.add(literal_)}; }

 private:
  ValueId id_ = kNoValue;
  Value literal_ = Null{};
};

// Builds a Graph in few lines. Constants are float64 values, stored by `encode`.
struct GraphBuilder {
  Graph graph;
  std::vector<std::vector<std::byte>> constants;

  V tensor(DType dtype, Shape dims, int32_t constant = -1) {
    Tensor tensor;
    tensor.dtype = tensor.staging = dtype;
    tensor.max_dims = dims;
    tensor.constant = constant;
    return {graph.add(tensor)};
  }
  V input(DType dtype, Shape dims) {
    const V v = tensor(dtype, dims);
    graph.inputs.push_back(v.id);
    return v;
  }
  V symbol_input(int64_t max) {
    const V v = {graph.add(SymInt{max})};
    graph.inputs.push_back(v.id);
    return v;
  }
  template <typename T>
  V constant(DType dtype, Shape dims, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    Constant constant;
    constant.key = std::to_string(constants.size());
    constant.nbytes = bytes.size();
    graph.constants.push_back(constant);
    constants.push_back(std::move(bytes));
    return tensor(dtype, dims, static_cast<int32_t>(constants.size() - 1));
  }
  // Adds a call with the given outputs.
  void call(const char* op, const std::vector<Arg>& args, const std::vector<V>& outputs) {
    Node node;
    node.op = op;
    for (const Arg& arg : args) node.args.push_back(arg.in(graph).id);
    for (V out : outputs) node.outputs.push_back(out.id);
    node.debug_id = static_cast<uint32_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
  }
  // Adds a call with one tensor output of this type and these maximum sizes.
  V op(const char* name, const std::vector<Arg>& args, DType dtype, Shape dims) {
    const V out = tensor(dtype, dims);
    call(name, args, {out});
    return out;
  }
  V f32(const char* name, const std::vector<Arg>& args, Shape dims) {
    return op(name, args, DType::kFloat32, dims);
  }
  // Adds a call that yields an integer.
  V symbol(const char* name, const std::vector<Arg>& args, int64_t max) {
    const V out = {graph.add(SymInt{max})};
    call(name, args, {out});
    return out;
  }
  void output(V v) { graph.outputs.push_back(v.id); }
};

}  // namespace executorch::backends::webgpu::test
