#include "ops/symbolic.h"

#include <vector>

namespace executorch::backends::webgpu {

namespace {

Status infer_sym_size(const NodeView& node, LiveValues& live) {
  const Shape& dims = live.dims(node.id(0));
  const auto arg = node.integer(1, live);
  const int dim = arg ? normalize_dim(*arg, dims.rank()) : -1;
  if (dim < 0 || dims.rank() == 0) {
    return node.error(ErrorCode::kInvalidProgram, "the dimension is out of range");
  }
  live.set_integer(node.output(), dims[dim]);
  return {};
}

Status infer_sym_numel(const NodeView& node, LiveValues& live) {
  live.set_integer(node.output(), live.numel(node.id(0)));
  return {};
}

// Python's integer operators; overflow and division by zero are errors, not wrapped numbers.
template <bool (*Compute)(int64_t, int64_t, int64_t*)>
Status infer_binary(const NodeView& node, LiveValues& live) {
  const auto a = node.integer(0, live), b = node.integer(1, live);
  int64_t out = 0;
  if (!a || !b || !Compute(*a, *b, &out)) {
    return node.error(ErrorCode::kInvalidArgument, "cannot be computed for {} and {}",
                      a.value_or(0), b.value_or(0));
  }
  live.set_integer(node.output(), out);
  return {};
}

bool add(int64_t a, int64_t b, int64_t* out) { return !__builtin_add_overflow(a, b, out); }
bool sub(int64_t a, int64_t b, int64_t* out) { return !__builtin_sub_overflow(a, b, out); }
bool mul(int64_t a, int64_t b, int64_t* out) { return !__builtin_mul_overflow(a, b, out); }
bool floordiv(int64_t a, int64_t b, int64_t* out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *out = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return true;
}
bool mod(int64_t a, int64_t b, int64_t* out) {
  int64_t quotient = 0;
  if (!floordiv(a, b, &quotient)) return false;
  *out = a - quotient * b;
  return true;
}

constexpr Op row(std::string_view name, std::string_view signature,
                 Status (*infer)(const NodeView&, LiveValues&)) {
  return {name, signature, OpKind::kSymbolic, false, nullptr, infer, nullptr};
}

}  // namespace

std::span<const Op> symbolic_ops() {
  static constexpr Op kOps[] = {
      row("sym_size.int", "t i -> i", infer_sym_size),
      row("sym_numel.default", "t -> i", infer_sym_numel),
      row("add", "i i -> i", infer_binary<add>),
      row("sub", "i i -> i", infer_binary<sub>),
      row("mul", "i i -> i", infer_binary<mul>),
      row("floordiv", "i i -> i", infer_binary<floordiv>),
      row("mod", "i i -> i", infer_binary<mod>),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
