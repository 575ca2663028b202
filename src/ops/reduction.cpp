#include "ops/reduction.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "ops/pointwise.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

namespace {

// From this many elements an output is worth a workgroup; and below this many outputs a reduction
// of a large tensor is cut into parts first, which would leave most of a GPU idle otherwise.
constexpr uint64_t kWorkgroupElements = 64;
constexpr uint64_t kSplitElements = 1 << 15;
constexpr uint64_t kSplitOutputs = 64;
constexpr uint64_t kParts = 256;

// Which dims are reduced, by position; none when a dimension is out of range.
std::optional<std::vector<bool>> reduced_dims(const NodeView& node, const ReductionRow& row) {
  const int rank = node.rank(0);
  std::vector<bool> reduced(kMaxRank);
  std::vector<int64_t> dims;
  if (row.dim_arg >= 0) dims = node.fixed_integers(static_cast<size_t>(row.dim_arg));
  if (dims.empty()) {
    for (int d = 0; d < rank; ++d) reduced[static_cast<size_t>(d)] = true;
  }
  for (int64_t dim : dims) {
    const int d = normalize_dim(dim, rank);
    if (d < 0) return std::nullopt;
    reduced[static_cast<size_t>(d)] = true;
  }
  return reduced;
}

bool keeps_dims(const NodeView& node, const ReductionRow& row) {
  return row.keepdim_arg >= 0 && node.boolean(static_cast<size_t>(row.keepdim_arg));
}

Status check_reduction(const NodeView& node) {
  const ReductionRow& row = *find_reduction(node.node().op);
  if (row.dim_arg >= 0 && node.is_symbolic(static_cast<size_t>(row.dim_arg))) {
    return node.error(ErrorCode::kNotSupported, "the dims must be fixed");
  }
  if (!reduced_dims(node, row)) {
    return node.error(ErrorCode::kInvalidProgram, "a dimension is out of range for {}",
                      to_string(node.max_dims(0)));
  }
  const bool as_float = is_float(node.tensor(0)->dtype);
  const Reducer& reducer = as_float ? row.for_float : row.for_int;
  if (reducer.state.empty()) {
    return node.error(ErrorCode::kNotSupported, "is not defined for {}",
                      name_of(node.tensor(0)->dtype));
  }
  return {};
}

Status infer_reduction(const NodeView& node, LiveValues& live) {
  const ReductionRow& row = *find_reduction(node.node().op);
  const std::vector<bool> reduced = *reduced_dims(node, row);
  const Shape in = live.dims(node.id(0));
  Shape out;
  int64_t count = 1;
  for (int d = 0; d < in.rank(); ++d) {
    const bool gone = reduced[static_cast<size_t>(d)];
    if (gone) count *= in[d];
    if (!gone || keeps_dims(node, row)) out.push_back(gone ? 1 : in[d]);
  }
  if (count == 0 && row.needs_elements && out.numel() > 0) {
    return node.error(ErrorCode::kInvalidArgument, "cannot reduce no elements ({})", to_string(in));
  }
  live.set_dims(node.output(), out);
  return {};
}

// The source as [outputs, reduced elements]: the kept dims, then the reduced ones.
ViewMap reduction_map(const NodeView& node, const std::vector<bool>& reduced) {
  const ViewMap identity = identity_map(node.graph(), node.id(0));
  ViewMap map;
  const int rank = node.rank(0);
  for (const bool pass : {false, true}) {
    for (int d = 0; d < rank; ++d) {
      if (reduced[static_cast<size_t>(d)] != pass) continue;
      ViewDim dim = identity.dims[static_cast<size_t>(d)];
      dim.joins_next = d + 1 < rank && reduced[static_cast<size_t>(d + 1)] == pass;
      map.dims.push_back(std::move(dim));
    }
  }
  // Where the kept dims come first anyway, the map is the identity and all of it is one run.
  bool in_order = true;
  for (int d = 0; d + 1 < rank; ++d) {
    in_order = in_order && reduced[static_cast<size_t>(d)] <= reduced[static_cast<size_t>(d + 1)];
  }
  for (size_t i = 0; in_order && i + 1 < map.dims.size(); ++i) map.dims[i].joins_next = true;
  return map;
}

struct Counts {
  LiveFn outputs, reduced;
};

Counts counts_of(const NodeView& node, const std::vector<bool>& reduced) {
  const auto product = [source = node.id(0), reduced](const LiveValues& live, bool of_reduced) {
    const Shape& dims = live.dims(source);
    uint32_t n = 1;
    for (int d = 0; d < dims.rank(); ++d) {
      if (reduced[static_cast<size_t>(d)] == of_reduced) n *= static_cast<uint32_t>(dims[d]);
    }
    return n;
  };
  return {[product](const LiveValues& live) { return product(live, false); },
          [product](const LiveValues& live) { return product(live, true); }};
}

void set_grid(KernelBuilder& kernel, const LiveFn& outputs, bool workgroup_each) {
  const auto items = [outputs, lanes = static_cast<uint64_t>(kernel.lanes())](
                         const LiveValues& live) { return div_up(outputs(live), lanes); };
  if (workgroup_each) {
    kernel.workgroups(items);
  } else {
    kernel.workgroup_size(64);
    kernel.invocations(items);
  }
}

Dispatch build_reduction(const NodeView& node, Lowering& lowering, const Reducer& reducer,
                         const ViewMap& map, const Counts& counts, bool workgroup_each) {
  const Capabilities& caps = lowering.capabilities();
  const Lanes lanes = can_store_single(node, caps) ? Lanes::k1 : Lanes::k4;
  KernelBuilder kernel(lowering.graph(), caps, workgroup_each ? "reduce_rows" : "reduce_serial",
                       lanes, /*general=*/!workgroup_each);
  emit_view(kernel, "source", node.id(0), map);
  emit_reducer(kernel, reducer, kernel.is_float_value(node.id(0)),
               kernel.is_float_value(node.output()));
  kernel.code("fn load_at(i: u32) -> A {\n  return source1(source_at(i));\n}\n");
  emit_store(kernel, node);
  kernel.code(write_rows(lanes, "store"));
  kernel.param("outputs", counts.outputs);
  kernel.param("reduced", counts.reduced);
  kernel.code("fn element_count() -> u32 {\n  return p.reduced;\n}\n");
  if (workgroup_each) kernel.module("reduce_tree");
  kernel.body(workgroup_each ? "reduce_rows" : "reduce_serial");
  set_grid(kernel, counts.outputs, workgroup_each);
  if (workgroup_each) {
    kernel.require([reduced = counts.reduced](const LiveValues& live) {
      return reduced(live) >= kWorkgroupElements;
    });
  }
  return kernel.finish();
}

// Two stages: partial results of kParts parts an output, then those. Only for reducers whose state
// is one element; `finish` belongs to the second.
void add_split(const NodeView& node, Lowering& lowering, const Reducer& reducer, const ViewMap& map,
               const Counts& counts) {
  const Capabilities& caps = lowering.capabilities();
  const bool float_input = is_float(node.tensor(0)->dtype);
  const LiveValues maxima(lowering.graph());
  const auto outputs = static_cast<int64_t>(counts.outputs(maxima));
  const ValueId parts = lowering.scratch(float_input ? DType::kFloat32 : DType::kInt32,
                                         Shape{outputs, static_cast<int64_t>(kParts)});
  const LiveFn part_outputs = [o = counts.outputs](const LiveValues& live) {
    return o(live) * static_cast<uint32_t>(kParts);
  };
  {
    KernelBuilder kernel(lowering.graph(), caps, "reduce_parts", Lanes::k1, /*general=*/true);
    emit_view(kernel, "source", node.id(0), map);
    Reducer partial = reducer;
    partial.finish = "s";
    emit_reducer(kernel, partial, float_input, float_input);
    // Part k of an output takes the elements k, k + kParts, ...: neighbours are read together.
    kernel.constant("PARTS", kParts);
    kernel.param("all", counts.reduced);
    kernel.code(
        "fn load_at(i: u32) -> A {\n  return source1(source_at(i));\n}\n"
        "fn reduce_part(part: u32, local: u32) -> State {\n"
        "  let base = (part / PARTS) * p.all;\n  var state = identity();\n"
        "  let step = PARTS * WORKGROUP_SIZE;\n"
        "  for (var r = (part % PARTS) * WORKGROUP_SIZE + local; r < p.all; r += step) {\n"
        "    state = combine(state, lift(load_at(base + r), r));\n  }\n"
        "  return reduce_workgroup(state, local);\n}\n");
    kernel.output("part_out", parts);
    kernel.param("outputs", part_outputs);
    kernel.module("reduce_tree");
    kernel.body("reduce_parts");
    kernel.workgroups([part_outputs](const LiveValues& live) { return part_outputs(live); });
    lowering.add(kernel.finish());
  }
  const Lanes lanes = can_store_single(node, caps) ? Lanes::k1 : Lanes::k4;
  KernelBuilder kernel(lowering.graph(), caps, "reduce_rows", lanes, /*general=*/true);
  kernel.input("parts", parts);
  Reducer final = reducer;
  final.lift = "x";
  emit_reducer(kernel, final, float_input, kernel.is_float_value(node.output()));
  kernel.code("fn load_at(i: u32) -> A {\n  return parts1(i);\n}\n");
  emit_store(kernel, node);
  kernel.code(write_rows(lanes, "store"));
  kernel.param("outputs", counts.outputs);
  kernel.param("reduced", [](const LiveValues&) { return static_cast<uint32_t>(kParts); });
  kernel.param("count", counts.reduced);
  kernel.code("fn element_count() -> u32 {\n  return p.count;\n}\n");
  kernel.module("reduce_tree");
  kernel.body("reduce_rows");
  set_grid(kernel, counts.outputs, /*workgroup_each=*/true);
  lowering.add(kernel.finish());
}

Status lower_reduction(const NodeView& node, Lowering& lowering) {
  const ReductionRow& row = *find_reduction(node.node().op);
  const std::vector<bool> reduced = *reduced_dims(node, row);
  const Reducer& reducer = is_float(node.tensor(0)->dtype) ? row.for_float : row.for_int;
  const ViewMap map = reduction_map(node, reduced);
  const Counts counts = counts_of(node, reduced);
  const LiveValues maxima(lowering.graph());
  if (reducer.state == "alias State = A;\n" && counts.reduced(maxima) >= kSplitElements &&
      counts.outputs(maxima) <= kSplitOutputs) {
    add_split(node, lowering, reducer, map, counts);
    return {};
  }
  lowering.add({build_reduction(node, lowering, reducer, map, counts, /*workgroup_each=*/true),
                build_reduction(node, lowering, reducer, map, counts, /*workgroup_each=*/false)});
  return {};
}

}  // namespace

std::string write_rows(Lanes lanes, std::string_view put) {
  if (lanes == Lanes::k1) {
    return fmt::format(
        "fn write_rows(i: u32, local: u32) {{\n  let value = reduce_one(i, local);\n"
        "  if (local == 0u) {{\n    {}(i, value);\n  }}\n}}\n",
        put);
  }
  return fmt::format(
      "fn write_rows(i: u32, local: u32) {{\n  let first = i * 4u;\n"
      "  let value = vec4<Out>(reduce_one(first, local), reduce_one(first + 1u, local), "
      "reduce_one(first + 2u, local), reduce_one(first + 3u, local));\n"
      "  if (local == 0u) {{\n    {}(i, value);\n  }}\n}}\n",
      put);
}

void emit_reducer(KernelBuilder& kernel, const Reducer& reducer, bool float_input,
                  bool float_output) {
  kernel.module("reduce_state");
  kernel.code(fmt::format("alias A = {};\nalias Out = {};\n{}", float_input ? "f32" : "i32",
                          float_output ? "f32" : "i32", reducer.state));
  if (reducer.combine.starts_with("pick(")) {
    kernel.code(
        "fn pick(a: State, b: State, better: bool, equal: bool) -> State {\n"
        "  if (better || (equal && a.index < b.index)) {\n    return a;\n  }\n"
        "  return b;\n}\n");
  }
  kernel.code(
      fmt::format("fn identity() -> State {{\n  return {};\n}}\n"
                  "fn lift(x: A, r: u32) -> State {{\n  return {};\n}}\n"
                  "fn combine(a: State, b: State) -> State {{\n  return {};\n}}\n"
                  "fn finish(s: State, count: u32) -> Out {{\n  return {};\n}}\n",
                  reducer.identity, reducer.lift, reducer.combine, reducer.finish));
}

std::span<const Op> reduction_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> rows;
    for (const ReductionRow& row : reduction_rows()) {
      Op op;
      op.name = row.name;
      op.signature = row.signature;
      op.takes_followers = true;
      op.check = check_reduction;
      op.infer = infer_reduction;
      op.lower = lower_reduction;
      rows.push_back(op);
    }
    return rows;
  }();
  return ops;
}

}  // namespace executorch::backends::webgpu
