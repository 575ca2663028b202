#include "ops/reduction_table.h"

#include <array>

namespace executorch::backends::webgpu {

namespace {

constexpr std::string_view kPlain = "alias State = A;\n";
constexpr std::string_view kArgFloat = "struct State { value: f32, index: u32 }\n";
constexpr std::string_view kArgInt = "struct State { value: i32, index: u32 }\n";

constexpr Reducer kSum = {kPlain, "A(0)", "x", "a + b", "Out(s)"};
constexpr Reducer kMean = {kPlain, "A(0)", "x", "a + b", "Out(s) / Out(count)"};
constexpr Reducer kProd = {kPlain, "A(1)", "x", "a * b", "Out(s)"};
constexpr Reducer kAny = {kPlain, "A(0)", "select(A(1), A(0), x == A(0))", "max(a, b)", "Out(s)"};
constexpr Reducer kAll = {kPlain, "A(1)", "select(A(1), A(0), x == A(0))", "min(a, b)", "Out(s)"};
// NaN wins over every number.
constexpr Reducer kMaxFloat = {kPlain, "bits_to_float(0xff800000u)", "x",
                               "select(b, a, a > b || is_nan(a))", "s"};
constexpr Reducer kMinFloat = {kPlain, "bits_to_float(0x7f800000u)", "x",
                               "select(b, a, a < b || is_nan(a))", "s"};
constexpr Reducer kMaxInt = {kPlain, "i32(-2147483648)", "x", "max(a, b)", "s"};
constexpr Reducer kMinInt = {kPlain, "2147483647", "x", "min(a, b)", "s"};
// Of equal values the first; the empty state has the largest index.
constexpr Reducer kArgMaxFloat = {
    kArgFloat, "State(bits_to_float(0xff800000u), 0xffffffffu)", "State(x, r)",
    "pick(a, b, (is_nan(a.value) && !is_nan(b.value)) || (a.value > b.value && !is_nan(b.value)), "
    "a.value == b.value || (is_nan(a.value) && is_nan(b.value)))",
    "Out(s.index)"};
constexpr Reducer kArgMinFloat = {
    kArgFloat, "State(bits_to_float(0x7f800000u), 0xffffffffu)", "State(x, r)",
    "pick(a, b, (is_nan(a.value) && !is_nan(b.value)) || (a.value < b.value && !is_nan(b.value)), "
    "a.value == b.value || (is_nan(a.value) && is_nan(b.value)))",
    "Out(s.index)"};
constexpr Reducer kArgMaxInt = {kArgInt, "State(i32(-2147483648), 0xffffffffu)", "State(x, r)",
                                "pick(a, b, a.value > b.value, a.value == b.value)",
                                "Out(s.index)"};
constexpr Reducer kArgMinInt = {kArgInt, "State(2147483647, 0xffffffffu)", "State(x, r)",
                                "pick(a, b, a.value < b.value, a.value == b.value)",
                                "Out(s.index)"};
constexpr Reducer kNone = {};

// clang-format off
constexpr auto kRows = std::to_array<ReductionRow>({
    {"aten.sum.dim_IntList", "t l? b n? -> t", 1, 2, kSum, kSum},
    {"aten.sum.default", "t n? -> t", -1, -1, kSum, kSum},
    {"aten.mean.dim", "t l? b n? -> t", 1, 2, kMean, kNone},
    {"aten.mean.default", "t n? -> t", -1, -1, kMean, kNone},
    {"aten.prod.default", "t n? -> t", -1, -1, kProd, kProd},
    {"aten.prod.dim_int", "t l b n? -> t", 1, 2, kProd, kProd},
    {"aten.amax.default", "t l b -> t", 1, 2, kMaxFloat, kMaxInt, true},
    {"aten.amin.default", "t l b -> t", 1, 2, kMinFloat, kMinInt, true},
    {"aten.argmax.default", "t n? b -> t", 1, 2, kArgMaxFloat, kArgMaxInt, true},
    {"aten.argmin.default", "t n? b -> t", 1, 2, kArgMinFloat, kArgMinInt, true},
    {"aten.any.default", "t -> t", -1, -1, kAny, kAny},
    {"aten.any.dim", "t l b -> t", 1, 2, kAny, kAny},
    {"aten.any.dims", "t l? b -> t", 1, 2, kAny, kAny},
    {"aten.all.default", "t -> t", -1, -1, kAll, kAll},
    {"aten.all.dim", "t l b -> t", 1, 2, kAll, kAll},
    {"aten.all.dims", "t l? b -> t", 1, 2, kAll, kAll},
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
