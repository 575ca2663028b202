// Every pointwise operator, on all types, against its definition in double (or in 64-bit integers).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "gpu_test_util.h"
#include "ops/pointwise_table.h"

namespace executorch::backends::webgpu::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kFlushed = 1.2e-38;  // a GPU may take subnormal numbers for 0

// Bounds in units of the last place of the result, and absolute where a definition cancels.
constexpr Tolerance ulps(double n, double absolute = 0) { return {absolute + kFlushed, n * kUlp}; }

struct Unary {
  const char* op;
  std::vector<Arg> args;
  double (*f)(double);
  Tolerance tolerance = {};
  bool exact_type = false;  // integers stay integers; otherwise they yield float32
  bool yields_bool = false;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double clamp(double x, double low, double high) {
  return std::isnan(x) ? x : std::min(std::max(x, low), high);
}

// Bounds: what the functions of pointwise_math.wgsl promise, with a little room for builtins.
const std::vector<Unary>& unary_cases() {
  static const std::vector<Unary> cases = {
      {"aten.abs.default", {}, [](double x) { return std::abs(x); }, {}, true},
      {"aten.acos.default", {}, [](double x) { return std::acos(x); }, ulps(4, 3e-7)},
      {"aten.asin.default", {}, [](double x) { return std::asin(x); }, ulps(4)},
      {"aten.atan.default", {}, [](double x) { return std::atan(x); }, ulps(4)},
      {"aten.ceil.default", {}, [](double x) { return std::ceil(x); }, {}, true},
      {"aten.cos.default", {}, [](double x) { return std::cos(x); }, ulps(2, 1e-7)},
      {"aten.erf.default", {}, [](double x) { return std::erf(x); }, ulps(6)},
      {"aten.exp.default", {}, [](double x) { return std::exp(x); }, ulps(5)},
      {"aten.expm1.default", {}, [](double x) { return std::expm1(x); }, ulps(10)},
      {"aten.floor.default", {}, [](double x) { return std::floor(x); }, {}, true},
      {"aten.gelu.default",
       {"none"},
       // PyTorch's yields NaN at both infinities.
       [](double x) { return std::isinf(x) ? kNaN : x / 2 * (1 + std::erf(x / std::sqrt(2.0))); },
       ulps(6, 4e-7)},
      {"aten.gelu.default",
       {"tanh"},
       [](double x) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       },
       ulps(6, 6e-7)},
      {"aten.hardshrink.default", {0.5}, [](double x) { return x >= -0.5 && x <= 0.5 ? 0 : x; }},
      {"aten.hardsigmoid.default",
       {},
       [](double x) { return clamp(x + 3, 0, 6) / 6; },
       ulps(4, 1e-7)},
      {"aten.hardswish.default",
       {},
       [](double x) { return x * clamp(x + 3, 0, 6) / 6; },
       ulps(4, 2e-7)},
      {"aten.hardtanh.default", {-1, 2}, [](double x) { return clamp(x, -1, 2); }, {}, true},
      {"aten.isinf.default", {}, [](double x) { return std::isinf(x) ? 1. : 0.; }, {}, true, true},
      {"aten.isnan.default", {}, [](double x) { return std::isnan(x) ? 1. : 0.; }, {}, true, true},
      {"aten.leaky_relu.default", {0.01}, [](double x) { return x > 0 ? x : x * 0.01f; }, ulps(1)},
      {"aten.log.default", {}, [](double x) { return std::log(x); }, ulps(4)},
      {"aten.log10.default", {}, [](double x) { return std::log10(x); }, ulps(5)},
      {"aten.log2.default", {}, [](double x) { return std::log2(x); }, ulps(5)},
      {"aten.logical_not.default", {}, [](double x) { return x == 0 ? 1. : 0.; }, {}, true, true},
      {"aten.neg.default", {}, [](double x) { return -x; }, {}, true},
      {"aten.reciprocal.default", {}, [](double x) { return 1 / x; }, ulps(3)},
      {"aten.relu.default", {}, [](double x) { return x < 0 ? 0 : x; }, {}, true},
      {"aten.relu6.default", {}, [](double x) { return clamp(x, 0, 6); }},
      {"aten.round.default", {}, [](double x) { return std::nearbyint(x); }, {}, true},
      {"aten.rsqrt.default", {}, [](double x) { return 1 / std::sqrt(x); }, ulps(4)},
      {"aten.sigmoid.default", {}, sigmoid, ulps(8)},
      {"aten.sign.default", {}, [](double x) { return double(x > 0) - double(x < 0); }, {}, true},
      {"aten.silu.default", {}, [](double x) { return x / (1 + std::exp(-x)); }, ulps(8, 1e-36)},
      {"aten.sin.default", {}, [](double x) { return std::sin(x); }, ulps(2, 1e-7)},
      {"aten.sqrt.default", {}, [](double x) { return std::sqrt(x); }, ulps(4)},
      {"aten.square.default", {}, [](double x) { return x * x; }, ulps(1), true},
      {"aten.tan.default", {}, [](double x) { return std::tan(x); }, ulps(8, 1e-6)},
      {"aten.tanh.default", {}, [](double x) { return std::tanh(x); }, ulps(4)},
      {"aten.trunc.default", {}, [](double x) { return std::trunc(x); }, {}, true},
      {"aten.clamp.default", {-1, 2}, [](double x) { return clamp(x, -1, 2); }, {}, true},
      {"aten.clamp.default",
       {std::nullopt, 2},
       [](double x) { return clamp(x, -kInf, 2); },
       {},
       true},
      {"aten.clamp.default",
       {1, std::nullopt},
       [](double x) { return clamp(x, 1, kInf); },
       {},
       true},
      {"aten.clamp.default", {3, 2}, [](double x) { return std::isnan(x) ? x : 2.; }, {}, true},
      {"aten.add.Scalar", {3, 2}, [](double x) { return x + 6; }, ulps(1), true},
      {"aten.sub.Scalar", {3, 2}, [](double x) { return x - 6; }, ulps(1), true},
      {"aten.mul.Scalar", {-3}, [](double x) { return x * -3; }, ulps(1), true},
      {"aten.div.Scalar", {-3}, [](double x) { return x / -3; }, ulps(3)},
      {"aten.pow.Tensor_Scalar", {2}, [](double x) { return x * x; }, ulps(1), true},
      {"aten.pow.Tensor_Scalar", {-0.5}, [](double x) { return std::pow(x, -0.5); }, ulps(10)},
      {"aten.eq.Scalar", {1}, [](double x) { return double(x == 1); }, {}, true, true},
      {"aten.ne.Scalar", {1}, [](double x) { return double(x != 1); }, {}, true, true},
      {"aten.lt.Scalar", {1}, [](double x) { return double(x < 1); }, {}, true, true},
      {"aten.le.Scalar", {1}, [](double x) { return double(x <= 1); }, {}, true, true},
      {"aten.gt.Scalar", {1}, [](double x) { return double(x > 1); }, {}, true, true},
      {"aten.ge.Scalar", {1}, [](double x) { return double(x >= 1); }, {}, true, true},
      {"aten._to_copy.default",
       std::vector<Arg>(6, std::nullopt),
       [](double x) { return x; },
       {},
       true},
      {"dim_order_ops._to_dim_order_copy.default",
       std::vector<Arg>(6, std::nullopt),
       [](double x) { return x; },
       {},
       true},
  };
  return cases;
}

Values column(std::vector<double> data) {
  const auto n = static_cast<int64_t>(data.size());
  return {Shape{n}, std::move(data)};
}

// Odd in number, so that the last group of four is not whole.
Values float_samples(DType dtype) {
  std::vector<double> out = {0.0,  -0.0, 1,    -1,    0.5,    -0.5,   1.5,        2.5,  -2.5,
                             3,    -3,   kInf, -kInf, kNaN,   6,      0.35,       1e-6, -1e-6,
                             30,   -30,  100,  -100,  15.9,   0.6,    0.41,       2.42, 4.0,
                             -4.0, 88.5, 88.8, -87.5, 0.9999, 1.0001, 0.70710678, 14};
  if (dtype == DType::kFloat32) {
    for (double x : {1e-30, 1e30, -1e30, 1e37, -1e37, 8388609.0, 16777216.0, 1.00000012})
      out.push_back(x);
  }
  std::mt19937 random(11);
  std::uniform_real_distribution<double> linear(-8, 8), decades(-4, 4);
  for (int i = 0; i < 600; ++i) out.push_back(linear(random));
  for (int i = 0; i < 300; ++i)
    out.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10, decades(random)));
  while (out.size() % 4 != 3) out.push_back(1.25);
  return column(rounded(dtype, out));
}

Values integer_samples(DType dtype) {
  std::vector<double> out = {0,   1,    -1,  2,    3,   -3,    6,     7,
                             100, -100, 127, -128, 255, 32767, 65536, -99999};
  out.push_back(1 << 30);
  out.push_back(-2147483648.0);
  out.push_back(2);
  return column(rounded(dtype, out));
}

// All operators side by side in one graph: nothing to fuse, one load, one run.
void run_unary(DType dtype, const Options& options) {
  const bool floats = is_float(dtype);
  const Values x = floats ? float_samples(dtype) : integer_samples(dtype);
  GraphBuilder b;
  const V in = b.input(dtype, x.dims);
  std::vector<const Unary*> cases;
  std::vector<DType> types;
  for (const Unary& c : unary_cases()) {
    if (dtype == DType::kBool && c.exact_type && !c.yields_bool) continue;
    std::vector<Arg> args = {in};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const DType type = c.yields_bool            ? DType::kBool
                       : floats || c.exact_type ? dtype
                                                : DType::kFloat32;
    b.output(b.op(c.op, args, type, x.dims));
    cases.push_back(&c);
    types.push_back(type);
  }
  Loaded loaded(std::move(b), options);
  const std::vector<Values> out = loaded.run({x});
  ASSERT_EQ(out.size(), cases.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Unary& c = *cases[i];
    Values expected = x;
    for (double& v : expected.data) v = c.f(v);
    expected.data = rounded(types[i], expected.data);
    Tolerance tolerance = c.tolerance;
    if (types[i] == DType::kFloat16 && tolerance.relative > 0) {
      tolerance = {tolerance.absolute + 6e-8, 1.0 / 1024};
    }
    if (!is_float(types[i])) tolerance = {};
    expect_values(out[i], expected, tolerance,
                  std::string(c.op) + " of " + std::string(name_of(dtype)));
  }
}

TEST(Pointwise, UnaryFloat32) { run_unary(DType::kFloat32, {}); }
TEST(Pointwise, UnaryFloat16) {
  for (const Options& options : device_variants()) run_unary(DType::kFloat16, options);
}
TEST(Pointwise, UnaryInt32) { run_unary(DType::kInt32, {}); }
TEST(Pointwise, UnaryBytes) {
  run_unary(DType::kUInt8, {});
  run_unary(DType::kInt8, {});
  run_unary(DType::kBool, {});
}

struct Binary {
  const char* op;
  std::vector<Arg> args;
  double (*f)(double, double);
  int64_t (*g)(int64_t, int64_t) = nullptr;  // on integers; nullptr: they are computed as floats
  Tolerance tolerance = {};
  bool yields_bool = false;
  bool floats = true;
};

double floor_divide(double a, double b) {  // of the exact quotient
  if (b == 0 || std::isinf(a) || std::isnan(a) || std::isnan(b)) {
    return b == 0 ? a / b : kNaN;
  }
  const double r = std::fmod(a, b);
  return std::nearbyint((a - r) / b) - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
}
double remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
int64_t integer_floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t integer_pow(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
  uint64_t out = 1;
  for (int64_t i = 0; i < b; ++i) out *= static_cast<uint64_t>(a);
  return static_cast<int64_t>(out);
}
int64_t wrapped_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

const std::vector<Binary>& binary_cases() {
  static const std::vector<Binary> cases = {
      {"aten.add.Tensor",
       {1},
       [](double a, double b) { return a + b; },
       [](int64_t a, int64_t b) { return a + b; },
       ulps(1)},
      {"aten.add.Tensor",
       {-2},
       [](double a, double b) { return a + static_cast<float>(-2 * b); },
       [](int64_t a, int64_t b) { return a - 2 * b; },
       ulps(2)},
      {"aten.sub.Tensor",
       {1},
       [](double a, double b) { return a - b; },
       [](int64_t a, int64_t b) { return a - b; },
       ulps(1)},
      {"aten.mul.Tensor", {}, [](double a, double b) { return a * b; }, wrapped_mul, ulps(1)},
      {"aten.div.Tensor", {}, [](double a, double b) { return a / b; }, nullptr, ulps(3)},
      {"aten.div.Tensor_mode",
       {std::nullopt},
       [](double a, double b) { return a / b; },
       nullptr,
       ulps(3)},
      {"aten.div.Tensor_mode", {"floor"}, floor_divide, integer_floor_divide, ulps(1)},
      {"aten.div.Tensor_mode",
       {"trunc"},
       [](double a, double b) {
         return static_cast<double>(std::trunc(static_cast<float>(a) / static_cast<float>(b)));
       },
       [](int64_t a, int64_t b) { return a / b; },
       ulps(1)},
      {"aten.floor_divide.default", {}, floor_divide, integer_floor_divide, ulps(1)},
      {"aten.remainder.Tensor",
       {},
       remainder,
       [](int64_t a, int64_t b) { return a - integer_floor_divide(a, b) * b; },
       ulps(1)},
      {"aten.minimum.default",
       {},
       [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b); },
       [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"aten.maximum.default",
       {},
       [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); },
       [](int64_t a, int64_t b) { return std::max(a, b); }},
      {"aten.pow.Tensor_Tensor",
       {},
       [](double a, double b) { return std::pow(a, b); },
       integer_pow,
       ulps(24)},
      {"aten.eq.Tensor",
       {},
       [](double a, double b) { return double(a == b); },
       [](int64_t a, int64_t b) { return int64_t{a == b}; },
       {},
       true},
      {"aten.ne.Tensor",
       {},
       [](double a, double b) { return double(a != b); },
       [](int64_t a, int64_t b) { return int64_t{a != b}; },
       {},
       true},
      {"aten.lt.Tensor",
       {},
       [](double a, double b) { return double(a < b); },
       [](int64_t a, int64_t b) { return int64_t{a < b}; },
       {},
       true},
      {"aten.le.Tensor",
       {},
       [](double a, double b) { return double(a <= b); },
       [](int64_t a, int64_t b) { return int64_t{a <= b}; },
       {},
       true},
      {"aten.gt.Tensor",
       {},
       [](double a, double b) { return double(a > b); },
       [](int64_t a, int64_t b) { return int64_t{a > b}; },
       {},
       true},
      {"aten.ge.Tensor",
       {},
       [](double a, double b) { return double(a >= b); },
       [](int64_t a, int64_t b) { return int64_t{a >= b}; },
       {},
       true},
      {"aten.logical_and.default",
       {},
       [](double a, double b) { return double(a != 0 && b != 0); },
       [](int64_t a, int64_t b) { return int64_t{a != 0 && b != 0}; },
       {},
       true},
      {"aten.logical_or.default",
       {},
       [](double a, double b) { return double(a != 0 || b != 0); },
       [](int64_t a, int64_t b) { return int64_t{a != 0 || b != 0}; },
       {},
       true},
      {"aten.logical_xor.default",
       {},
       [](double a, double b) { return double((a != 0) != (b != 0)); },
       [](int64_t a, int64_t b) { return int64_t{(a != 0) != (b != 0)}; },
       {},
       true},
      {"aten.bitwise_and.Tensor", {}, nullptr, [](int64_t a, int64_t b) { return a & b; }},
      {"aten.bitwise_or.Tensor", {}, nullptr, [](int64_t a, int64_t b) { return a | b; }},
      {"aten.bitwise_xor.Tensor", {}, nullptr, [](int64_t a, int64_t b) { return a ^ b; }},
  };
  return cases;
}

void run_binary(DType dtype, const Values& a, const Values& b_values, const Options& options) {
  GraphBuilder b;
  const V va = b.input(dtype, a.dims), vb = b.input(dtype, b_values.dims);
  std::vector<const Binary*> cases;
  std::vector<DType> types;
  for (const Binary& c : binary_cases()) {
    if (is_float(dtype) && c.f == nullptr) continue;
    std::vector<Arg> args = {va, vb};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const bool as_float = !is_float(dtype) && c.g == nullptr;
    const DType type = c.yields_bool ? DType::kBool : as_float ? DType::kFloat32 : dtype;
    b.output(b.op(c.op, args, type, a.dims));
    cases.push_back(&c);
    types.push_back(type);
  }
  Loaded loaded(std::move(b), options);
  const std::vector<Values> out = loaded.run({a, b_values});
  ASSERT_EQ(out.size(), cases.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Binary& c = *cases[i];
    Values actual = out[i], expected = a;
    const bool in_floats = is_float(dtype) || c.g == nullptr;
    for (size_t k = 0; k < a.data.size(); ++k) {
      const double x = a.data[k], y = b_values.data[k];
      if (in_floats) {
        expected.data[k] = c.f(x, y);
      } else if (y == 0 && std::string(c.op).find("pow") == std::string::npos &&
                 (std::string(c.op).find("div") != std::string::npos ||
                  std::string(c.op).find("remainder") != std::string::npos)) {
        expected.data[k] = actual.data[k] = 0;  // PyTorch raises an error
      } else {
        expected.data[k] =
            static_cast<double>(c.g(static_cast<int64_t>(x), static_cast<int64_t>(y)) & 0xffffffff);
        if (types[i] == DType::kInt32) {
          expected.data[k] = static_cast<int32_t>(static_cast<uint32_t>(expected.data[k]));
        }
      }
    }
    expected.data = rounded(types[i], expected.data);
    Tolerance tolerance = is_float(types[i]) ? c.tolerance : Tolerance{};
    if (types[i] == DType::kFloat16 && tolerance.relative > 0) tolerance = {6e-8, 1.0 / 1024};
    expect_values(actual, expected, tolerance,
                  std::string(c.op) + " of " + std::string(name_of(dtype)));
  }
}

// Every pair of some values.
std::pair<Values, Values> pairs(DType dtype, const std::vector<double>& values) {
  std::vector<double> a, b;
  for (double x : values) {
    for (double y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  a.push_back(1);
  b.push_back(1);
  while (a.size() % 4 != 1) {
    a.push_back(3);
    b.push_back(2);
  }
  return {column(rounded(dtype, a)), column(rounded(dtype, b))};
}

TEST(Pointwise, BinaryFloat32) {
  auto [a, b] = pairs(DType::kFloat32,
                      {0.0, -0.0, 1,   -1,  2,        -2,    3,    0.1,   -0.1, 0.5,   1.7, -7,
                       10,  65,   -65, 1e5, 16777216, 1e-10, 1e30, -1e30, kInf, -kInf, kNaN});
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-20, 20);
  for (int i = 0; i < 1000; ++i) {
    a.data.push_back(static_cast<float>(any(random)));
    b.data.push_back(static_cast<float>(any(random)));
  }
  a.dims = b.dims = Shape{static_cast<int64_t>(a.data.size())};
  run_binary(DType::kFloat32, a, b, {});
}

TEST(Pointwise, BinaryFloat16) {
  const auto [a, b] =
      pairs(DType::kFloat16, {0.0, -0.0, 1, -1, 2, 0.25, -7, 300, 65504, kInf, -kInf, kNaN});
  for (const Options& options : device_variants()) run_binary(DType::kFloat16, a, b, options);
}

TEST(Pointwise, BinaryIntegers) {
  const auto [a, b] = pairs(
      DType::kInt32, {0, 1, -1, 2, 3, -3, 7, -7, 31, 100, -128, 65537, 2147483647, -2147483648.0});
  Values small = b;  // exponents that the reference can count to
  for (double& y : small.data) y = std::clamp(y, -40., 40.);
  for (const Values& y : {small}) run_binary(DType::kInt32, a, y, {});
  for (DType dtype : {DType::kUInt8, DType::kInt8}) {
    const auto [p, q] = pairs(dtype, {0, 1, 2, 3, 5, 7, 100, 127, 128, 200, 255});
    run_binary(dtype, p, q, {});
  }
}

TEST(Pointwise, LargeQuotients) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {6}), y = b.input(DType::kFloat32, {6});
  b.output(b.f32("aten.remainder.Tensor", {x, y}, {6}));
  Loaded loaded(std::move(b));
  const Values a = column(rounded(DType::kFloat32, {1e30, 1e9, 123456792.0, -1e20, 3e38, 1e10}));
  const Values d = column(rounded(DType::kFloat32, {7, 0.3, 1e-3, 3.7, 1e-30, -6.2831853}));
  Values expected = a;
  for (size_t i = 0; i < 6; ++i) expected.data[i] = remainder(a.data[i], d.data[i]);
  expect_values(loaded.run1({a, d}), expected, ulps(1));
}

TEST(Pointwise, Casts) {
  const std::vector<DType> types = {DType::kFloat32, DType::kFloat16, DType::kInt32,
                                    DType::kUInt8,   DType::kInt8,    DType::kBool};
  for (const Options& options : device_variants()) {
    for (DType from : types) {
      const Values x = column(rounded(from, {0, 1, -1, 2.5, -2.5, 100, -100, 127, 200, 255, 0.25}));
      GraphBuilder b;
      const V in = b.input(from, x.dims);
      for (DType to : types) {
        std::vector<Arg> args(7, std::nullopt);
        args[0] = in;
        b.output(b.op("aten._to_copy.default", args, to, x.dims));
      }
      Loaded loaded(std::move(b), options);
      const auto out = loaded.run({x});
      ASSERT_EQ(out.size(), types.size());
      for (size_t i = 0; i < types.size(); ++i) {
        expect_values(out[i], {x.dims, rounded(types[i], x.data)}, {},
                      std::string(name_of(from)) + " to " + std::string(name_of(types[i])));
      }
    }
  }
}

TEST(Pointwise, MixedTypes) {
  GraphBuilder b;
  const Shape s = {5};
  const V i = b.input(DType::kInt32, s), f = b.input(DType::kFloat32, s),
          u = b.input(DType::kUInt8, s), t = b.input(DType::kBool, s);
  b.output(b.f32("aten.add.Tensor", {i, f, 1}, s));
  b.output(b.f32("aten.mul.Tensor", {u, f}, s));
  b.output(b.op("aten.add.Tensor", {u, i, 1}, DType::kInt32, s));
  b.output(b.op("aten.lt.Tensor", {i, f}, DType::kBool, s));
  b.output(b.f32("aten.where.self", {t, f, i}, s));
  b.output(b.op("aten.where.self", {t, u, i}, DType::kInt32, s));
  b.output(b.op("aten.bitwise_not.default", {t}, DType::kBool, s));
  b.output(b.op("aten.bitwise_not.default", {u}, DType::kUInt8, s));
  b.output(b.op("aten.bitwise_not.default", {i}, DType::kInt32, s));
  b.output(b.op("aten.add.Tensor", {t, t, 1}, DType::kBool, s));
  b.output(b.f32("aten.mul.Scalar", {i, 0.5}, s));
  b.output(b.op("aten.gt.Scalar", {i, 2.5}, DType::kBool, s));
  b.output(b.op("aten.clamp.default", {i, -5, int64_t{1} << 40}, DType::kInt32, s));
  b.output(b.op("aten.lt.Scalar", {i, int64_t{1} << 40}, DType::kBool, s));
  b.output(b.f32("aten.copy.default", {f, i, false}, s));
  Loaded loaded(std::move(b));
  const std::vector<double> iv = {-7, 2, 3, 33554433, 0}, fv = {0.5, 2.5, -1, 8, kNaN},
                            uv = {200, 1, 255, 0, 7}, tv = {1, 0, 1, 0, 1};
  const auto out = loaded.run({{s, iv}, {s, fv}, {s, uv}, {s, tv}});
  const std::vector<std::vector<double>> expected = {{-6.5, 4.5, 2, 33554440, kNaN},
                                                     {100, 2.5, -255, 0, kNaN},
                                                     {193, 3, 258, 33554433, 7},
                                                     {1, 1, 0, 0, 0},
                                                     {0.5, 2, -1, 33554432, kNaN},
                                                     {200, 2, 255, 33554433, 7},
                                                     {0, 1, 0, 1, 0},
                                                     {55, 254, 0, 255, 248},
                                                     {6, -3, -4, -33554434, -1},
                                                     {1, 0, 1, 0, 1},
                                                     {-3.5, 1, 1.5, 16777216, 0},
                                                     {0, 0, 1, 1, 0},
                                                     {-5, 2, 3, 33554433, 0},
                                                     {1, 1, 1, 1, 1},
                                                     {-7, 2, 3, 33554432, 0}};
  ASSERT_EQ(out.size(), expected.size());
  for (size_t k = 0; k < out.size(); ++k) {
    expect_values(out[k], {s, expected[k]}, {}, "output " + std::to_string(k));
  }
}

TEST(Pointwise, EveryRowIsTested) {
  std::set<std::string_view> tested = {"aten.where.self", "aten.bitwise_not.default",
                                       "aten.copy.default", "aten.remainder.Scalar"};
  for (const Unary& c : unary_cases()) tested.insert(c.op);
  for (const Binary& c : binary_cases()) tested.insert(c.op);
  for (const PointwiseRow& row : pointwise_rows())
    EXPECT_TRUE(tested.contains(row.name)) << row.name;
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
