#include "passes/uses.h"

namespace executorch::backends::webgpu {

Uses::Uses(const Graph& graph)
    : readers(graph.values.size()),
      writer(graph.values.size(), -1),
      writers(graph.values.size()),
      is_input(graph.values.size()) {
  for (ValueId id : graph.inputs) is_input[static_cast<size_t>(id)] = true;
  for (ValueId id : graph.outputs) ++readers[static_cast<size_t>(id)];
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto visit = [&](const Node& node) {
      for (ValueId arg : node.args) {
        for_each_value(graph, arg, [&](ValueId id) { ++readers[static_cast<size_t>(id)]; });
      }
      for (ValueId id : node.outputs) {
        writer[static_cast<size_t>(id)] = static_cast<int>(i);
        ++writers[static_cast<size_t>(id)];
      }
    };
    visit(graph.nodes[i]);
    for (const Node& follower : graph.nodes[i].followers) visit(follower);
  }
}

}  // namespace executorch::backends::webgpu
