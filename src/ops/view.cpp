#include "ops/view.h"

#include <algorithm>
#include <vector>

#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

// One size may be -1: whatever is left.
Status infer_view(const NodeView& node, LiveValues& live) {
  const std::vector<int64_t> sizes = node.integers(1, live);
  const int64_t numel = live.numel(node.id(0));
  if (sizes.size() > kMaxRank) return node.error(ErrorCode::kNotSupported, "rank is too large");
  Shape out;
  int free_dim = -1;
  int64_t product = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && free_dim < 0) {
      free_dim = static_cast<int>(i);
    } else if (sizes[i] < 0 || __builtin_mul_overflow(product, sizes[i], &product)) {
      return node.error(ErrorCode::kInvalidArgument, "size {} of dimension {} is not possible",
                        sizes[i], i);
    }
    out.push_back(std::max<int64_t>(sizes[i], 0));
  }
  if (free_dim >= 0 && product > 0 && numel % product == 0) {
    out[free_dim] = numel / product;
    product = numel;
  }
  if (product != numel) {
    return node.error(ErrorCode::kInvalidArgument, "sizes {} do not hold the {} elements of {}",
                      to_string(Shape(sizes)), numel, to_string(live.dims(node.id(0))));
  }
  live.set_dims(node.output(), out);
  return {};
}

Status infer_squeeze(const NodeView& node, LiveValues& live) {
  const Shape& in = live.dims(node.id(0));
  std::vector<bool> drop(kMaxRank);
  // By the file's sizes: a dynamic dimension that happens to be 1 in this run stays.
  if (node.arg_count() == 1) {
    for (int d = 0; d < in.rank(); ++d) drop[static_cast<size_t>(d)] = node.max_dims(0)[d] == 1;
  } else {
    for (int64_t dim : node.integers(1, live)) {
      const int d = normalize_dim(dim, in.rank());
      if (d < 0) return node.error(ErrorCode::kInvalidProgram, "dimension {} is out of range", dim);
      drop[static_cast<size_t>(d)] = in.rank() > 0 && node.max_dims(0)[d] == 1;
    }
  }
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!drop[static_cast<size_t>(d)]) out.push_back(in[d]);
  }
  live.set_dims(node.output(), out);
  return {};
}

Status infer_unsqueeze(const NodeView& node, LiveValues& live) {
  const Shape& in = live.dims(node.id(0));
  const auto dim = node.integer(1, live);
  const int at = dim ? normalize_dim(*dim, in.rank() + 1) : -1;
  if (at < 0 || in.rank() == kMaxRank) {
    return node.error(ErrorCode::kInvalidProgram, "the new dimension is out of range");
  }
  Shape out;
  for (int d = 0; d <= in.rank(); ++d) {
    if (d == at) out.push_back(1);
    if (d < in.rank()) out.push_back(in[d]);
  }
  live.set_dims(node.output(), out);
  return {};
}

Status lower_view(const NodeView& node, Lowering& lowering) {
  lowering.alias(node.output(), node.id(0));
  return {};
}

Status check_prepack(const NodeView& node) {
  if (node.tensor(0)->constant < 0) {
    return node.error(ErrorCode::kInvalidProgram, "its argument is not a constant");
  }
  return check_same_type(node);
}

Status lower_prepack(const NodeView& node, Lowering& lowering) {
  lowering.initialize(node.output(), node.id(0));
  return {};
}

constexpr Op row(std::string_view name, std::string_view signature,
                 Status (*infer)(const NodeView&, LiveValues&)) {
  return {name, signature, OpKind::kView, false, check_same_type, infer, lower_view};
}

// Where state starts, it is a copy.
constexpr Op kPrepack = {"et_vk.prepack.default", "t -> t",   OpKind::kCompute, false,
                         check_prepack,           infer_same, lower_prepack};

}  // namespace

std::span<const Op> view_ops() {
  static constexpr Op kOps[] = {
      kPrepack,
      row("aten.view_copy.default", "t l -> t", infer_view),
      row("aten.squeeze_copy.default", "t -> t", infer_squeeze),
      row("aten.squeeze_copy.dim", "t i -> t", infer_squeeze),
      row("aten.squeeze_copy.dims", "t l -> t", infer_squeeze),
      row("aten.unsqueeze_copy.default", "t i -> t", infer_unsqueeze),
      row("aten.clone.default", "t * -> t", infer_same),
      row("aten.alias_copy.default", "t -> t", infer_same),
      row("dim_order_ops._clone_dim_order.default", "t * * -> t", infer_same),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
