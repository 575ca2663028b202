#include "ops/reduction_table.h"

#include <array>

namespace executorch::backends::webgpu {

namespace {

// NaN is looked for in the bits and never compared: drivers may turn a comparison around.
constexpr std::string_view kNotNanHelpers = R"(fn larger(a: f32, b: f32) -> f32 {
  let y = select(b, a, a > b);
  return select(select(y, b, is_nan(b)), a, is_nan(a));
}
fn smaller(a: f32, b: f32) -> f32 {
  let y = select(b, a, a < b);
  return select(select(y, b, is_nan(b)), a, is_nan(a));
}
)";
// Of equal values the first; the empty state has the largest index.
constexpr std::string_view kPickFloat = R"(fn pick(a: State, b: State, better: bool) -> State {
  let a_nan = is_nan(a.value);
  let b_nan = is_nan(b.value);
  let any_nan = a_nan || b_nan;
  let first = select(better, a_nan && !b_nan, any_nan);
  let equal = select(a.value == b.value, a_nan && b_nan, any_nan);
  if (first || (equal && a.index < b.index)) {
    return a;
  }
  return b;
}
)";
constexpr std::string_view kPickInt = R"(fn pick(a: State, b: State, better: bool) -> State {
  if (better || (a.value == b.value && a.index < b.index)) {
    return a;
  }
  return b;
}
)";
constexpr std::string_view kFour = "(x.x + x.y) + (x.z + x.w)";
constexpr Reducer kSum = {"A", "A(0)", "x", "a + b", "Out(s)", kFour};
constexpr Reducer kMean = {"A", "A(0)", "x", "a + b", "ratio(Out(s), f32(count))", kFour};
constexpr Reducer kProd = {"A", "A(1)", "x", "a * b", "Out(s)", "(x.x * x.y) * (x.z * x.w)"};
constexpr Reducer kAnyFloat = {"A", "0.0", "select(1.0, 0.0, is_zero(x))", "max(a, b)", "Out(s)"};
constexpr Reducer kAllFloat = {"A", "1.0", "select(1.0, 0.0, is_zero(x))", "min(a, b)", "Out(s)"};
constexpr Reducer kAnyInt = {"A", "0", "select(1, 0, x == 0)", "max(a, b)", "Out(s)"};
constexpr Reducer kAllInt = {"A", "1", "select(1, 0, x == 0)", "min(a, b)", "Out(s)"};
constexpr Reducer kMaxFloat = {
    "A", "bits_to_float(0xff800000u)", "x", "larger(a, b)", "Out(s)", "", kNotNanHelpers};
constexpr Reducer kMinFloat = {
    "A", "bits_to_float(0x7f800000u)", "x", "smaller(a, b)", "Out(s)", "", kNotNanHelpers};
constexpr Reducer kMaxInt = {"A", "i32(-2147483648)", "x", "max(a, b)", "Out(s)"};
constexpr Reducer kMinInt = {"A", "2147483647", "x", "min(a, b)", "Out(s)"};

constexpr std::string_view kArgFields = "value:A index:u32";
constexpr std::string_view kLowest = "State(bits_to_float(0xff800000u), 0xffffffffu)";
constexpr std::string_view kHighest = "State(bits_to_float(0x7f800000u), 0xffffffffu)";
constexpr std::string_view kMore = "pick(a, b, a.value > b.value)";
constexpr std::string_view kLess = "pick(a, b, a.value < b.value)";
constexpr std::string_view kIndex = "Out(s.index)";
constexpr Reducer kArgMaxFloat = {kArgFields, kLowest, "State(x, r)", kMore,
                                  kIndex,     "",      kPickFloat};
constexpr Reducer kArgMinFloat = {kArgFields, kHighest, "State(x, r)", kLess,
                                  kIndex,     "",       kPickFloat};
constexpr Reducer kArgMaxInt = {
    kArgFields, "State(i32(-2147483648), 0xffffffffu)", "State(x, r)", kMore, kIndex, "", kPickInt};
constexpr Reducer kArgMinInt = {
    kArgFields, "State(2147483647, 0xffffffffu)", "State(x, r)", kLess, kIndex, "", kPickInt};

constexpr Reducer kNone = {};
// Not constants, so that there is one formula: moments_reducer() is a function.
const Reducer kVar = moments_reducer("ratio(s.m2, max(f32(count) - p.correction, 0.0))");
const Reducer kStd = moments_reducer("sqrt(ratio(s.m2, max(f32(count) - p.correction, 0.0)))");

// Positions after the reducers: needs_elements, arithmetic, empty_is_none, correction_arg, index.
// clang-format off
const auto kRows = std::to_array<ReductionRow>({
    {"aten.sum.dim_IntList", "t l? b n? -> t", 1, 2, kSum, kSum, false, true},
    {"aten.sum.default", "t n? -> t", -1, -1, kSum, kSum, false, true},
    {"aten.mean.dim", "t l? b n? -> t", 1, 2, kMean, kNone, false, true},
    {"aten.mean.default", "t n? -> t", -1, -1, kMean, kNone, false, true},
    {"aten.prod.default", "t n? -> t", -1, -1, kProd, kProd, false, true},
    {"aten.prod.dim_int", "t n b n? -> t", 1, 2, kProd, kProd, false, true},
    {"aten.amax.default", "t l b -> t", 1, 2, kMaxFloat, kMaxInt, true},
    {"aten.amin.default", "t l b -> t", 1, 2, kMinFloat, kMinInt, true},
    {"aten.argmax.default", "t n? b -> t", 1, 2, kArgMaxFloat, kArgMaxInt, true},
    {"aten.argmin.default", "t n? b -> t", 1, 2, kArgMinFloat, kArgMinInt, true},
    {"aten.max.default", "t -> t", -1, -1, kMaxFloat, kMaxInt, true},
    {"aten.min.default", "t -> t", -1, -1, kMinFloat, kMinInt, true},
    {"aten.max.dim", "t n b -> t t", 1, 2, kMaxFloat, kMaxInt, true, false, false, -1,
     kArgMaxFloat, kArgMaxInt},
    {"aten.min.dim", "t n b -> t t", 1, 2, kMinFloat, kMinInt, true, false, false, -1,
     kArgMinFloat, kArgMinInt},
    {"aten.any.default", "t -> t", -1, -1, kAnyFloat, kAnyInt},
    {"aten.any.dim", "t n b -> t", 1, 2, kAnyFloat, kAnyInt},
    {"aten.any.dims", "t l? b -> t", 1, 2, kAnyFloat, kAnyInt, false, false, true},
    {"aten.all.default", "t -> t", -1, -1, kAllFloat, kAllInt},
    {"aten.all.dim", "t n b -> t", 1, 2, kAllFloat, kAllInt},
    {"aten.all.dims", "t l? b -> t", 1, 2, kAllFloat, kAllInt, false, false, true},
    {"aten.var.correction", "t l? n? b -> t", 1, 3, kVar, kNone, false, true, false, 2},
    {"aten.var.dim", "t l? b b -> t", 1, 3, kVar, kNone, false, true, false, 2},
    {"aten.std.correction", "t l? n? b -> t", 1, 3, kStd, kNone, false, true, false, 2},
});
// clang-format on

}  // namespace

std::span<const ReductionRow> reduction_rows() { return kRows; }

const ReductionRow* find_reduction(std::string_view name) {
  for (const ReductionRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace executorch::backends::webgpu
