#include "ops/slicing.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ops/live_args.h"
#include "ops/movement.h"
#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

// Python's rule for slice bounds.
int64_t clamp_index(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

Status check_slice(const NodeView& node) {
  ETWG_TRY(check_moved_dim(node, 1));
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
    view.size = size_of_dim(out, d);
    view.stride = stride_of_dim(source, d, d == dim ? step : 1);
    // The dims outside of the cut one still follow each other, and so do those inside.
    view.joins_next = d + 1 < rank && d + 1 != dim && !(d == dim && step != 1);
    map.dims.push_back(std::move(view));
  }
  map.base = [source, dim, start = std::move(start)](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    return static_cast<uint32_t>(start(live) * dims.numel(dim + 1, dims.rank()));
  };
  if (dim != rank - 1) keep_last_dim(map, source);
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

Status check_select(const NodeView& node) { return check_moved_dim(node, 1); }

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
    view.size = size_of_dim(source, d);
    view.stride = stride_of_dim(source, d);
    view.joins_next = d + 1 < rank && d + 1 != dim;
    map.dims.push_back(std::move(view));
  }
  map.base = [source, dim, index = live_integer(node, 2)](const LiveValues& live) {
    const Shape& dims = live.dims(source);
    const int64_t at = select_index(index(live), dims[dim]).value_or(0);
    return static_cast<uint32_t>(at * dims.numel(dim + 1, dims.rank()));
  };
  if (dim != rank - 1) keep_last_dim(map, source);
  add_movement(node, lowering, source, map);
  return {};
}

Status check_split(const NodeView& node) {
  ETWG_TRY(check_moved_dim(node, 2));
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
    add_movement(node, lowering, node.id(0), range_map(node, out, dim, 1, start), out);
  }
  return {};
}

}  // namespace

std::span<const Op> slicing_ops() {
  static constexpr Op kOps[] = {
      compute_op("aten.slice_copy.Tensor", "t i i? i? i -> t", check_slice, infer_slice,
                 lower_slice),
      compute_op("aten.select_copy.int", "t i i -> t", check_select, infer_select, lower_select),
      // Takes no followers: its outputs are several, each a kernel's or a view of its own.
      {"aten.split_with_sizes_copy.default", "t l i -> T", OpKind::kCompute, false, check_split,
       infer_split, lower_split},
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
