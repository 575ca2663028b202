#include "ops/reducer.h"

#include <fmt/format.h>

#include <algorithm>

namespace executorch::backends::webgpu {

namespace {

std::string state_type(const Reducer& reducer) {
  if (reducer.fields == "A") return "alias State = A;\n";
  std::string text = "struct State { ";
  for (const auto& [name, type] : state_fields(reducer)) {
    text += fmt::format("{}: {}, ", name, type);
  }
  return text + "}\n";
}

// combine, of lifts of the lanes of x.
std::string lift4(const Reducer& reducer) {
  if (!reducer.lift4.empty()) return std::string(reducer.lift4);
  return "combine(combine(lift(x.x, r), lift(x.y, r + 1u)), "
         "combine(lift(x.z, r + 2u), lift(x.w, r + 3u)))";
}

// Chan's formula. Means are counted from the first element that a State saw, so that what they
// share costs no digits: the difference of two elements near each other is exact.
constexpr std::string_view kMerge = R"(fn merge(a: State, b: State) -> State {
  if (a.n == 0.0) {
    return b;
  }
  if (b.n == 0.0) {
    return a;
  }
  let n = a.n + b.n;
  let d = (b.first - a.first) + (b.mean - a.mean);
  return State(n, a.first, a.mean + d * (b.n / n), a.m2 + b.m2 + d * d * (a.n * b.n / n));
}
fn moments_of_four(x: vec4<f32>) -> State {
  let from_first = x - vec4<f32>(x.x);
  let mean = 0.25 * dot(from_first, vec4<f32>(1.0));
  let d = from_first - vec4<f32>(mean);
  return State(4.0, x.x, mean, dot(d, d));
}
)";

}  // namespace

std::vector<std::pair<std::string, std::string>> state_fields(const Reducer& reducer) {
  std::vector<std::pair<std::string, std::string>> fields;
  std::string_view rest = reducer.fields;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view field = rest.substr(0, end);
    const size_t colon = field.find(':');
    if (colon == std::string_view::npos) return {{"", std::string(field)}};
    fields.emplace_back(field.substr(0, colon), field.substr(colon + 1));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fields;
}

void emit_reducer(KernelBuilder& kernel, const Reducer& reducer, bool float_input,
                  bool float_output) {
  kernel.module("reduce_state");
  kernel.code(
      fmt::format("alias A = {};\nalias Out = {};\n{}{}"
                  "fn identity() -> State {{\n  return {};\n}}\n"
                  "fn lift(x: A, r: u32) -> State {{\n  return {};\n}}\n"
                  "fn combine(a: State, b: State) -> State {{\n  return {};\n}}\n"
                  "fn lift4(x: vec4<A>, r: u32) -> State {{\n  return {};\n}}\n"
                  "fn finish(s: State, count: u32) -> Out {{\n  return {};\n}}\n",
                  float_input ? "f32" : "i32", float_output ? "f32" : "i32", state_type(reducer),
                  reducer.helpers, reducer.identity, reducer.lift, reducer.combine, lift4(reducer),
                  reducer.finish));
}

void emit_workgroup_reduction(KernelBuilder& kernel, const Reducer& reducer) {
  const Capabilities& caps = kernel.capabilities();
  if (!caps.subgroups) {
    kernel.module("reduce.workgroup");
    return;
  }
  std::string shuffled;
  for (const auto& [name, type] : state_fields(reducer)) {
    shuffled += fmt::format("{}subgroupShuffleXor(s{}{}, mask)", shuffled.empty() ? "" : ", ",
                            name.empty() ? "" : ".", name);
  }
  // Every invocation of a workgroup takes part, so that the sum of ones is the size.
  const bool fixed = caps.subgroup_min_size == caps.subgroup_max_size;
  kernel.constant("SMALLEST_SUBGROUP", caps.subgroup_min_size);
  kernel.code(
      fmt::format("fn shuffle(s: State, mask: u32) -> State {{\n  return State({});\n}}\n"
                  "fn subgroup_width() -> u32 {{\n  return {};\n}}\n",
                  shuffled, fixed ? "SMALLEST_SUBGROUP" : "subgroupAdd(1u)"));
  kernel.module("reduce.subgroup");
}

void emit_write_rows(KernelBuilder& kernel, std::string_view put) {
  const bool single = kernel.lanes() == Lanes::k1;
  kernel.code(
      fmt::format("fn write_rows(i: u32, local: u32) {{\n  let first = i * LANES;\n"
                  "  let value = {};\n  if (local == 0u) {{\n    {}(i, value);\n  }}\n}}\n",
                  single ? "reduce_one(first, local)"
                         : "vec4<Out>(reduce_one(first, local), reduce_one(first + 1u, local), "
                           "reduce_one(first + 2u, local), reduce_one(first + 3u, local))",
                  put));
}

Reducer moments_reducer(std::string_view finish) {
  return {"n:f32 first:f32 mean:f32 m2:f32",
          "State(0.0, 0.0, 0.0, 0.0)",
          "State(1.0, x, 0.0, 0.0)",
          "merge(a, b)",
          finish,
          "moments_of_four(x)",
          kMerge};
}

}  // namespace executorch::backends::webgpu
