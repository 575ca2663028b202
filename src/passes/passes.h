#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "ir/op_traits.h"

namespace executorch::backends::webgpu {

struct PassOptions {
  bool fuse = true;
  uint32_t max_bindings = 8;  // storage buffers a kernel may bind
};

// Rewrites the graph to do the same with less: removes dead nodes, fuses pointwise nodes onto what
// produces their operands. The graph must have been checked.
void run_passes(Graph& graph, const TraitsOf& traits, const PassOptions& options);

// Removes nodes whose outputs nothing reads.
void remove_dead_nodes(Graph& graph);

// Moves pointwise nodes (and the views before them) into Node::followers of the node that produces
// their operand, where that node takes followers and nothing else reads the operand. The fused node
// stands where the last follower stood.
void fuse_followers(Graph& graph, const TraitsOf& traits, const PassOptions& options);

}  // namespace executorch::backends::webgpu
