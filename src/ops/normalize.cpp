#include "ops/normalize.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

// Rows shorter than this are one invocation's work.
constexpr uint32_t kShortRow = 64;

// How elements are taken: lanes of a kernel that are neighbouring columns, or one element spread
// over the lanes (because only whole groups can be stored, and a group may span rows).
enum class Elements : uint8_t { kColumns, kSpread };

std::function<uint64_t(const LiveValues&)> rows_of(const Normalization& what) {
  return [source = what.source, length = what.length](const LiveValues& live) -> uint64_t {
    const uint32_t n = length(live);
    return n == 0 ? 0 : static_cast<uint64_t>(live.numel(source)) / n;
  };
}

void emit_operand(KernelBuilder& kernel, const Normalization::Operand& operand, Elements elements) {
  const std::string input = operand.name + "_values";
  kernel.input(input, operand.value);
  const std::string element = fmt::format("{}1({}_index(column, row))", input, operand.name);
  kernel.code(fmt::format("fn {}_index(column: u32, row: u32) -> u32 {{\n  return {};\n}}\n",
                          operand.name, operand.index));
  std::string value = fmt::format("V({})", element);
  if (kernel.lanes() == Lanes::k4 && elements == Elements::kColumns) {
    value = fmt::format("{}4(column >> 2u)", input);
    if (!operand.by_column) {
      const auto lane = [&](int k) {
        return fmt::format("{0}1({1}_index(column + {2}u, row))", input, operand.name, k);
      };
      value = fmt::format("V({}, {}, {}, {})", lane(0), lane(1), lane(2), lane(3));
    }
  }
  kernel.code(
      fmt::format("fn {}(column: u32, row: u32) -> V {{\n  return {};\n}}\n", operand.name, value));
}

void emit_common(KernelBuilder& kernel, const NodeView& node, const Normalization& what,
                 Elements elements) {
  kernel.module("pointwise_math");
  kernel.input("source", what.source);
  emit_reducer(kernel, what.reducer, true, true);
  for (const auto& operand : what.operands) emit_operand(kernel, operand, elements);
  for (const auto& [name, value] : what.params) kernel.param(name, value);
  for (const auto& [name, value] : what.numbers) kernel.param_f32(name, value);
  kernel.param("row_length", what.length);
  kernel.code(fmt::format(
      "fn apply(x: V, column: u32, row: u32, s: State) -> V {{\n  return {};\n}}\n", what.apply));
  kernel.code("fn load_at(i: u32) -> f32 {\n  return source1(i);\n}\n");
  emit_store(kernel, node);
}

// A workgroup a row.
Dispatch build_rows(const NodeView& node, Lowering& lowering, const Normalization& what,
                    Lanes lanes) {
  const bool groups = lanes == Lanes::k4;
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), what.kernel + "_rows", lanes,
                       /*general=*/!groups);
  emit_common(kernel, node, what, Elements::kColumns);
  kernel.code(groups ? "fn row_load(i: u32) -> V {\n  return source4(i);\n}\n"
                       "fn lift_row(x: V) -> State {\n  return lift4(x, 0u);\n}\n"
                     : "fn row_load(i: u32) -> V {\n  return source1(i);\n}\n"
                       "fn lift_row(x: V) -> State {\n  return lift(x, 0u);\n}\n");
  const auto rows = rows_of(what);
  kernel.param("rows",
               [rows](const LiveValues& live) { return static_cast<uint32_t>(rows(live)); });
  emit_workgroup_reduction(kernel, what.reducer);
  kernel.body("normalize_rows");
  kernel.workgroups(rows);
  if (groups) {
    kernel.require([length = what.length](const LiveValues& live) {
      return length(live) % 4 == 0 && length(live) >= kShortRow;
    });
  }
  return kernel.finish();
}

LiveFn inner_of(const Normalization& what) {
  if (what.inner) return what.inner;
  return [](const LiveValues&) { return 1u; };
}

// An invocation a row.
Dispatch build_lines(const NodeView& node, Lowering& lowering, const Normalization& what) {
  const bool strided = static_cast<bool>(what.inner);
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), what.kernel + "_lines", Lanes::k1,
                       /*general=*/strided);
  emit_common(kernel, node, what, Elements::kColumns);
  kernel.code(
      "fn apply1(x: f32, column: u32, row: u32, s: State) -> f32 {\n"
      "  return apply(x, column, row, s);\n}\n");
  const auto rows = rows_of(what);
  kernel.param("lines",
               [rows](const LiveValues& live) { return static_cast<uint32_t>(rows(live)); });
  kernel.param("inner", inner_of(what));
  kernel.body("normalize_lines");
  kernel.workgroup_size(64);
  kernel.invocations(rows);
  if (!strided) {
    kernel.require(
        [length = what.length](const LiveValues& live) { return length(live) < kShortRow; });
  }
  return kernel.finish();
}

// Where groups span rows and only groups can be stored.
Dispatch build_serial(const NodeView& node, Lowering& lowering, const Normalization& what) {
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), what.kernel + "_serial",
                       Lanes::k4, /*general=*/true);
  emit_common(kernel, node, what, Elements::kSpread);
  kernel.code(
      "fn apply1(x: f32, column: u32, row: u32, s: State) -> f32 {\n"
      "  return apply(V(x), column, row, s).x;\n}\n"
      "fn write_lanes(i: u32) {\n  let e = i * 4u;\n"
      "  store(i, V(value_at(e), value_at(e + 1u), value_at(e + 2u), value_at(e + 3u)));\n}\n");
  const auto numel = [source = what.source](const LiveValues& live) {
    return static_cast<uint64_t>(live.numel(source));
  };
  kernel.param("numel",
               [numel](const LiveValues& live) { return static_cast<uint32_t>(numel(live)); });
  kernel.param("inner", inner_of(what));
  kernel.body("normalize_serial");
  kernel.workgroup_size(64);
  kernel.invocations([numel](const LiveValues& live) { return div_up(numel(live), 4); });
  return kernel.finish();
}

}  // namespace

void add_normalization(const NodeView& node, Lowering& lowering, const Normalization& what) {
  const bool single = can_store_single(node, lowering.capabilities());
  std::vector<Dispatch> variants;
  if (!what.inner) {
    variants.push_back(build_rows(node, lowering, what, Lanes::k4));
    if (single) {
      variants.push_back(build_lines(node, lowering, what));
      variants.push_back(build_rows(node, lowering, what, Lanes::k1));
    }
  } else if (single) {
    variants.push_back(build_lines(node, lowering, what));
  }
  if (!single) variants.push_back(build_serial(node, lowering, what));
  lowering.add(std::move(variants));
}

void add_row_statistic(const NodeView& node, Lowering& lowering, const Normalization& what,
                       ValueId out) {
  const DType dtype = node.graph().tensor(out)->dtype;
  const bool single = KernelBuilder::can_store_single(dtype, lowering.capabilities());
  KernelBuilder kernel(lowering.graph(), lowering.capabilities(), what.kernel + "_statistic",
                       single ? Lanes::k1 : Lanes::k4, /*general=*/true);
  kernel.input("source", what.source);
  emit_reducer(kernel, what.reducer, true, true);
  for (const auto& [name, value] : what.numbers) kernel.param_f32(name, value);
  kernel.output("out", out);
  kernel.code(
      "fn lift_step(output: u32, i: u32) -> State {\n"
      "  return lift(source1(output * p.steps + i), i);\n}\n"
      "fn element_count() -> u32 {\n  return p.steps;\n}\n");
  emit_write_rows(kernel, "out_put");
  const auto rows = rows_of(what);
  kernel.param("outputs",
               [rows](const LiveValues& live) { return static_cast<uint32_t>(rows(live)); });
  kernel.param("steps", what.length);
  kernel.body("reduce_serial");
  kernel.workgroup_size(64);
  kernel.invocations([rows, lanes = static_cast<uint64_t>(kernel.lanes())](const LiveValues& live) {
    return div_up(rows(live), lanes);
  });
  lowering.add(kernel.finish());
}

}  // namespace executorch::backends::webgpu
