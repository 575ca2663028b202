#include "ops/movement.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"
#include "ops/live_args.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

std::function<uint64_t(const LiveValues&)> groups_of(ValueId value) {
  return [value](const LiveValues& live) {
    return div_up(static_cast<uint64_t>(live.numel(value)), 4);
  };
}

LiveFn size_fn(ValueId tensor, int dim) {
  return [tensor, dim](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(tensor)[dim]);
  };
}

// Stride of a row-major tensor, times a factor.
LiveFn stride_fn(ValueId tensor, int dim, int64_t factor = 1) {
  return [tensor, dim, factor](const LiveValues& live) {
    const Shape& dims = live.dims(tensor);
    // Wraps where the factor is the step of a slice that takes no second step.
    return static_cast<uint32_t>(dims.numel(dim + 1, dims.rank())) * static_cast<uint32_t>(factor);
  };
}

std::function<bool(const LiveValues&)> last_is_multiple_of_4(ValueId tensor) {
  return [tensor](const LiveValues& live) { return live.dims(tensor).last(0) % 4 == 0; };
}

// Four neighbours of the output are four of the source where the last dimension is kept whole.
void keep_last(ViewMap& map, ValueId source) {
  map.inner = ViewMap::Inner::kContiguous;
  map.inner_applies = last_is_multiple_of_4(source);
}

void emit_movement(KernelBuilder& kernel, ValueId source, const ViewMap& map, ValueId out) {
  emit_view(kernel, "source", source, map);
  kernel.param("groups", [out](const LiveValues& live) {
    return static_cast<uint32_t>(div_up(static_cast<uint64_t>(live.numel(out)), 4));
  });
  kernel.body("pointwise");
  kernel.invocations(groups_of(out));
}

// The same for an output of several, which takes no followers.
void add_plain_movement(const NodeView& node, Lowering& lowering, ValueId source,
                        const ViewMap& map, ValueId out) {
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "movement", Lanes::k4, general);
    emit_movement(kernel, source, map, out);
    kernel.output("out", out);
    kernel.code("fn compute(i: u32) {\n  out_put(i, source_view(i));\n}\n");
    return kernel.finish();
  });
}

Status out_of_range(const NodeView& node) {
  return node.error(ErrorCode::kInvalidProgram, "a dimension is out of range");
}

Status check_same_type(const NodeView& node) {
  for (ValueId id : node.node().outputs) {
    if (node.graph().tensor(id)->dtype == node.tensor(0)->dtype) continue;
    return node.error(ErrorCode::kInvalidProgram, "output type differs from the input's");
  }
  return {};
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
    dim.size = size_fn(source, order[i]);
    dim.stride = stride_fn(source, order[i]);
    dim.joins_next = i + 1 < order.size() && order[i + 1] == order[i] + 1;
    map.dims.push_back(std::move(dim));
  }
  if (!order.empty() && order.back() == node.rank(0) - 1) keep_last(map, source);
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

// slice, select, split: a range of one dimension

// Python's rule for slice bounds.
int64_t clamp_index(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

Status check_dim(const NodeView& node, size_t arg) {
  ETWG_TRY(check_same_type(node));
  if (node.is_symbolic(arg) || node.rank(0) == 0 ||
      normalize_dim(node.fixed_integers(arg).at(0), node.rank(0)) < 0) {
    return out_of_range(node);
  }
  return {};
}

Status check_slice(const NodeView& node) {
  ETWG_TRY(check_dim(node, 1));
  if (node.is_symbolic(4) || node.fixed_integers(4)[0] < 1) {
    return node.error(ErrorCode::kNotSupported, "the step must be a fixed positive number");
  }
  return {};
}

struct Range {
  int64_t start, end;
};

Range slice_range(const std::optional<int64_t>& start, const std::optional<int64_t>& end,
                  int64_t size) {
  const int64_t from = clamp_index(start.value_or(0), size);
  return {from, std::max(from, clamp_index(end.value_or(INT64_MAX), size))};
}

Status infer_slice(const NodeView& node, LiveValues& live) {
  Shape dims = live.dims(node.id(0));
  const int dim = normalize_dim(node.fixed_integers(1)[0], dims.rank());
  const int64_t step = node.fixed_integers(4)[0];
  const Range range = slice_range(node.integer(2, live), node.integer(3, live), dims[dim]);
  dims[dim] = range.end == range.start ? 0 : (range.end - range.start - 1) / step + 1;
  live.set_dims(node.output(), dims);
  return {};
}

// The map of source[..., start + step * i, ...] along `dim`; `start` in elements of that dimension.
ViewMap range_map(const NodeView& node, ValueId out, int dim, int64_t step,
                  std::function<int64_t(const LiveValues&)> start) {
  const ValueId source = node.id(0);
  const int rank = node.rank(0);
  ViewMap map;
  for (int d = 0; d < rank; ++d) {
    ViewDim view;
    view.size = size_fn(out, d);
    view.stride = stride_fn(source, d, d == dim ? step : 1);
    // The dims outside of the cut one still follow each other, and so do those inside.
    view.joins_next = d + 1 < rank && d + 1 != dim && !(d == dim && step != 1);
    map.dims.push_back(std::move(view));
  }
  map.base = [source, dim, start = std::move(start)](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    return static_cast<uint32_t>(start(live) * dims.numel(dim + 1, dims.rank()));
  };
  if (dim != rank - 1) keep_last(map, source);
  return map;
}

// A cut from the start of the outermost dimension that is not 1 is a prefix of the bytes.
bool is_prefix(const NodeView& node, int dim, int64_t step) {
  return step == 1 && node.max_dims(0).numel(0, dim) == 1;
}

Status lower_slice(const NodeView& node, Lowering& lowering) {
  const int dim = normalize_dim(node.fixed_integers(1)[0], node.rank(0));
  const int64_t step = node.fixed_integers(4)[0];
  const auto fixed_start = node.is_null(2) ? std::optional<double>(0) : node.number(2);
  if (fixed_start == 0.0 && is_prefix(node, dim, step) && node.node().followers.empty()) {
    lowering.alias(node.output(), node.id(0));
    return {};
  }
  const LiveInteger start = live_integer(node, 2);
  const auto first = [start, source = node.id(0), dim](const LiveValues& live) {
    return clamp_index(start(live).value_or(0), live.dims(source)[dim]);
  };
  add_movement(node, lowering, node.id(0), range_map(node, node.output(), dim, step, first));
  return {};
}

Status check_select(const NodeView& node) { return check_dim(node, 1); }

std::optional<int64_t> select_index(std::optional<int64_t> index, int64_t size) {
  if (!index || *index < -size || *index >= size) return std::nullopt;
  return *index < 0 ? *index + size : *index;
}

Status infer_select(const NodeView& node, LiveValues& live) {
  const Shape dims = live.dims(node.id(0));
  const int dim = normalize_dim(node.fixed_integers(1)[0], dims.rank());
  if (!select_index(node.integer(2, live), dims[dim])) {
    return node.error(ErrorCode::kInvalidArgument, "index {} is out of range for {}",
                      node.integer(2, live).value_or(0), to_string(dims));
  }
  Shape out;
  for (int d = 0; d < dims.rank(); ++d) {
    if (d != dim) out.push_back(dims[d]);
  }
  live.set_dims(node.output(), out);
  return {};
}

Status lower_select(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0);
  const int rank = node.rank(0);
  const int dim = normalize_dim(node.fixed_integers(1)[0], rank);
  if (node.number(2) == 0.0 && is_prefix(node, dim, 1) && node.node().followers.empty()) {
    lowering.alias(node.output(), source);
    return {};
  }
  ViewMap map;
  for (int d = 0; d < rank; ++d) {
    if (d == dim) continue;
    ViewDim view;
    view.size = size_fn(source, d);
    view.stride = stride_fn(source, d);
    view.joins_next = d + 1 < rank && d + 1 != dim;
    map.dims.push_back(std::move(view));
  }
  map.base = [source, dim, index = live_integer(node, 2)](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    const int64_t at = select_index(index(live), dims[dim]).value_or(0);
    return static_cast<uint32_t>(at * dims.numel(dim + 1, dims.rank()));
  };
  if (dim != rank - 1) keep_last(map, source);
  add_movement(node, lowering, source, map);
  return {};
}

Status check_split(const NodeView& node) {
  ETWG_TRY(check_dim(node, 2));
  return {};
}

Status infer_split(const NodeView& node, LiveValues& live) {
  const Shape dims = live.dims(node.id(0));
  const int dim = normalize_dim(node.fixed_integers(2)[0], dims.rank());
  const std::vector<int64_t> sizes = node.integers(1, live);
  int64_t left = dims[dim];
  bool fits = sizes.size() == node.node().outputs.size();
  for (int64_t size : sizes) {
    fits = fits && size >= 0 && size <= left;
    left -= fits ? size : 0;
  }
  if (!fits || left != 0) {
    return node.error(ErrorCode::kInvalidArgument, "parts [{}] do not divide dimension {} of {}",
                      fmt::join(sizes, ", "), dim, to_string(dims));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    Shape part = dims;
    part[dim] = sizes[i];
    live.set_dims(node.output(i), part);
  }
  return {};
}

Status lower_split(const NodeView& node, Lowering& lowering) {
  const int dim = normalize_dim(node.fixed_integers(2)[0], node.rank(0));
  const LiveIntegers sizes = live_integers(node, 1);
  for (size_t i = 0; i < node.node().outputs.size(); ++i) {
    const ValueId out = node.output(i);
    if (i == 0 && is_prefix(node, dim, 1)) {
      lowering.alias(out, node.id(0));
      continue;
    }
    const auto start = [sizes, i](const LiveValues& live) {
      int64_t sum = 0;
      const std::vector<int64_t> parts = sizes(live);
      for (size_t k = 0; k < i; ++k) sum += parts[k];
      return sum;
    };
    add_plain_movement(node, lowering, node.id(0), range_map(node, out, dim, 1, start), out);
  }
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

Status infer_same(const NodeView& node, LiveValues& live) {
  live.set_dims(node.output(), live.dims(node.id(0)));
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
    view.size = size_fn(source, d);
    view.stride = stride_fn(source, d, flipped[static_cast<size_t>(d)] ? -1 : 1);
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
  if (rank > 0 && !flipped[static_cast<size_t>(rank - 1)]) keep_last(map, source);
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
    own.size = size_fn(source, d - shift);
    own.stride = stride_fn(source, d - shift);
    map.dims.push_back(std::move(own));
  }
  if (node.rank(0) > 0) keep_last(map, source);
  add_movement(node, lowering, source, map);
  return {};
}

Status check_unfold(const NodeView& node) {
  ETWG_TRY(check_dim(node, 1));
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
    view.size = size_fn(out, d);
    view.stride = d == rank ? stride_fn(source, dim)
                            : stride_fn(source, d, d == dim ? node.fixed_integers(3)[0] : 1);
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
  for (int d = 0; d < rank - 3; ++d) add(size_fn(source, d), stride_fn(source, d));
  add(size_fn(out, rank - 3), stride_fn(source, rank - 3, factor * factor));
  add(size_fn(source, rank - 2), stride_fn(source, rank - 2));
  add(fixed, stride_fn(source, rank - 3, factor));
  add(size_fn(source, rank - 1), stride_fn(source, rank - 1));
  add(fixed, stride_fn(source, rank - 3));
  add_movement(node, lowering, source, map);
  return {};
}

Op row(std::string_view name, std::string_view signature, Status (*check)(const NodeView&),
       Status (*infer)(const NodeView&, LiveValues&), Status (*lower)(const NodeView&, Lowering&)) {
  Op op;
  op.name = name;
  op.signature = signature;
  op.takes_followers = signature.ends_with("-> t");
  op.check = check;
  op.infer = infer;
  op.lower = lower;
  return op;
}

}  // namespace

void add_movement(const NodeView& node, Lowering& lowering, ValueId source, const ViewMap& map) {
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "movement", Lanes::k4, general);
    emit_movement(kernel, source, map, node.output());
    emit_store(kernel, node);
    kernel.code("fn compute(i: u32) {\n  store(i, source_view(i));\n}\n");
    return kernel.finish();
  });
}

std::span<const Op> movement_ops() {
  static const std::vector<Op> ops = {
      row("aten.permute_copy.default", "t l -> t", check_permute, infer_permute, lower_permute),
      row("aten.permute.default", "t l -> t", check_permute, infer_permute, lower_permute),
      row("aten.t_copy.default", "t -> t", check_permute, infer_permute, lower_permute),
      row("aten.transpose_copy.int", "t i i -> t", check_permute, infer_permute, lower_permute),
      row("aten.expand_copy.default", "t l b -> t", check_same_type, infer_expand, lower_expand),
      row("aten.slice_copy.Tensor", "t i i? i? i -> t", check_slice, infer_slice, lower_slice),
      row("aten.select_copy.int", "t i i -> t", check_select, infer_select, lower_select),
      row("aten.split_with_sizes_copy.default", "t l i -> T", check_split, infer_split,
          lower_split),
      row("aten.flip.default", "t l -> t", check_flip, infer_same, lower_flip),
      row("aten.repeat.default", "t l -> t", check_same_type, infer_repeat, lower_repeat),
      row("aten.pixel_shuffle.default", "t i -> t", check_pixel_shuffle, infer_pixel_shuffle,
          lower_pixel_shuffle),
      row("aten.unfold_copy.default", "t i i i -> t", check_unfold, infer_unfold, lower_unfold),
  };
  return ops;
}

}  // namespace executorch::backends::webgpu
