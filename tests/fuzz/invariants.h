#pragma once

#include <cstdio>
#include <cstdlib>
#include <set>

#include "payload/payload.h"

namespace executorch::backends::webgpu {

// Ends the process, saying why, unless everything holds that parse_payload promises. Written apart
// from the parser's own checks, from its contract.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline void require_invariants(const Payload& payload) {
  const Graph& graph = payload.graph;
  const auto in_range = [&](ValueId id) {
    return id >= 0 && static_cast<size_t>(id) < graph.values.size();
  };
  std::set<ValueId> readable;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    bool at_run_time = std::holds_alternative<SymInt>(value);
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      at_run_time = tensor->constant < 0;
      require(size_of(tensor->dtype) <= 4, "no 64-bit tensor");
      const Shape strides = contiguous_strides(tensor->max_dims);  // must not overflow
      require(strides.rank() == tensor->max_dims.rank(), "strides");
      const int64_t numel = tensor->max_dims.numel();
      require(numel >= 0 && numel < (int64_t{1} << 32), "fewer than 2^32 elements");
      if (tensor->constant >= 0) {
        require(static_cast<size_t>(tensor->constant) < graph.constants.size(),
                "constant in range");
        const Constant& constant = graph.constants[static_cast<size_t>(tensor->constant)];
        require(constant.nbytes == static_cast<uint64_t>(numel) * size_of(tensor->dtype),
                "constant as long as its tensor");
      }
    }
    if (const auto* list = std::get_if<ValueList>(&value)) {
      for (ValueId item : list->items) {
        require(in_range(item), "list item in range");
        require(!std::holds_alternative<ValueList>(graph.value(item)), "no list in a list");
      }
    }
    if (!at_run_time) readable.insert(static_cast<ValueId>(i));
  }
  for (const Constant& constant : graph.constants) {
    if (!constant.key.empty()) continue;
    require(constant.offset <= payload.raw.size() &&
                constant.nbytes <= payload.raw.size() - constant.offset,
            "raw constant in the raw region");
  }
  for (ValueId id : graph.inputs) {
    require(in_range(id), "input in range");
    require(graph.tensor(id) != nullptr || std::holds_alternative<SymInt>(graph.value(id)),
            "input is a tensor or SymInt");
    require(readable.insert(id).second, "inputs are distinct and not constant");
  }
  for (const Node& node : graph.nodes) {
    require(!node.op.empty() && !node.outputs.empty() && node.args.size() < 64, "node is sane");
    for (ValueId arg : node.args) {
      require(in_range(arg), "argument in range");
      const auto* list = std::get_if<ValueList>(&graph.value(arg));
      if (list == nullptr) require(readable.count(arg) != 0, "written before read");
      if (list != nullptr) {
        for (ValueId item : list->items) {
          require(readable.count(item) != 0, "list item written before read");
        }
      }
    }
    for (ValueId out : node.outputs) {
      require(in_range(out), "output in range");
      const Tensor* tensor = graph.tensor(out);
      require(tensor == nullptr || tensor->constant < 0, "no write to a constant");
      require(tensor != nullptr || std::holds_alternative<SymInt>(graph.value(out)) ||
                  std::holds_alternative<int64_t>(graph.value(out)),
              "written value is a tensor or integer");
      readable.insert(out);
    }
  }
  for (ValueId id : graph.outputs) {
    require(in_range(id) && readable.count(id) != 0, "output in range and written");
    require(graph.tensor(id) != nullptr || std::holds_alternative<SymInt>(graph.value(id)),
            "output is a tensor or SymInt");
  }
  require(!to_string(graph).empty(), "listing");
}

}  // namespace executorch::backends::webgpu
