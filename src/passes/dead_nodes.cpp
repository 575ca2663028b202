#include <algorithm>

#include "passes/passes.h"
#include "passes/uses.h"

namespace executorch::backends::webgpu {

void remove_dead_nodes(Graph& graph) {
  const Uses uses(graph);
  std::vector<int> readers = uses.readers;
  // Backwards, so that a chain that leads nowhere goes at once.
  std::vector<bool> dead(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    // Writing a value that something else writes too is an update of state: an effect.
    const auto is_needed = [&](ValueId id) {
      return readers[static_cast<size_t>(id)] > 0 || uses.writers[static_cast<size_t>(id)] > 1 ||
             uses.is_input[static_cast<size_t>(id)];
    };
    if (std::any_of(node.outputs.begin(), node.outputs.end(), is_needed)) continue;
    dead[i] = true;
    for (ValueId arg : node.args) {
      for_each_value(graph, arg, [&](ValueId id) { --readers[static_cast<size_t>(id)]; });
    }
  }
  size_t next = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return dead[next++]; });
}

}  // namespace executorch::backends::webgpu
