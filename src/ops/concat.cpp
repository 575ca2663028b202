#include "ops/concat.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

// The output is rows (the dims before the joined one), each made of one run of elements a source.
struct Source {
  ValueId value;
  LiveFn width;  // elements of its run: its size along the dimension times what lies inside
};

// A 1-D tensor without elements may stand among tensors of any rank (PyTorch's legacy rule).
bool is_legacy_empty(const Shape& dims) { return dims.rank() == 1 && dims[0] == 0; }

int joined_dim(const NodeView& node) {
  return normalize_dim(node.fixed_integers(1)[0], node.output_tensor().max_dims.rank());
}

Status check_cat(const NodeView& node) {
  const int rank = node.output_tensor().max_dims.rank();
  if (node.is_symbolic(1) || rank == 0 || joined_dim(node) < 0) {
    return node.error(ErrorCode::kInvalidProgram, "the dimension is out of range");
  }
  for (ValueId id : node.items(0)) {
    const Tensor& tensor = *node.graph().tensor(id);
    if (is_legacy_empty(tensor.max_dims)) continue;
    if (tensor.dtype != node.output_tensor().dtype) {
      return node.error(ErrorCode::kNotSupported, "joins {} into {}", name_of(tensor.dtype),
                        name_of(node.output_tensor().dtype));
    }
    if (tensor.max_dims.rank() != rank) {
      return node.error(ErrorCode::kInvalidProgram, "joins tensors of ranks {} and {}",
                        tensor.max_dims.rank(), rank);
    }
  }
  return {};
}

Status infer_cat(const NodeView& node, LiveValues& live) {
  const int dim = joined_dim(node);
  Shape out;
  bool first = true;
  for (ValueId id : node.items(0)) {
    const Shape& dims = live.dims(id);
    if (is_legacy_empty(dims) && is_legacy_empty(node.graph().tensor(id)->max_dims)) continue;
    if (first) {
      out = dims;
      first = false;
      continue;
    }
    for (int d = 0; d < dims.rank(); ++d) {
      if (d == dim || dims[d] == out[d]) continue;
      return node.error(ErrorCode::kInvalidArgument, "cannot join {} and {} along dimension {}",
                        to_string(out), to_string(dims), dim);
    }
    out[dim] += dims[dim];
  }
  if (first) out = Shape{0};
  live.set_dims(node.output(), out);
  return {};
}

// fn joined(i) -> the group i of the concatenation of `sources`.
void emit_join(KernelBuilder& kernel, const std::vector<Source>& sources, bool as_float) {
  const bool whole_groups = !kernel.general();
  std::string branches;
  LiveFn end = [](const LiveValues&) { return 0u; };
  for (size_t k = 0; k < sources.size(); ++k) {
    const LiveFn width = sources[k].width;
    const std::string begin = k == 0 ? "0u" : fmt::format("p.end{}", k - 1);
    end = [end, width](const LiveValues& live) { return end(live) + width(live); };
    kernel.input(fmt::format("source{}", k), sources[k].value);
    kernel.param(fmt::format("width{}", k), width);
    kernel.param(fmt::format("end{}", k), end);
    branches += fmt::format(
        "  if (at < p.end{0}) {{\n    return source{0}{1}((row * p.width{0} + at - {2}){3});\n  "
        "}}\n",
        k, whole_groups ? "4" : "1", begin, whole_groups ? " >> 2u" : "");
    if (whole_groups) {
      kernel.require([width](const LiveValues& live) { return width(live) % 4 == 0; });
    }
  }
  kernel.param("row", [end](const LiveValues& live) { return std::max(end(live), 1u); });
  const char* type = as_float ? "V" : "I";
  const char* scalar = as_float ? "f32" : "i32";
  kernel.code(
      fmt::format("fn joined_at(e: u32) -> {0} {{\n  let row = e / p.row;\n"
                  "  let at = e % p.row;\n{1}  return {0}(0);\n}}\n",
                  whole_groups ? type : scalar, branches));
  kernel.code(
      whole_groups
          ? fmt::format("fn joined(i: u32) -> {} {{\n  return joined_at(i * 4u);\n}}\n", type)
          : fmt::format("fn joined(i: u32) -> {0} {{\n  let e = i * 4u;\n  return {0}("
                        "joined_at(e), joined_at(e + 1u), joined_at(e + 2u), "
                        "joined_at(e + 3u));\n}}\n",
                        type));
}

// One dispatch. `out` is a scratch value, or kNoValue for the node's own output. `rows` counts
// rows.
void add_join(const NodeView& node, Lowering& lowering, const std::vector<Source>& sources,
              const LiveFn& rows, ValueId out) {
  const auto groups = [sources, rows](const LiveValues& live) {
    uint64_t width = 0;
    for (const Source& source : sources) width += source.width(live);
    return div_up(width * rows(live), 4);
  };
  lowering.add([&](bool general) {
    KernelBuilder kernel(lowering.graph(), lowering.capabilities(), "concat", Lanes::k4, general);
    emit_join(kernel, sources, is_float(node.output_tensor().dtype));
    if (out == kNoValue) {
      emit_store(kernel, node);
      kernel.code("fn compute(i: u32) {\n  store(i, joined(i));\n}\n");
    } else {
      kernel.output("out", out);
      kernel.code("fn compute(i: u32) {\n  out_put(i, joined(i));\n}\n");
    }
    kernel.param("groups",
                 [groups](const LiveValues& live) { return static_cast<uint32_t>(groups(live)); });
    kernel.body("pointwise");
    kernel.invocations(groups);
    return kernel.finish();
  });
}

// Bindings that the fused followers take in the last dispatch.
size_t follower_operands(const NodeView& node) {
  size_t count = 0;
  for (const Node& follower : node.node().followers) {
    for (ValueId arg : follower.args) count += node.graph().tensor(arg) != nullptr ? 1 : 0;
  }
  return count;
}

Status lower_cat(const NodeView& node, Lowering& lowering) {
  const int dim = joined_dim(node);
  const ValueId out = node.output();
  const LiveFn rows = [out, dim](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(out).numel(0, dim));
  };
  std::vector<Source> sources;
  for (ValueId id : node.items(0)) {
    if (node.graph().tensor(id)->max_dims.numel() == 0) continue;
    sources.push_back({id, [id, dim](const LiveValues& live) {
                         const Shape& dims = live.dims(id);
                         return static_cast<uint32_t>(dims.numel(dim, dims.rank()));
                       }});
  }
  // More sources than a kernel may bind: join neighbours into intermediate tensors first.
  const size_t limit = lowering.capabilities().max_storage_buffers_per_stage - 1;
  while (sources.size() + follower_operands(node) > limit && sources.size() > 1) {
    std::vector<Source> joined;
    for (size_t first = 0; first < sources.size(); first += limit) {
      const std::vector<Source> part(
          sources.begin() + static_cast<std::ptrdiff_t>(first),
          sources.begin() + static_cast<std::ptrdiff_t>(std::min(first + limit, sources.size())));
      Shape dims = lowering.graph().tensor(part[0].value)->max_dims;
      int64_t size = 0;
      for (const Source& source : part)
        size += lowering.graph().tensor(source.value)->max_dims[dim];
      dims[dim] = size;
      const ValueId scratch = lowering.scratch(node.output_tensor().dtype, dims);
      add_join(node, lowering, part, rows, scratch);
      joined.push_back({scratch, [part](const LiveValues& live) {
                          uint32_t width = 0;
                          for (const Source& source : part) width += source.width(live);
                          return width;
                        }});
    }
    sources = std::move(joined);
  }
  add_join(node, lowering, sources, rows, kNoValue);
  return {};
}

}  // namespace

std::span<const Op> concat_ops() {
  static constexpr Op kOps[] = {
      compute_op("aten.cat.default", "T i -> t", check_cat, infer_cat, lower_cat)};
  return kOps;
}

}  // namespace executorch::backends::webgpu
