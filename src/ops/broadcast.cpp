#include "ops/broadcast.h"

#include <vector>

namespace executorch::backends::webgpu {

Status infer_broadcast(const NodeView& node, LiveValues& live) {
  const Shape& bound = node.output_tensor().max_dims;
  Shape out;
  std::vector<bool> known(kMaxRank);  // by dimension from the last: an operand has set the size
  for (int d = 0; d < bound.rank(); ++d) out.push_back(1);
  for (size_t arg = 0; arg < node.arg_count(); ++arg) {
    if (node.tensor(arg) == nullptr) continue;
    const Shape& dims = live.dims(node.id(arg));
    const Shape& max_dims = node.max_dims(arg);
    if (dims.rank() > out.rank()) {
      return node.error(ErrorCode::kInvalidProgram, "argument {} has rank {}, the output {}", arg,
                        dims.rank(), out.rank());
    }
    for (int i = 0; i < dims.rank(); ++i) {
      int64_t& size = out[out.rank() - 1 - i];
      const bool broadcasts = max_dims.last(i) == 1 && bound.last(i) != 1;
      if (broadcasts && dims.last(i) == 1) continue;
      if (broadcasts || (known[static_cast<size_t>(i)] && size != dims.last(i))) {
        return node.error(ErrorCode::kInvalidArgument,
                          "argument {} of sizes {} does not match the other operands' {}", arg,
                          to_string(dims), to_string(out));
      }
      size = dims.last(i);
      known[static_cast<size_t>(i)] = true;
    }
  }
  live.set_dims(node.output(), out);
  return {};
}

}  // namespace executorch::backends::webgpu
