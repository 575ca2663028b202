#pragma once

#include <vector>

#include "ir/graph.h"

namespace executorch::backends::webgpu {

// Who reads and writes each value of a graph; a snapshot, stale once the graph changes.
struct Uses {
  explicit Uses(const Graph& graph);

  // By value id. Readers count each node once per argument; graph outputs count as a reader.
  std::vector<int> readers;
  // How many nodes write the value.
  std::vector<int> writers;
  std::vector<bool> is_input;
};

// Calls visit(id) for each tensor or integer that an argument stands for (lists are opened).
template <typename Visit>
void for_each_value(const Graph& graph, ValueId arg, const Visit& visit) {
  if (const auto* list = std::get_if<ValueList>(&graph.value(arg))) {
    for (ValueId item : list->items) visit(item);
  } else {
    visit(arg);
  }
}

}  // namespace executorch::backends::webgpu
