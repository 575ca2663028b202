#include "ops/broadcast.h"

namespace executorch::backends::webgpu {

Status infer_broadcast(const NodeView& node, LiveValues& live) {
  const Shape& bound = node.output_tensor().max_dims;
  Shape out;
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
      if (max_dims.last(i) == 1 && bound.last(i) != 1) continue;  // broadcasts by design
      if (size != 1 && size != dims.last(i)) {
        return node.error(ErrorCode::kInvalidArgument,
                          "argument {} of sizes {} does not match the other operands' {}", arg,
                          to_string(dims), to_string(out));
      }
      size = dims.last(i);
    }
  }
  live.set_dims(node.output(), out);
  return {};
}

}  // namespace executorch::backends::webgpu
