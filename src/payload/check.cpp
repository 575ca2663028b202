#include "payload/check.h"

#include <string_view>

namespace executorch::backends::webgpu {
namespace {

bool is_list(const Value& value) {
  return std::holds_alternative<ValueList>(value) || std::holds_alternative<std::string>(value) ||
         std::holds_alternative<std::vector<int64_t>>(value) ||
         std::holds_alternative<std::vector<double>>(value) ||
         std::holds_alternative<std::vector<bool>>(value);
}

// Since no list holds a list, walking one ends.
Status check_lists(const Graph& graph) {
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const auto* list = std::get_if<ValueList>(&graph.values[id]);
    if (list == nullptr) continue;
    for (ValueId item : list->items) {
      if (is_list(graph.value(item))) {
        return invalid("value {}: its item, value {}, is itself a list", id, item);
      }
    }
  }
  return {};
}

// Follows the nodes in order and keeps which values hold something.
class Definitions {
 public:
  explicit Definitions(const Graph& graph) : graph_(graph), given_(graph.values.size(), false) {
    for (size_t id = 0; id < graph.values.size(); ++id) {
      const Value& value = graph.values[id];
      const auto* tensor = std::get_if<Tensor>(&value);
      const bool made_at_run_time =
          std::holds_alternative<SymInt>(value) || (tensor != nullptr && tensor->constant < 0);
      given_[id] = !made_at_run_time;
    }
  }

  void define(ValueId id) { given_[static_cast<size_t>(id)] = true; }
  bool given(ValueId id) const { return given_[static_cast<size_t>(id)]; }

  // The first value that reading `id` (or a list's items) would find empty, or kNoValue.
  ValueId first_missing(ValueId id) const {
    if (const auto* list = std::get_if<ValueList>(&graph_.value(id))) {
      for (ValueId item : list->items) {
        if (!given(item)) return item;
      }
      return kNoValue;
    }
    return given(id) ? kNoValue : id;
  }

 private:
  const Graph& graph_;
  std::vector<bool> given_;
};

// `id` may be anything; `role` is "input" or "output".
Status check_io(const Graph& graph, std::string_view role, size_t index, ValueId id) {
  if (id < 0 || static_cast<size_t>(id) >= graph.values.size()) {
    return invalid("{} {} names value {} of {}", role, index, id, graph.values.size());
  }
  if (graph.tensor(id) == nullptr && !std::holds_alternative<SymInt>(graph.value(id))) {
    return invalid("{} {}, value {}, is neither a tensor nor a SymInt", role, index, id);
  }
  return {};
}

Status define_inputs(const Graph& graph, Definitions& definitions) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    ETWG_TRY(check_io(graph, "input", i, id));
    if (const Tensor* tensor = graph.tensor(id); tensor != nullptr && tensor->constant >= 0) {
      return invalid("input {}, value {}, is constant {}", i, id, tensor->constant);
    }
    if (definitions.given(id)) return invalid("input {} repeats value {}", i, id);
    definitions.define(id);
  }
  return {};
}

}  // namespace

Status check_graph(const Graph& graph) {
  ETWG_TRY(check_lists(graph));
  Definitions definitions(graph);
  ETWG_TRY(define_inputs(graph, definitions));
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (ValueId arg : node.args) {
      if (const ValueId missing = definitions.first_missing(arg); missing != kNoValue) {
        return invalid("node {} ({}) reads value {} before anything wrote it", i, node.op, missing);
      }
    }
    for (ValueId output : node.outputs) definitions.define(output);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId id = graph.outputs[i];
    ETWG_TRY(check_io(graph, "output", i, id));
    if (!definitions.given(id)) return invalid("output {}, value {}, is never written", i, id);
  }
  return {};
}

}  // namespace executorch::backends::webgpu
