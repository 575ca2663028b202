#include "ops/norm.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/normalize.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

namespace {

constexpr Reducer kSquares = {"A", "0.0", "x * x", "a + b", "s", "dot(x, x)"};

// Argument `arg`, where there is one, has `count` elements.
Status check_count(const NodeView& node, const LiveValues& live, size_t arg, int64_t count) {
  if (arg >= node.arg_count() || node.tensor(arg) == nullptr || live.numel(node.id(arg)) == count) {
    return {};
  }
  return node.error(ErrorCode::kInvalidArgument, "argument {} has {} elements, not {}, for {}", arg,
                    live.numel(node.id(arg)), count, to_string(live.dims(node.id(0))));
}

// Weight and bias (arguments `weight` and `weight + 1`) as operands, and the text that applies
// them.
std::string with_affine(const NodeView& node, Normalization& what, size_t weight,
                        const std::string& index, bool by_column, std::string text) {
  if (!node.is_null(weight)) {
    what.operands.push_back({"weight", node.id(weight), index, by_column});
    text = fmt::format("{} * weight(column, row)", text);
  }
  if (weight + 1 < node.arg_count() && node.tensor(weight + 1) != nullptr) {
    what.operands.push_back({"bias", node.id(weight + 1), index, by_column});
    text = fmt::format("{} + bias(column, row)", text);
  }
  return text;
}

constexpr const char* kNormalized =
    "((x - V(s.first)) - V(s.mean)) * V(inverseSqrt(s.m2 / s.n + p.eps))";

// The mean and reciprocal deviation of each row, where the program reads them.
void add_moments(const NodeView& node, Lowering& lowering, Normalization what) {
  what.operands.clear();
  what.params.clear();
  if (lowering.is_read(node.output(1))) add_row_statistic(node, lowering, what, node.output(1));
  if (lowering.is_read(node.output(2))) {
    what.reducer.finish = "inverseSqrt(s.m2 / s.n + p.eps)";
    add_row_statistic(node, lowering, what, node.output(2));
  }
}

// layer_norm

int normalized_rank(const NodeView& node) {
  return static_cast<int>(node.fixed_integers(1).size());
}

Status check_layer_norm(const NodeView& node) {
  ETWG_TRY(check_float(node));
  const int rank = normalized_rank(node);
  if (rank < 1 || rank > node.rank(0)) {
    return node.error(ErrorCode::kInvalidProgram, "normalizes {} dims of {}", rank,
                      to_string(node.max_dims(0)));
  }
  return {};
}

Status infer_layer_norm(const NodeView& node, LiveValues& live) {
  const Shape dims = live.dims(node.id(0));
  Shape rows = dims;
  for (int d = dims.rank() - normalized_rank(node); d < dims.rank(); ++d) {
    const int64_t expected =
        node.integers(1, live)[static_cast<size_t>(d - dims.rank() + normalized_rank(node))];
    if (dims[d] != expected) {
      return node.error(ErrorCode::kInvalidArgument, "normalizes {} over {}", to_string(dims),
                        to_string(Shape(node.integers(1, live))));
    }
    rows[d] = 1;
  }
  for (size_t arg : {2u, 3u}) {
    ETWG_TRY(
        check_count(node, live, arg, dims.numel(dims.rank() - normalized_rank(node), dims.rank())));
  }
  live.set_dims(node.output(0), dims);
  live.set_dims(node.output(1), rows);
  live.set_dims(node.output(2), rows);
  return {};
}

Status lower_layer_norm(const NodeView& node, Lowering& lowering) {
  Normalization what;
  what.kernel = "layer_norm";
  what.source = node.id(0);
  const int first = node.rank(0) - normalized_rank(node);
  what.length = [source = what.source, first](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    return static_cast<uint32_t>(dims.numel(first, dims.rank()));
  };
  what.reducer = moments_reducer("s.first + s.mean");
  what.numbers = {{"eps", static_cast<float>(node.number_or(4, 1e-5))}};
  what.apply = with_affine(node, what, 2, "column", true, kNormalized);
  add_normalization(node, lowering, what);
  add_moments(node, lowering, what);
  return {};
}

// rms_norm

Status check_rms_norm(const NodeView& node) {
  ETWG_TRY(check_float(node));
  if (node.rank(0) < 1 || node.max_dims(1).numel() != node.max_dims(0).last(0)) {
    return node.error(ErrorCode::kInvalidProgram, "normalizes {} with a weight of {}",
                      to_string(node.max_dims(0)), to_string(node.max_dims(1)));
  }
  return {};
}

Status infer_rms_norm(const NodeView& node, LiveValues& live) {
  ETWG_TRY(check_count(node, live, 1, live.dims(node.id(0)).last(0)));
  return infer_same(node, live);
}

Status lower_rms_norm(const NodeView& node, Lowering& lowering) {
  Normalization what;
  what.kernel = "rms_norm";
  what.source = node.id(0);
  what.length = [source = what.source](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(source).last(0));
  };
  what.reducer = kSquares;
  what.numbers = {{"eps", static_cast<float>(node.number_or(2, 1e-6))}};
  what.operands.push_back({"weight", node.id(1), "column", true});
  what.apply = "x * V(inverseSqrt(s / f32(p.row_length) + p.eps)) * weight(column, row)";
  add_normalization(node, lowering, what);
  return {};
}

// group_norm

int64_t group_count(const NodeView& node) { return node.fixed_integers(6)[0]; }

Status check_group_norm(const NodeView& node) {
  ETWG_TRY(check_float(node));
  if (node.is_symbolic(6) || node.rank(0) < 2 || group_count(node) < 1 ||
      node.max_dims(0)[1] % group_count(node) != 0) {
    return node.error(ErrorCode::kInvalidProgram, "cannot divide {} into groups",
                      to_string(node.max_dims(0)));
  }
  return {};
}

Status infer_group_norm(const NodeView& node, LiveValues& live) {
  const Shape dims = live.dims(node.id(0));
  if (dims[1] % group_count(node) != 0) {
    return node.error(ErrorCode::kInvalidArgument, "cannot divide {} into {} groups",
                      to_string(dims), group_count(node));
  }
  for (size_t arg : {1u, 2u}) ETWG_TRY(check_count(node, live, arg, dims[1]));
  live.set_dims(node.output(0), dims);
  for (size_t i : {1u, 2u}) live.set_dims(node.output(i), Shape{dims[0], group_count(node)});
  return {};
}

Status lower_group_norm(const NodeView& node, Lowering& lowering) {
  Normalization what;
  what.kernel = "group_norm";
  what.source = node.id(0);
  const int64_t groups = group_count(node);
  const auto area = [source = what.source](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    return static_cast<uint32_t>(std::max<int64_t>(dims.numel(2, dims.rank()), 1));
  };
  const auto channels = [source = what.source, groups](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(source)[1] / groups);
  };
  what.length = [area, channels](const LiveValues& live) { return area(live) * channels(live); };
  what.params = {{"area", area}, {"channels", channels}};
  what.params.push_back(
      {"groups", [groups](const LiveValues&) { return static_cast<uint32_t>(groups); }});
  what.reducer = moments_reducer("s.first + s.mean");
  what.numbers = {{"eps", static_cast<float>(node.number_or(7, 1e-5))}};
  what.apply = with_affine(node, what, 1, "(row % p.groups) * p.channels + column / p.area", false,
                           kNormalized);
  add_normalization(node, lowering, what);
  add_moments(node, lowering, what);
  return {};
}

// batch_norm: pointwise, with parameters by channel

Status check_batch_norm(const NodeView& node) {
  ETWG_TRY(check_float(node));
  if (node.rank(0) < 2) {
    return node.error(ErrorCode::kInvalidProgram, "needs a channel dimension, has {}",
                      to_string(node.max_dims(0)));
  }
  return {};
}

Status infer_batch_norm(const NodeView& node, LiveValues& live) {
  const Shape dims = live.dims(node.id(0));
  for (size_t arg : {1u, 2u, 3u, 4u}) ETWG_TRY(check_count(node, live, arg, dims[1]));
  live.set_dims(node.output(0), dims);
  for (size_t i : {1u, 2u}) live.set_dims(node.output(i), Shape{0});
  return {};
}

// A vector of channels, broadcast over what lies before and after them.
ViewMap channel_map(const NodeView& node) {
  ViewMap map = identity_map(node.graph(), node.id(0));
  for (size_t d = 0; d < map.dims.size(); ++d) {
    map.dims[d].broadcast = d != 1;
    map.dims[d].joins_next = d > 1 && d + 1 < map.dims.size();
    map.dims[d].stride = [](const LiveValues&) { return 1u; };
  }
  if (node.rank(0) > 2) {
    map.inner = ViewMap::Inner::kSame;
    map.inner_applies = [source = node.id(0)](const LiveValues& live) {
      const Shape& dims = live.dims(source);
      return dims.numel(2, dims.rank()) % 4 == 0;
    };
  }
  return map;
}

Status lower_batch_norm(const NodeView& node, Lowering& lowering) {
  const ViewMap map = channel_map(node);
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "batch_norm", Lanes::k4, general);
    kernel.input("source", node.id(0));
    emit_view(kernel, "mean", node.id(3), map);
    emit_view(kernel, "variance", node.id(4), map);
    kernel.param_f32("eps", static_cast<float>(node.number_or(6, 1e-5)));
    std::string text = "(source4(i) - mean_view(i)) * inverseSqrt(variance_view(i) + V(p.eps))";
    if (!node.is_null(1)) {
      emit_view(kernel, "weight", node.id(1), map);
      text += " * weight_view(i)";
    }
    if (!node.is_null(2)) {
      emit_view(kernel, "bias", node.id(2), map);
      text += " + bias_view(i)";
    }
    emit_store(kernel, node);
    kernel.code(fmt::format("fn compute(i: u32) {{\n  store(i, {});\n}}\n", text));
    emit_groups(kernel, node.id(0));
    return kernel.finish();
  });
  return {};
}

}  // namespace

std::span<const Op> norm_ops() {
  static constexpr Op kOps[] = {
      compute_op("aten.native_layer_norm.default", "t l t? t? n -> t t t", check_layer_norm,
                 infer_layer_norm, lower_layer_norm),
      compute_op("et_vk.rms_norm.default", "t t n -> t", check_rms_norm, infer_rms_norm,
                 lower_rms_norm),
      compute_op("aten.native_group_norm.default", "t t? t? i i i n n -> t t t", check_group_norm,
                 infer_group_norm, lower_group_norm),
      compute_op("aten._native_batch_norm_legit_no_training.default", "t t? t? t t n n -> t t t",
                 check_batch_norm, infer_batch_norm, lower_batch_norm),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
