#include "passes/uses.h"

namespace executorch::backends::webgpu {

Uses::Uses(const Graph& graph)
    : readers(graph.values.size()), writers(graph.values.size()), is_input(graph.values.size()) {
  for (ValueId id : graph.inputs) is_input[static_cast<size_t>(id)] = true;
  for (ValueId id : graph.outputs) ++readers[static_cast<size_t>(id)];
  for (const Node& node : graph.nodes) {
    const auto visit = [&](const Node& part) {
      for (ValueId arg : part.args) {
        for_each_value(graph, arg, [&](ValueId id) { ++readers[static_cast<size_t>(id)]; });
      }
      for (ValueId id : part.outputs) {
        ++writers[static_cast<size_t>(id)];
      }
    };
    visit(node);
    for (const Node& follower : node.followers) visit(follower);
  }
}

}  // namespace executorch::backends::webgpu
