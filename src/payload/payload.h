#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace executorch::backends::webgpu {

// A delegate payload, decoded and checked.
struct Payload {
  Graph graph;
  // The region that Constant::offset counts from, for constants without a key. A view into the
  // blob.
  Bytes raw;
};

// Reads the blob that ExecuTorch's Vulkan exporter writes: header `VH00`, FlatBuffer `VK00`, raw
// bytes.
//
// What holds of the graph that comes back, whatever the bytes were:
// - Every id in it (arguments and outputs of nodes, list items, inputs, outputs, constants) is in
//   range.
// - A tensor has at most kMaxRank dims, fewer than kMaxElements elements even with its zeros taken
//   as ones, and a dtype that the GPU side knows (no 64-bit type; Tensor::staging may be one).
// - A constant tensor is exactly as long as its bytes; bytes without a key lie within `raw`.
// - List items are not lists.
// - Inputs are distinct tensors or SymInts; outputs are tensors or SymInts, and may repeat or be
//   constants.
// - A node has a name and 1 to kMaxArgs value ids in the file, and writes tensors, SymInts or Ints,
//   of which none is a constant.
// - Every tensor and SymInt is given (input, constant) or written before it is read.
//
// Not checked here: operator names and what each makes of its arguments (see ops/), that named
// constants exist, and the number of outputs: a file whose mutable buffers are not aliased lists
// them before the user's outputs.
//
// Errors: kInvalidProgram for damaged bytes and broken rules, kNotSupported for a well-formed
// payload that needs what this runtime does not have. The message names the value, node or
// constant. `blob` must outlive the result.
Result<Payload> parse_payload(Bytes blob);

}  // namespace executorch::backends::webgpu
