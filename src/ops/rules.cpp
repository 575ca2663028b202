#include "ops/rules.h"

#include <cmath>
#include <limits>

namespace executorch::backends::webgpu {

Status check_same_type(const NodeView& node) {
  const DType type = node.tensor(0)->dtype;
  for (ValueId id : node.node().outputs) {
    const DType out = node.graph().tensor(id)->dtype;
    if (out == type) continue;
    return node.error(ErrorCode::kNotSupported, "cannot turn {} into {}", name_of(type),
                      name_of(out));
  }
  return {};
}

Status check_float(const NodeView& node) {
  for (size_t arg = 0; arg < node.arg_count(); ++arg) {
    if (node.tensor(arg) != nullptr && !is_float(node.tensor(arg)->dtype)) {
      return node.error(ErrorCode::kNotSupported, "is not defined for {}",
                        name_of(node.tensor(arg)->dtype));
    }
  }
  return {};
}

Status check_dim(const NodeView& node, size_t arg) {
  if (node.is_symbolic(arg)) {
    return node.error(ErrorCode::kNotSupported, "the dimension must be fixed");
  }
  const int64_t dim = node.fixed_integers(arg).at(0);
  if (normalize_dim(dim, node.rank(0)) >= 0) return {};
  return node.error(ErrorCode::kInvalidProgram, "dimension {} is out of range for {}", dim,
                    to_string(node.max_dims(0)));
}

Status check_moved_dim(const NodeView& node, size_t arg) {
  ETWG_TRY(check_same_type(node));
  if (node.rank(0) == 0) {
    return node.error(ErrorCode::kInvalidProgram, "a scalar has no dimensions");
  }
  return check_dim(node, arg);
}

Status infer_same(const NodeView& node, LiveValues& live) {
  live.set_dims(node.output(), live.dims(node.id(0)));
  return {};
}

bool fits_int32(double value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

Status check_fits(const NodeView& node, size_t arg, DType dtype, const LiveValues& live) {
  if (is_float(dtype) || dtype == DType::kBool || node.is_null(arg)) return {};
  const auto fixed = node.number(arg);
  const double value = fixed ? *fixed : static_cast<double>(node.integer(arg, live).value_or(0));
  if (fits_int32(value)) return {};
  return node.error(ErrorCode::kInvalidArgument,
                    "{} is not within the 32 bits of an integer on the GPU", value);
}

}  // namespace executorch::backends::webgpu
