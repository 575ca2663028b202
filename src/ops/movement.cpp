#include "ops/movement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "ops/live_args.h"
#include "ops/pointwise.h"
#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

Status out_of_range(const NodeView& node) {
  return node.error(ErrorCode::kInvalidProgram, "a dimension is out of range");
}

// permute, t, transpose

std::vector<int> permutation(const NodeView& node) {
  const int rank = node.rank(0);
  if (node.arg_count() == 1)
    return rank == 2   ? std::vector<int>{1, 0}
           : rank == 1 ? std::vector<int>{0}
                       : std::vector<int>{};
  std::vector<int> order;
  if (node.arg_count() == 3) {  // transpose of two dims
    for (int d = 0; d < rank; ++d) order.push_back(d);
    const int a = normalize_dim(node.fixed_integers(1)[0], rank);
    const int b = normalize_dim(node.fixed_integers(2)[0], rank);
    if (rank > 0 && a >= 0 && b >= 0)
      std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
    return order;
  }
  for (int64_t d : node.fixed_integers(1)) order.push_back(normalize_dim(d, rank));
  return order;
}

Status check_permute(const NodeView& node) {
  ETWG_TRY(check_same_type(node));
  for (size_t arg = 1; arg < node.arg_count(); ++arg) {
    if (node.fixed_integers(arg).empty() && (node.is_symbolic(arg) || node.arg_count() == 3)) {
      return out_of_range(node);
    }
  }
  std::vector<int> order = permutation(node);
  if (static_cast<int>(order.size()) != node.rank(0)) {
    return node.error(ErrorCode::kInvalidProgram, "{} dims for a tensor of rank {}", order.size(),
                      node.rank(0));
  }
  std::sort(order.begin(), order.end());
  for (int d = 0; d < node.rank(0); ++d) {
    if (order[static_cast<size_t>(d)] != d) {
      return node.error(ErrorCode::kInvalidProgram, "the dims are not a permutation");
    }
  }
  return {};
}

Status infer_permute(const NodeView& node, LiveValues& live) {
  const Shape in = live.dims(node.id(0));
  Shape out;
  for (int d : permutation(node)) out.push_back(in[d]);
  live.set_dims(node.output(), out);
  return {};
}

// Nothing moves when the dims that are not 1 stay in order.
bool keeps_order(const Shape& dims, const std::vector<int>& order) {
  int last = -1;
  for (int d : order) {
    if (dims[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

Status lower_permute(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0);
  const std::vector<int> order = permutation(node);
  if (keeps_order(node.max_dims(0), order) && node.node().followers.empty()) {
    lowering.alias(node.output(), source);
    return {};
  }
  ViewMap map;
  for (size_t i = 0; i < order.size(); ++i) {
    ViewDim dim;
    dim.size = size_of_dim(source, order[i]);
    dim.stride = stride_of_dim(source, order[i]);
    dim.joins_next = i + 1 < order.size() && order[i + 1] == order[i] + 1;
    map.dims.push_back(std::move(dim));
  }
  if (!order.empty() && order.back() == node.rank(0) - 1) keep_last_dim(map, source);
  add_movement(node, lowering, source, map);
  return {};
}

// expand

Status infer_expand(const NodeView& node, LiveValues& live) {
  const Shape in = live.dims(node.id(0));
  const std::vector<int64_t> sizes = node.integers(1, live);
  const int shift = static_cast<int>(sizes.size()) - in.rank();
  if (shift < 0 || sizes.size() > kMaxRank) return out_of_range(node);
  Shape out;
  for (int d = 0; d < static_cast<int>(sizes.size()); ++d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    const int64_t own = d < shift ? 1 : in[d - shift];
    if ((size < 0 && (size != -1 || d < shift)) || (size >= 0 && own != 1 && own != size)) {
      return node.error(ErrorCode::kInvalidArgument, "{} cannot expand to {}", to_string(in),
                        to_string(Shape(sizes)));
    }
    out.push_back(size == -1 ? own : size);
  }
  // lower_expand has aliased the two if nothing repeats at the maxima.
  if (node.max_dims(0).numel() == node.output_tensor().max_dims.numel() &&
      in.numel() != out.numel()) {
    return node.error(ErrorCode::kInvalidArgument,
                      "{} expands to {}, but the program's maxima do not", to_string(in),
                      to_string(out));
  }
  live.set_dims(node.output(), out);
  return {};
}

Status lower_expand(const NodeView& node, Lowering& lowering) {
  if (node.max_dims(0).numel() == node.output_tensor().max_dims.numel() &&
      node.node().followers.empty()) {
    lowering.alias(node.output(), node.id(0));
    return {};
  }
  add_movement(node, lowering, node.id(0), broadcast_map(node.graph(), node.id(0), node.output()));
  return {};
}

// flip, repeat, unfold

Status check_flip(const NodeView& node) {
  ETWG_TRY(check_same_type(node));
  if (node.is_symbolic(1)) return out_of_range(node);
  for (int64_t dim : node.fixed_integers(1)) {
    if (normalize_dim(dim, node.rank(0)) < 0) return out_of_range(node);
  }
  return {};
}

Status lower_flip(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0);
  const int rank = node.rank(0);
  std::vector<bool> flipped(kMaxRank);
  if (rank > 0) {
    for (int64_t dim : node.fixed_integers(1))
      flipped[static_cast<size_t>(normalize_dim(dim, rank))] = true;
  }
  ViewMap map;
  for (int d = 0; d < rank; ++d) {
    ViewDim view;
    view.size = size_of_dim(source, d);
    view.stride = stride_of_dim(source, d, flipped[static_cast<size_t>(d)] ? -1 : 1);
    view.joins_next =
        d + 1 < rank && flipped[static_cast<size_t>(d)] == flipped[static_cast<size_t>(d + 1)];
    map.dims.push_back(std::move(view));
  }
  map.base = [source, flipped, rank](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    int64_t base = 0;
    for (int d = 0; d < rank; ++d) {
      if (flipped[static_cast<size_t>(d)]) base += (dims[d] - 1) * dims.numel(d + 1, rank);
    }
    return static_cast<uint32_t>(base);
  };
  if (rank > 0 && !flipped[static_cast<size_t>(rank - 1)]) keep_last_dim(map, source);
  add_movement(node, lowering, source, map);
  return {};
}

Status infer_repeat(const NodeView& node, LiveValues& live) {
  const Shape in = live.dims(node.id(0));
  const std::vector<int64_t> repeats = node.integers(1, live);
  const int shift = static_cast<int>(repeats.size()) - in.rank();
  if (shift < 0 || repeats.size() > kMaxRank) return out_of_range(node);
  Shape out;
  for (int d = 0; d < static_cast<int>(repeats.size()); ++d) {
    const int64_t times = repeats[static_cast<size_t>(d)];
    if (times < 0) return node.error(ErrorCode::kInvalidArgument, "repeats {} times", times);
    int64_t size = 0;
    if (__builtin_mul_overflow(times, d < shift ? 1 : in[d - shift], &size)) {
      return node.error(ErrorCode::kInvalidArgument, "repeats {} times, too often", times);
    }
    out.push_back(size);
  }
  live.set_dims(node.output(), out);
  return {};
}

Status lower_repeat(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0);
  const LiveIntegers repeats = live_integers(node, 1);
  const int out_rank = node.output_tensor().max_dims.rank();
  const int shift = out_rank - node.rank(0);
  ViewMap map;
  for (int d = 0; d < out_rank; ++d) {
    ViewDim times;  // the repetition, then the dimension itself
    times.size = [repeats, d](const LiveValues& live) {
      return static_cast<uint32_t>(repeats(live)[static_cast<size_t>(d)]);
    };
    times.broadcast = true;
    map.dims.push_back(times);
    if (d < shift) continue;
    ViewDim own;
    own.size = size_of_dim(source, d - shift);
    own.stride = stride_of_dim(source, d - shift);
    map.dims.push_back(std::move(own));
  }
  if (node.rank(0) > 0) keep_last_dim(map, source);
  add_movement(node, lowering, source, map);
  return {};
}

Status check_unfold(const NodeView& node) {
  ETWG_TRY(check_moved_dim(node, 1));
  if (node.is_symbolic(2) || node.is_symbolic(3) || node.fixed_integers(3)[0] < 1 ||
      node.rank(0) >= kMaxRank) {
    return node.error(ErrorCode::kNotSupported, "size and step must be fixed");
  }
  return {};
}

Status infer_unfold(const NodeView& node, LiveValues& live) {
  Shape dims = live.dims(node.id(0));
  const int dim = normalize_dim(node.fixed_integers(1)[0], dims.rank());
  const int64_t size = node.fixed_integers(2)[0], step = node.fixed_integers(3)[0];
  if (size < 0 || size > dims[dim]) {
    return node.error(ErrorCode::kInvalidArgument, "a window of {} does not fit into {}", size,
                      to_string(dims));
  }
  dims[dim] = (dims[dim] - size) / step + 1;
  dims.push_back(size);
  live.set_dims(node.output(), dims);
  return {};
}

Status lower_unfold(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0), out = node.output();
  const int rank = node.rank(0);
  const int dim = normalize_dim(node.fixed_integers(1)[0], rank);
  ViewMap map;
  for (int d = 0; d <= rank; ++d) {
    ViewDim view;
    view.size = size_of_dim(out, d);
    view.stride = d == rank ? stride_of_dim(source, dim)
                            : stride_of_dim(source, d, d == dim ? node.fixed_integers(3)[0] : 1);
    map.dims.push_back(std::move(view));
  }
  add_movement(node, lowering, source, map);
  return {};
}

// pixel_shuffle

Status check_pixel_shuffle(const NodeView& node) {
  ETWG_TRY(check_same_type(node));
  const int64_t factor = node.is_symbolic(1) ? 0 : node.fixed_integers(1)[0];
  if (factor < 1 || factor > 65535 || node.rank(0) < 3 ||
      node.max_dims(0).last(2) % (factor * factor) != 0) {
    return node.error(ErrorCode::kInvalidProgram, "{} cannot be shuffled by {}",
                      to_string(node.max_dims(0)), factor);
  }
  return {};
}

Status infer_pixel_shuffle(const NodeView& node, LiveValues& live) {
  Shape dims = live.dims(node.id(0));
  const int64_t factor = node.fixed_integers(1)[0];
  const int rank = dims.rank();
  if (dims[rank - 3] % (factor * factor) != 0) {
    return node.error(ErrorCode::kInvalidArgument, "cannot shuffle {} by {}", to_string(dims),
                      factor);
  }
  dims[rank - 3] /= factor * factor;
  dims[rank - 2] *= factor;
  dims[rank - 1] *= factor;
  live.set_dims(node.output(), dims);
  return {};
}

// Output (c, h * r + y, w * r + x) is input ((c * r + y) * r + x, h, w).
Status lower_pixel_shuffle(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0), out = node.output();
  const int rank = node.rank(0);
  const int64_t factor = node.fixed_integers(1)[0];
  const auto fixed = [factor](const LiveValues&) { return static_cast<uint32_t>(factor); };
  ViewMap map;
  const auto add = [&](LiveFn size, LiveFn stride) {
    ViewDim dim;
    dim.size = std::move(size);
    dim.stride = std::move(stride);
    map.dims.push_back(std::move(dim));
  };
  for (int d = 0; d < rank - 3; ++d) add(size_of_dim(source, d), stride_of_dim(source, d));
  add(size_of_dim(out, rank - 3), stride_of_dim(source, rank - 3, factor * factor));
  add(size_of_dim(source, rank - 2), stride_of_dim(source, rank - 2));
  add(fixed, stride_of_dim(source, rank - 3, factor));
  add(size_of_dim(source, rank - 1), stride_of_dim(source, rank - 1));
  add(fixed, stride_of_dim(source, rank - 3));
  add_movement(node, lowering, source, map);
  return {};
}

}  // namespace

void add_movement(const NodeView& node, Lowering& lowering, ValueId source, const ViewMap& map,
                  ValueId out) {
  const bool first = out == kNoValue;
  if (first) out = node.output();
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "movement", Lanes::k4, general);
    emit_view(kernel, "source", source, map);
    if (first) {
      emit_store(kernel, node);
    } else {
      kernel.output("out", out);
    }
    kernel.code(fmt::format("fn compute(i: u32) {{\n  {}(i, source_view(i));\n}}\n",
                            first ? "store" : "out_put"));
    emit_groups(kernel, out);
    return kernel.finish();
  });
}

std::span<const Op> movement_ops() {
  static constexpr Op kOps[] = {
      compute_op("aten.permute_copy.default", "t l -> t", check_permute, infer_permute,
                 lower_permute),
      compute_op("aten.permute.default", "t l -> t", check_permute, infer_permute, lower_permute),
      compute_op("aten.t_copy.default", "t -> t", check_permute, infer_permute, lower_permute),
      compute_op("aten.transpose_copy.int", "t i i -> t", check_permute, infer_permute,
                 lower_permute),
      compute_op("aten.expand_copy.default", "t l b -> t", check_same_type, infer_expand,
                 lower_expand),
      compute_op("aten.flip.default", "t l -> t", check_flip, infer_same, lower_flip),
      compute_op("aten.repeat.default", "t l -> t", check_same_type, infer_repeat, lower_repeat),
      compute_op("aten.pixel_shuffle.default", "t i -> t", check_pixel_shuffle, infer_pixel_shuffle,
                 lower_pixel_shuffle),
      compute_op("aten.unfold_copy.default", "t i i i -> t", check_unfold, infer_unfold,
                 lower_unfold),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
