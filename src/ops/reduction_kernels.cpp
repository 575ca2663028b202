#include <fmt/format.h>

#include "base/checked.h"
#include "ops/pointwise.h"
#include "ops/reduction.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

namespace {

// From this many elements an output is worth a workgroup.
constexpr uint32_t kWorkgroupElements = 32;
// So many columns keep a GPU busy with an invocation each, which read together; fewer are better
// read by a workgroup each, though its reads lie apart.
constexpr uint32_t kFewColumns = 4096;
// Fewer invocations than this leave most of a large GPU idle; outputs of this many elements or more
// are then cut into parts, of which a second stage makes the result.
constexpr uint64_t kEnoughInvocations = 1 << 15;
constexpr uint64_t kSplitElements = 1024;
constexpr uint64_t kMaxParts = 256;
constexpr uint64_t kWorkgroup = 256;  // invocations, where a workgroup reduces a part
constexpr uint64_t kMinPartElements = 128;

// The source as [outputs, elements]: the kept dims, then the reduced ones.
ViewMap reduction_map(const Reduction& what) {
  const NodeView& node = what.node;
  const ViewMap identity = identity_map(node.graph(), node.id(0));
  ViewMap map;
  const size_t rank = what.reduced.size();
  for (const bool pass : {false, true}) {
    for (size_t d = 0; d < rank; ++d) {
      if (what.reduced[d] != pass) continue;
      ViewDim dim = identity.dims[d];
      dim.joins_next = d + 1 < rank && what.reduced[d + 1] == pass;
      map.dims.push_back(std::move(dim));
    }
  }
  return map;
}

// What all kernels of a reduction take from its sizes.
struct Layout {
  ViewMap map;
  LiveFn outputs, elements;
  bool in_rows = true;  // the elements of an output lie one after the other, in order
  bool last_reduced = true;
};

Layout layout_of(const Reduction& what) {
  const auto product = [source = what.node.id(0), reduced = what.reduced](const LiveValues& live,
                                                                          bool of_reduced) {
    const Shape& dims = live.dims(source);
    uint32_t n = 1;
    for (int d = 0; d < dims.rank(); ++d) {
      if (reduced[static_cast<size_t>(d)] == of_reduced) n *= static_cast<uint32_t>(dims[d]);
    }
    return n;
  };
  Layout layout;
  layout.map = reduction_map(what);
  layout.outputs = [product](const LiveValues& live) { return product(live, false); };
  layout.elements = [product](const LiveValues& live) { return product(live, true); };
  for (size_t d = 0; d + 1 < what.reduced.size(); ++d) {
    layout.in_rows = layout.in_rows && what.reduced[d] <= what.reduced[d + 1];
  }
  layout.last_reduced = what.reduced.empty() || what.reduced.back();
  if (layout.in_rows && !layout.map.dims.empty()) {  // one run
    for (size_t i = 0; i + 1 < layout.map.dims.size(); ++i) layout.map.dims[i].joins_next = true;
  }
  return layout;
}

// A step is a group of four elements, or one.
enum class Steps : uint8_t { kElements, kGroups };

void emit_steps(KernelBuilder& kernel, const Reduction& what, const Layout& layout, Steps steps) {
  const ValueId source = what.node.id(0);
  if (steps == Steps::kGroups) {
    kernel.input("source", source);
    kernel.param("steps", [n = layout.elements](const LiveValues& live) { return n(live) / 4; });
    kernel.code(
        "fn lift_step(output: u32, i: u32) -> State {\n"
        "  return lift4(vec4<A>(source4(output * p.steps + i)), i * 4u);\n}\n");
    return;
  }
  emit_view(kernel, "source", source, layout.map);
  kernel.param("steps", layout.elements);
  kernel.code(
      "fn lift_step(output: u32, i: u32) -> State {\n"
      "  return lift(A(source1(source_at(output * p.steps + i))), i);\n}\n");
}

// Where results go: `put`(group or element, value).
std::string_view emit_result(KernelBuilder& kernel, const Reduction& what) {
  if (what.output == 0) {
    emit_store(kernel, what.node);
    return "store";
  }
  kernel.output("out", what.node.output(what.output));
  return "out_put";
}

Lanes result_lanes(const Reduction& what, const Capabilities& caps) {
  const bool single = what.output == 0 ? can_store_single(what.node, caps)
                                       : KernelBuilder::can_store_single(
                                             what.node.output_tensor(what.output).dtype, caps);
  return single ? Lanes::k1 : Lanes::k4;
}

void emit_finish(KernelBuilder& kernel, const Reduction& what, const Layout& layout) {
  if (what.correction) kernel.param_f32("correction", *what.correction);
  kernel.param("outputs", layout.outputs);
  kernel.param("count", layout.elements);
  kernel.code("fn element_count() -> u32 {\n  return p.count;\n}\n");
  emit_write_rows(kernel, emit_result(kernel, what));
}

void emit_whole_reducer(KernelBuilder& kernel, const Reduction& what, const Reducer& reducer) {
  emit_reducer(kernel, reducer, what.as_float,
               kernel.is_float_value(what.node.output(what.output)));
}

std::function<uint64_t(const LiveValues&)> groups_of(const LiveFn& outputs, Lanes lanes) {
  return [outputs, lanes = static_cast<uint64_t>(lanes)](const LiveValues& live) {
    return div_up(outputs(live), lanes);
  };
}

Dispatch build_rows(const Reduction& what, const Layout& layout, const Lowering& lowering,
                    Steps steps) {
  const Lanes lanes = result_lanes(what, lowering.capabilities());
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), "reduce_rows", lanes);
  emit_whole_reducer(kernel, what, what.reducer);
  emit_steps(kernel, what, layout, steps);
  emit_finish(kernel, what, layout);
  emit_workgroup_reduction(kernel, what.reducer);
  kernel.body("reduce_rows");
  kernel.workgroups(groups_of(layout.outputs, lanes));
  kernel.require([elements = layout.elements, outputs = layout.outputs, steps,
                  columns = !layout.last_reduced](const LiveValues& live) {
    const uint32_t n = elements(live);
    return n >= kWorkgroupElements && (steps == Steps::kElements || n % 4 == 0) &&
           (!columns || outputs(live) <= kFewColumns);
  });
  return kernel.finish();
}

Dispatch build_serial(const Reduction& what, const Layout& layout, const Lowering& lowering) {
  const Lanes lanes = result_lanes(what, lowering.capabilities());
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), "reduce_serial", lanes,
                       /*general=*/true);
  emit_whole_reducer(kernel, what, what.reducer);
  emit_steps(kernel, what, layout, Steps::kElements);
  emit_finish(kernel, what, layout);
  kernel.body("reduce_serial");
  kernel.workgroup_size(64);
  kernel.invocations(groups_of(layout.outputs, lanes));
  return kernel.finish();
}

// The States of the parts of all outputs, a tensor for each field.
struct Parts {
  uint32_t count;  // of an output
  std::vector<ValueId> fields;
};

Parts make_parts(const Reduction& what, Lowering& lowering, uint32_t count, uint64_t outputs) {
  Parts parts{count, {}};
  const Shape dims{static_cast<int64_t>(outputs), static_cast<int64_t>(count)};
  for (const auto& [name, type] : state_fields(what.reducer)) {
    const bool as_float = type == "f32" || (type == "A" && what.as_float);
    parts.fields.push_back(lowering.scratch(as_float ? DType::kFloat32 : DType::kInt32, dims));
  }
  return parts;
}

Dispatch build_parts(const Reduction& what, const Layout& layout, const Lowering& lowering,
                     const Parts& parts, bool workgroup_each) {
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(),
                       workgroup_each ? "reduce_row_parts" : "reduce_column_parts", Lanes::k1,
                       /*general=*/true);
  Reducer reducer = what.reducer;
  reducer.finish = "Out(0)";  // belongs to the second stage
  emit_whole_reducer(kernel, what, reducer);
  emit_steps(kernel, what, layout, Steps::kElements);
  kernel.param("outputs", layout.outputs);
  kernel.constant("PARTS", parts.count);
  std::string puts;
  size_t k = 0;
  for (const auto& [name, type] : state_fields(reducer)) {
    kernel.output(fmt::format("part{}", k), parts.fields[k]);
    const std::string value = name.empty() ? "state" : "state." + name;
    puts += fmt::format("  part{}_put(number, {});\n", k,
                        type == "u32" ? fmt::format("bitcast<i32>({})", value) : value);
    ++k;
  }
  kernel.code(fmt::format("fn put_part(number: u32, state: State) {{\n{}}}\n", puts));
  const auto all = [outputs = layout.outputs, n = parts.count](const LiveValues& live) {
    return uint64_t{outputs(live)} * n;
  };
  if (workgroup_each) {
    emit_workgroup_reduction(kernel, reducer);
    kernel.workgroups(all);
  } else {
    kernel.invocations(all);
  }
  kernel.body(workgroup_each ? "reduce_row_parts" : "reduce_column_parts");
  return kernel.finish();
}

Dispatch build_combine(const Reduction& what, const Layout& layout, const Lowering& lowering,
                       const Parts& parts) {
  const Lanes lanes = result_lanes(what, lowering.capabilities());
  const bool workgroup_each = parts.count >= kWorkgroupElements;
  const char* body = workgroup_each ? "reduce_rows" : "reduce_serial";
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), body, lanes, /*general=*/true);
  emit_whole_reducer(kernel, what, what.reducer);
  std::string state;
  size_t k = 0;
  for (const auto& [name, type] : state_fields(what.reducer)) {
    kernel.input(fmt::format("part{}", k), parts.fields[k]);
    const std::string value = fmt::format("part{}1(output * p.steps + i)", k);
    state +=
        (k == 0 ? "" : ", ") + (type == "u32" ? fmt::format("bitcast<u32>({})", value) : value);
    ++k;
  }
  kernel.code(fmt::format(
      "fn lift_step(output: u32, i: u32) -> State {{\n  return State({});\n}}\n", state));
  kernel.param("steps", [n = parts.count](const LiveValues&) { return n; });
  emit_finish(kernel, what, layout);
  kernel.body(body);
  if (workgroup_each) {
    emit_workgroup_reduction(kernel, what.reducer);
    kernel.workgroups(groups_of(layout.outputs, lanes));
  } else {
    kernel.workgroup_size(64);
    kernel.invocations(groups_of(layout.outputs, lanes));
  }
  return kernel.finish();
}

// How many parts an output is cut into at the largest sizes; 1: it is not worth a second stage.
uint32_t part_count(const Layout& layout, const Lowering& lowering) {
  const uint64_t outputs = layout.outputs(lowering.maxima());
  const uint64_t elements = layout.elements(lowering.maxima());
  const uint64_t invocations = outputs * (layout.last_reduced ? kWorkgroup : 1);
  if (elements < kSplitElements || outputs == 0 || invocations >= kEnoughInvocations) return 1;
  const uint64_t each = layout.last_reduced ? kWorkgroup * 4 : kMinPartElements;
  const uint64_t wanted = std::min(div_up(kEnoughInvocations * 2, invocations), elements / each);
  return static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, kMaxParts));
}

}  // namespace

void add_reduction(const Reduction& what, Lowering& lowering) {
  const Layout layout = layout_of(what);
  if (const uint32_t count = part_count(layout, lowering); count > 1) {
    const Parts parts = make_parts(what, lowering, count, layout.outputs(lowering.maxima()));
    lowering.add(build_parts(what, layout, lowering, parts, layout.last_reduced));
    lowering.add(build_combine(what, layout, lowering, parts));
    return;
  }
  std::vector<Dispatch> variants;
  if (layout.in_rows) variants.push_back(build_rows(what, layout, lowering, Steps::kGroups));
  variants.push_back(build_rows(what, layout, lowering, Steps::kElements));
  variants.push_back(build_serial(what, layout, lowering));
  lowering.add(std::move(variants));
}

}  // namespace executorch::backends::webgpu
