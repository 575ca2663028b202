#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/shape.h"

namespace executorch::backends::webgpu {

using ValueId = int32_t;  // index into Graph::values
inline constexpr ValueId kNoValue = -1;

struct Null {};

// A tensor on the GPU. Always dense, row-major over `max_dims` (or the live sizes at run time).
struct Tensor {
  DType dtype = DType::kFloat32;  // how it is stored on the GPU
  DType staging =
      DType::kFloat32;    // what the payload says the host passes, where it is an input/output
  Shape max_dims;         // upper bounds; equal to the live sizes when not dynamic
  int32_t constant = -1;  // index into Graph::constants, or -1
};

// An integer that is known only at run time (a live size, or computed from one).
struct SymInt {
  int64_t max_value = 0;  // the value stored by the exporter
};

struct ValueList {
  std::vector<ValueId> items;  // tensors, or Ints and SymInts (a symbolic size list)
};

using Value = std::variant<Null, int64_t, double, bool, Tensor, std::vector<int64_t>,
                           std::vector<double>, std::vector<bool>, ValueList, std::string, SymInt>;

// Bytes of a constant tensor, in row-major order of its dims.
struct Constant {
  std::string key;      // name in the program's named data; empty when the bytes lie in the payload
  uint64_t offset = 0;  // into the payload's raw region, when key is empty
  uint64_t nbytes = 0;
};

// One operator call. `args` are the arguments in the order of the operator's schema.
struct Node {
  std::string op;  // e.g. "aten.add.Tensor"
  std::vector<ValueId> args;
  std::vector<ValueId> outputs;  // a list output is flattened
  uint32_t debug_id = 0;         // the delegate debug id, for profiling and messages

  // Pointwise nodes and views that passes fused onto this one, in order. Each takes the result so
  // far (the value `outputs[0]` of the node or follower before it) as an argument; the fused whole
  // writes only result(). Every value of the chain has the same elements in the same row-major
  // order, though views may give it other sizes: a kernel's geometry comes from outputs[0], not
  // from result().
  std::vector<Node> followers;

  // The tensor that a fused chain writes; for a node without followers its first output.
  ValueId result() const { return followers.empty() ? outputs[0] : followers.back().outputs[0]; }
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;       // in execution order
  std::vector<ValueId> inputs;   // tensors and SymInts
  std::vector<ValueId> outputs;  // tensors and SymInts
  std::vector<Constant> constants;

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  // The tensor with this id, or nullptr when the value is something else.
  const Tensor* tensor(ValueId id) const { return std::get_if<Tensor>(&value(id)); }
  ValueId add(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
  }
};

// A multi-line listing of the graph (values by id, nodes in order), for `etwebgpu inspect` and
// tests.
std::string to_string(const Graph& graph);

}  // namespace executorch::backends::webgpu
