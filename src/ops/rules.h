#pragma once

#include "ops/op.h"

namespace executorch::backends::webgpu {

// Checks and shape rules that several families share; `check` and `infer` of Op, or parts of them.

// All outputs have the type of the first argument.
Status check_same_type(const NodeView& node);
// All tensors among the arguments are float.
Status check_float(const NodeView& node);
// Argument `arg` is a fixed dimension of the first argument.
Status check_dim(const NodeView& node, size_t arg);
// The same, for operators that move elements along it: the tensor has dims, and types are the same.
Status check_moved_dim(const NodeView& node, size_t arg);

// The first output has the sizes of the first argument.
Status infer_same(const NodeView& node, LiveValues& live);

// A number or symbolic integer that becomes elements of type `dtype` must be one that those can
// hold: integers are 32 bits wide on the GPU. kInvalidArgument when it is not.
Status check_fits(const NodeView& node, size_t arg, DType dtype, const LiveValues& live);
bool fits_int32(double value);

}  // namespace executorch::backends::webgpu
