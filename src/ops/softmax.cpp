#include "ops/softmax.h"

#include <algorithm>

#include "ops/normalize.h"
#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

// The maximum so far and the sum of e^(x - maximum): one pass over a row, no overflow. A maximum of
// -inf (nothing but -inf so far) must not meet itself as -inf - -inf. PyTorch's softmax of a row
// with +inf or NaN is NaN throughout: its sum is made NaN here, since exp() may lose a NaN.
constexpr std::string_view kJoin = R"(fn one(x: f32) -> f32 {
  let special = is_nan(x) || bitcast<u32>(x) == 0x7f800000u;
  return select(1.0, bits_to_float(0x7fc00000u), special);
}
fn scale(from_top: f32, to_top: f32) -> f32 {
  return select(exp(from_top - to_top), 1.0, from_top == to_top);
}
fn join(a: State, b: State) -> State {
  if (a.sum == 0.0) {
    return b;
  }
  if (b.sum == 0.0) {
    return a;
  }
  let top = select(b.top, a.top, a.top > b.top || is_nan(a.top));
  return State(top, a.sum * scale(a.top, top) + b.sum * scale(b.top, top));
}
)";

constexpr Reducer kMaxAndSum = {"top:f32 sum:f32",
                                "State(bits_to_float(0xff800000u), 0.0)",
                                "State(x, one(x))",
                                "join(a, b)",
                                "s.sum",
                                "",
                                kJoin};

int softmax_dim(const NodeView& node) {
  return normalize_dim(node.fixed_integers(1)[0], node.rank(0));
}

Status check_softmax(const NodeView& node) {
  ETWG_TRY(check_dim(node, 1));
  return check_float(node);
}

Status lower_softmax(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0);
  const int dim = softmax_dim(node), rank = node.rank(0);
  Normalization what;
  what.kernel = "softmax";
  what.source = source;
  what.length = [source, dim](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(source).rank() == 0 ? 1 : live.dims(source)[dim]);
  };
  if (node.max_dims(0).numel(std::min(dim + 1, rank), rank) != 1) {
    what.inner = [source, dim, rank](const LiveValues& live) {
      return static_cast<uint32_t>(std::max<int64_t>(live.dims(source).numel(dim + 1, rank), 1));
    };
  }
  what.reducer = kMaxAndSum;
  what.apply = node.node().op == "aten._softmax.default" ? "etwg_exp(x - V(s.top)) / V(s.sum)"
                                                         : "x - V(s.top) - etwg_log(V(s.sum))";
  add_normalization(node, lowering, what);
  return {};
}

constexpr Op row(std::string_view name) {
  return compute_op(name, "t n b -> t", check_softmax, infer_same, lower_softmax);
}

}  // namespace

std::span<const Op> softmax_ops() {
  static constexpr Op kOps[] = {row("aten._softmax.default"), row("aten._log_softmax.default")};
  return kOps;
}

}  // namespace executorch::backends::webgpu
