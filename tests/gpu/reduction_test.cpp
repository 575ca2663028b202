// Reductions against loops over the elements in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// From the elements that one output reduces, in row-major order, to its value.
using Fold = std::function<double(const std::vector<double>&)>;

double sum(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double mean(const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }
double product(const std::vector<double>& v) {
  double s = 1;
  for (double x : v) s *= x;
  return s;
}
double variance(const std::vector<double>& v, double correction) {
  const double m = mean(v);
  double s = 0;
  for (double x : v) s += (x - m) * (x - m);
  return s / std::max(static_cast<double>(v.size()) - correction, 0.0);
}
// The first of the best, NaN being better than any number.
double best_index(const std::vector<double>& v, double sign) {
  size_t best = 0;
  for (size_t i = 1; i < v.size(); ++i) {
    if (std::isnan(v[best])) break;
    if (std::isnan(v[i]) || sign * v[i] > sign * v[best]) best = i;
  }
  return static_cast<double>(best);
}
Fold best(double sign) {
  return [sign](const auto& v) { return v[static_cast<size_t>(best_index(v, sign))]; };
}
double any(const std::vector<double>& v) {
  return std::any_of(v.begin(), v.end(), [](double x) { return x != 0; });
}
double all(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return x != 0; });
}

bool contains(const Ints& dims, int d, int rank) {
  return std::any_of(dims.begin(), dims.end(),
                     [&](int64_t dim) { return (dim < 0 ? dim + rank : dim) == d; });
}

// Dims none: all.
Values folded(const Values& x, const Ints& dims, bool keepdim, const Fold& fold) {
  const int rank = x.dims.rank();
  Values out;
  Shape kept;  // the sizes of the output, 1 along what is reduced
  for (int d = 0; d < rank; ++d) {
    const bool gone = dims.empty() || contains(dims, d, rank);
    kept.push_back(gone ? 1 : x.dims[d]);
    if (!gone || keepdim) out.dims.push_back(kept[d]);
  }
  std::vector<std::vector<double>> parts(static_cast<size_t>(kept.numel()));
  const Shape strides = contiguous_strides(kept);
  for (int64_t i = 0; i < x.dims.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (int d = rank - 1; d >= 0; --d) {
      if (kept[d] != 1) at += rest % x.dims[d] * strides[d];
      rest /= x.dims[d];
    }
    parts[static_cast<size_t>(at)].push_back(x.data[static_cast<size_t>(i)]);
  }
  for (const auto& part : parts) out.data.push_back(fold(part));
  return out;
}

Values random(DType dtype, const Shape& dims, double low = -4, double high = 4) {
  std::mt19937 generator(static_cast<unsigned>(dims.numel()));
  std::uniform_real_distribution<double> uniform(low, high);
  Values x{dims, {}};
  for (int64_t i = 0; i < dims.numel(); ++i) x.data.push_back(uniform(generator));
  x.data = rounded(dtype, x.data);
  return x;
}

struct Dims {
  Ints dims;
  bool keepdim;
};

// The largest sizes of an output: those that the reference finds.
Shape shape_of(const Shape& in, const Dims& dims) {
  Values x{in, std::vector<double>(static_cast<size_t>(in.numel()))};
  return folded(x, dims.dims, dims.keepdim, sum).dims;
}

struct Member {
  const char* op;
  Fold fold;
  Tolerance tolerance;
};

const std::vector<Member>& float_members() {
  static const std::vector<Member> members = {{"aten.sum.dim_IntList", sum, {2e-4, 1e-6}},
                                              {"aten.mean.dim", mean, {1e-6, 1e-6}},
                                              {"aten.amax.default", best(1), {}},
                                              {"aten.amin.default", best(-1), {}},
                                              {"aten.any.dims", any, {}},
                                              {"aten.all.dims", all, {}}};
  return members;
}

bool is_truth(const Member& member) {
  const std::string_view op = member.op;
  return op.starts_with("aten.any") || op.starts_with("aten.all");
}

// Every member over the same dims of one input, at its largest sizes and at the others.
void check_dims(const std::vector<Member>& members, DType dtype, const std::vector<Values>& inputs,
                const std::vector<Dims>& all_dims, const Options& options, double slack = 0) {
  GraphBuilder b;
  const V x = b.input(dtype, inputs[0].dims);
  for (const Member& member : members) {
    for (const Dims& dims : all_dims) {
      std::vector<Arg> args = {x, dims.dims, dims.keepdim};
      if (dims.dims.empty() && is_truth(member)) args[1] = std::nullopt;
      const std::string_view op = member.op;
      if (op.starts_with("aten.sum") || op.starts_with("aten.mean")) args.push_back(std::nullopt);
      b.output(b.op(member.op, args, is_truth(member) ? DType::kBool : dtype,
                    shape_of(inputs[0].dims, dims)));
    }
  }
  Loaded loaded(std::move(b), options);
  for (const Values& input : inputs) {
    const auto out = loaded.run({input});
    ASSERT_EQ(out.size(), members.size() * all_dims.size());
    size_t next = 0;
    for (const Member& member : members) {
      for (const Dims& dims : all_dims) {
        Tolerance tolerance = member.tolerance;
        if (tolerance.relative != 0) tolerance.relative += slack;
        expect_values(out[next++], folded(input, dims.dims, dims.keepdim, member.fold), tolerance,
                      fmt::format("{} {} over {}", member.op, to_string(input.dims),
                                  fmt::join(dims.dims, ",")));
      }
    }
  }
}

const std::vector<Dims> kAllDims = {
    {{0}, false}, {{-1}, true}, {{1, -3}, true}, {{0, 2}, false}, {{}, false}};

TEST(Reduction, ReducesAnyDims) {
  for (const Options& options : device_variants()) {
    std::vector<Values> inputs;
    for (const Shape& dims : {Shape{6, 40, 132}, {5, 40, 131}, {6, 3, 128}, {1, 1, 1}, {2, 7, 4}}) {
      inputs.push_back(random(DType::kFloat32, dims));
    }
    inputs.back().data.assign(inputs.back().data.size(), 0.0);
    check_dims(float_members(), DType::kFloat32, inputs, kAllDims, options);
  }
}

TEST(Reduction, ReducesScalarsAndManyDims) {
  check_dims(float_members(), DType::kFloat32, {random(DType::kFloat32, {})},
             {{{}, false}, {{0}, true}}, {});
  check_dims(
      float_members(), DType::kFloat32,
      {random(DType::kFloat32, {2, 3, 1, 5, 4, 2}), random(DType::kFloat32, {1, 3, 1, 4, 4, 2})},
      {{{0, 3, 5}, false}, {{1, 4}, true}, {{2}, false}, {{1, 2, 3}, false}}, {});
}

// Groups of four stored elements span rows where single ones cannot be stored.
TEST(Reduction, ReducesFloat16) {
  for (const Options& options : device_variants()) {
    std::vector<Values> inputs;
    for (const Shape& dims : {Shape{5, 30, 72}, {3, 29, 71}}) {
      inputs.push_back(random(DType::kFloat16, dims));
    }
    check_dims(float_members(), DType::kFloat16, inputs, kAllDims, options, 1e-3);
  }
}

TEST(Reduction, ReducesIntegers) {
  const std::vector<Member> extremes = {{"aten.amax.default", best(1), {}},
                                        {"aten.amin.default", best(-1), {}},
                                        {"aten.any.dims", any, {}},
                                        {"aten.all.dims", all, {}}};
  for (const Options& options : device_variants()) {
    for (DType dtype : {DType::kInt32, DType::kInt8, DType::kBool}) {
      const double high = dtype == DType::kBool ? 1.5 : dtype == DType::kInt32 ? 2e9 : 120;
      const double low = dtype == DType::kInt32 || dtype == DType::kInt8 ? -high : 0;
      std::vector<Values> inputs;
      for (const Shape& dims : {Shape{5, 6, 72}, {3, 5, 71}, {1, 1, 2}}) {
        inputs.push_back(random(dtype, dims, low, high));
      }
      check_dims(extremes, dtype, inputs, kAllDims, options);
    }
  }
}

TEST(Reduction, SumsIntegersAsInt64AndFloats) {
  for (DType dtype : {DType::kInt32, DType::kInt8, DType::kUInt8, DType::kBool}) {
    GraphBuilder b;
    const V x = b.input(dtype, {7, 9});
    const Ints last = {1};
    b.output(b.op("aten.sum.dim_IntList", {x, last, false, std::nullopt}, DType::kInt32, {7}));
    b.output(b.op("aten.sum.default", {x, std::nullopt}, DType::kInt32, {}));
    b.output(b.op("aten.prod.dim_int", {x, 0, false, std::nullopt}, DType::kInt32, {9}));
    b.output(b.f32("aten.mean.dim", {x, last, true, std::nullopt}, {7, 1}));
    Loaded loaded(std::move(b));
    const Values input =
        random(dtype, {7, 9}, dtype == DType::kBool ? 0 : 1, dtype == DType::kBool ? 1.9 : 4);
    const auto out = loaded.run({input});
    ASSERT_EQ(out.size(), 4u);
    expect_values(out[0], folded(input, {1}, false, sum));
    expect_values(out[1], folded(input, {}, false, sum));
    expect_values(out[2], folded(input, {0}, false, product));
    expect_values(out[3], folded(input, {1}, true, mean), {0, 2 * kUlp});
  }
}

// Sums in int32 wrap; products and sums of all elements; truth of numbers that are not 1.
TEST(Reduction, WholeTensors) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 9});
  b.output(b.f32("aten.sum.default", {x, std::nullopt}, {}));
  b.output(b.f32("aten.mean.default", {x, std::nullopt}, {}));
  b.output(b.f32("aten.prod.default", {x, std::nullopt}, {}));
  b.output(b.op("aten.any.default", {x}, DType::kBool, {}));
  b.output(b.op("aten.all.default", {x}, DType::kBool, {}));
  b.output(b.op("aten.any.dim", {x, -1, true}, DType::kBool, {4, 1}));
  b.output(b.op("aten.all.dim", {x, 0, false}, DType::kBool, {9}));
  b.output(b.op("aten.any.dims", {x, Ints{}, false}, DType::kBool, {4, 9}));
  Loaded loaded(std::move(b));
  for (double part : {1.0, 0.0, 0.01}) {
    Values input = random(DType::kFloat32, {4, 9}, 0.5, 1.5);
    for (size_t i = 3; i < 36; i += 2) input.data[i] = part == 0.01 ? kNaN : input.data[i] * part;
    const auto out = loaded.run({input});
    ASSERT_EQ(out.size(), 8u);
    expect_values(out[0], folded(input, {}, false, sum), {0, 1e-6});
    expect_values(out[1], folded(input, {}, false, mean), {0, 1e-6});
    expect_values(out[2], folded(input, {}, false, product), {0, 4e-6});
    expect_values(out[3], folded(input, {}, false, any));
    expect_values(out[4], folded(input, {}, false, all));
    expect_values(out[5], folded(input, {1}, true, any));
    expect_values(out[6], folded(input, {0}, false, all));
    Values truth = input;  // an empty list of dims reduces nothing
    for (double& v : truth.data) v = v != 0;
    expect_values(out[7], truth);
  }
}

void add_arg(GraphBuilder& b, const char* op, V x, const Arg& dim, bool keepdim, Shape out) {
  b.output(b.op(op, {x, dim, keepdim}, DType::kInt32, out));
}

TEST(Reduction, FindsTheFirstOfTheBest) {
  for (const Options& options : device_variants()) {
    for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kUInt8}) {
      GraphBuilder b;
      const V x = b.input(dtype, {3, 80, 68});
      for (const char* op : {"aten.argmax.default", "aten.argmin.default"}) {
        add_arg(b, op, x, 0, false, {80, 68});
        add_arg(b, op, x, -1, true, {3, 80, 1});
        add_arg(b, op, x, 1, false, {3, 68});
        add_arg(b, op, x, std::nullopt, false, {});
      }
      Loaded loaded(std::move(b), options);
      for (const Shape& dims : {Shape{3, 80, 68}, {2, 5, 67}}) {
        // Few values: many ties.
        Values input = random(DType::kInt32, dims, 0, 5);
        if (dtype != DType::kUInt8) {
          for (double& v : input.data) v -= 2;
        }
        for (int round = 0; round < 2; ++round) {
          const auto out = loaded.run({input});
          ASSERT_EQ(out.size(), 8u);
          size_t next = 0;
          for (double sign : {1.0, -1.0}) {
            const Fold index = [sign](const auto& v) { return best_index(v, sign); };
            expect_values(out[next++], folded(input, {0}, false, index));
            expect_values(out[next++], folded(input, {-1}, true, index));
            expect_values(out[next++], folded(input, {1}, false, index));
            expect_values(out[next++], folded(input, {}, false, index));
          }
          if (!is_float(dtype)) break;
          for (size_t i = 0; i < input.data.size(); ++i) {
            if (i % 7 == 3) input.data[i] = i % 4 < 2 ? -kInfinity : kInfinity;
            if (i % 501 == 70) input.data[i] = kNaN;
          }
        }
      }
    }
  }
}

TEST(Reduction, ValuesWithIndices) {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kUInt8}) {
    for (const bool keepdim : {false, true}) {
      GraphBuilder b;
      const V x = b.input(dtype, {5, 9});
      for (const char* op : {"aten.max.dim", "aten.min.dim"}) {
        const Shape out = keepdim ? Shape{5, 1} : Shape{5};
        const V values = b.tensor(dtype, out), indices = b.tensor(DType::kInt32, out);
        b.call(op, {x, -1, keepdim}, {values, indices});
        b.output(values);
        b.output(indices);
      }
      Loaded loaded(std::move(b));
      Values input = random(dtype, {5, 9}, 0, 9);
      if (dtype != DType::kUInt8) input.data[13] = input.data[15] = kNaN;
      const auto out = loaded.run({input});
      ASSERT_EQ(out.size(), 4u);
      size_t next = 0;
      for (double sign : {1.0, -1.0}) {
        expect_values(out[next++], folded(input, {1}, keepdim, best(sign)));
        expect_values(out[next++], folded(input, {1}, keepdim,
                                          [&](const auto& v) { return best_index(v, sign); }));
      }
    }
  }
}

TEST(Reduction, Variance) {
  for (const Options& options : device_variants()) {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {4, 70, 36});
    const Ints last = {-1}, middle = {1};
    b.output(b.f32("aten.var.correction", {x, last, std::nullopt, false}, {4, 70}));
    b.output(b.f32("aten.var.correction", {x, middle, 0, true}, {4, 1, 36}));
    b.output(b.f32("aten.var.correction", {x, std::nullopt, 2.5, false}, {}));
    b.output(b.f32("aten.var.dim", {x, last, false, false}, {4, 70}));
    b.output(b.f32("aten.std.correction", {x, last, 1, false}, {4, 70}));
    Loaded loaded(std::move(b), options);
    for (double offset : {0.0, 4096.0}) {
      for (const Shape& dims : {Shape{4, 70, 36}, {3, 5, 33}}) {
        Values input = random(DType::kFloat32, dims, offset - 1, offset + 1);
        const auto by = [](double correction) {
          return [correction](const auto& v) { return variance(v, correction); };
        };
        const auto out = loaded.run({input});
        ASSERT_EQ(out.size(), 5u);
        const Tolerance close = {0, 4e-6};
        expect_values(out[0], folded(input, {2}, false, by(1)), close);
        expect_values(out[1], folded(input, {1}, true, by(0)), close);
        expect_values(out[2], folded(input, {}, false, by(2.5)), close);
        expect_values(out[3], folded(input, {2}, false, by(0)), close);
        expect_values(
            out[4],
            folded(input, {2}, false, [](const auto& v) { return std::sqrt(variance(v, 1)); }),
            close);
      }
    }
    // One element has no variance with correction 1.
    const auto one = loaded.run({random(DType::kFloat32, {1, 1, 1})});
    ASSERT_EQ(one.size(), 5u);
    for (size_t i : {0u, 2u, 4u}) expect_values(one[i], {one[i].dims, {kNaN}});
    for (size_t i : {1u, 3u}) expect_values(one[i], {one[i].dims, {0.0}});
  }
}

TEST(Reduction, NotANumberAndInfinity) {
  for (const Options& options : device_variants()) {
    Values input = random(DType::kFloat32, {5, 80, 68});
    for (size_t i = 0; i < input.data.size(); ++i) {
      if (i % 997 == 11) input.data[i] = kNaN;
      if (i % 211 == 5) input.data[i] = kInfinity;
      if (i / 68 == 3) input.data[i] = -kInfinity;
    }
    check_dims(float_members(), DType::kFloat32, {input}, kAllDims, options);
    std::fill(input.data.begin(), input.data.end(), -kInfinity);
    check_dims(float_members(), DType::kFloat32, {input}, kAllDims, options);
  }
}

TEST(Reduction, OfNothing) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {3, 5});
  const Ints last = {1};
  b.output(b.f32("aten.sum.dim_IntList", {x, last, false, std::nullopt}, {3}));
  b.output(b.f32("aten.mean.dim", {x, last, true, std::nullopt}, {3, 1}));
  b.output(b.f32("aten.prod.dim_int", {x, 1, false, std::nullopt}, {3}));
  b.output(b.op("aten.any.dim", {x, 1, false}, DType::kBool, {3}));
  b.output(b.op("aten.all.dim", {x, 1, false}, DType::kBool, {3}));
  b.output(b.f32("aten.var.correction", {x, last, 1, false}, {3}));
  b.output(b.f32("aten.mean.default", {x, std::nullopt}, {}));
  Loaded loaded(std::move(b));
  const auto out = loaded.run({{{3, 0}, {}}});
  ASSERT_EQ(out.size(), 7u);
  expect_values(out[0], {{3}, {0, 0, 0}});
  expect_values(out[1], {{3, 1}, {kNaN, kNaN, kNaN}});
  expect_values(out[2], {{3}, {1, 1, 1}});
  expect_values(out[3], {{3}, {0, 0, 0}});
  expect_values(out[4], {{3}, {1, 1, 1}});
  expect_values(out[5], {{3}, {kNaN, kNaN, kNaN}});
  expect_values(out[6], {{}, {kNaN}});
  const auto none = loaded.run({{{0, 5}, {}}});
  ASSERT_EQ(none.size(), 7u);
  EXPECT_EQ(none[0].dims, (Shape{0}));
  expect_values(none[6], {{}, {kNaN}});

  for (const char* op : {"aten.amax.default", "aten.argmin.default"}) {
    GraphBuilder best;
    const V y = best.input(DType::kFloat32, {3, 5});
    const bool arg = std::string_view(op).starts_with("aten.arg");
    best.output(best.op(op, {y, arg ? Arg(1) : Arg(last), false},
                        arg ? DType::kInt32 : DType::kFloat32, {3}));
    Loaded refused(std::move(best));
    EXPECT_NE(refused.error({{{3, 0}, {}}}).find(op), std::string::npos);
    EXPECT_EQ(refused.run1({{{0, 5}, {}}}).dims, (Shape{0}));
  }
}

// Enough elements for work to be cut into parts, by rows and by columns. The same bits every time.
TEST(Reduction, LargeInFewOutputs) {
  for (const Options& options : device_variants()) {
    for (const auto& [dims, reduced] : {std::pair<Shape, Ints>{{(1 << 17) + 3}, {0}},
                                        {{3, 20001}, {1}},
                                        {{2, 9001, 36}, {1}},
                                        {{300, 7, 100}, {0, 2}}}) {
      GraphBuilder b;
      const V x = b.input(DType::kFloat32, dims);
      const Shape out_dims = shape_of(dims, {reduced, false});
      const bool one = reduced.size() == 1;
      b.output(b.f32("aten.sum.dim_IntList", {x, reduced, false, std::nullopt}, out_dims));
      b.output(b.f32("aten.amin.default", {x, reduced, false}, out_dims));
      b.output(b.f32("aten.var.correction", {x, reduced, 0, false}, out_dims));
      b.output(b.op("aten.any.dims", {x, reduced, false}, DType::kBool, out_dims));
      if (one) add_arg(b, "aten.argmax.default", x, static_cast<int>(reduced[0]), false, out_dims);
      Loaded loaded(std::move(b), options);
      for (int smaller = 0; smaller < 2; ++smaller) {
        Shape live = dims;
        if (smaller != 0) live[static_cast<int>(reduced[0])] /= 3;
        Values input = random(DType::kFloat32, live, 99, 101);
        const auto out = loaded.run({input});
        ASSERT_EQ(out.size(), one ? 5u : 4u);
        const std::string what = to_string(live);
        expect_values(out[0], folded(input, reduced, false, sum), {0, 4e-7}, what);
        expect_values(out[1], folded(input, reduced, false, best(-1)), {}, what);
        expect_values(out[2],
                      folded(input, reduced, false, [](const auto& v) { return variance(v, 0); }),
                      {0, 1e-5}, what);
        expect_values(out[3], folded(input, reduced, false, any), {}, what);
        if (one) {
          expect_values(
              out[4], folded(input, reduced, false, [](const auto& v) { return best_index(v, 1); }),
              {}, what);
        }
        EXPECT_EQ(loaded.run({input})[0].data, out[0].data);
        EXPECT_EQ(loaded.run({input})[2].data, out[2].data);
      }
    }
  }
}

// What follows is done by the same kernel, whatever the type that is stored in the end.
TEST(Reduction, TakesFollowers) {
  for (const Options& options : device_variants()) {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {6, 70}), y = b.input(DType::kFloat32, {6, 1});
    const Ints last = {1};
    const V s = b.f32("aten.sum.dim_IntList", {x, last, true, std::nullopt}, {6, 1});
    b.output(b.op("aten.gt.Scalar", {b.f32("aten.add.Tensor", {s, y, 1}, {6, 1}), 0.0},
                  DType::kBool, {6, 1}));
    Loaded loaded(std::move(b), options);
    for (int64_t rows : {6, 5, 1}) {
      const Values input = random(DType::kFloat32, {rows, 70}),
                   add = random(DType::kFloat32, {rows, 1});
      Values expected = folded(input, {1}, true, sum);
      for (size_t i = 0; i < expected.data.size(); ++i) {
        expected.data[i] = expected.data[i] + add.data[i] > 0;
      }
      expect_values(loaded.run1({input, add}), expected);
    }
  }
}

TEST(Reduction, RefusesWhatIsNotDefined) {
  const auto message = [](GraphBuilder b) {
    const Capabilities caps;
    auto plan = make_plan(std::move(b.graph), caps);
    EXPECT_FALSE(plan);
    return plan ? std::string() : plan.error().message;
  };
  {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {3, 5});
    b.output(b.f32("aten.sum.dim_IntList", {x, Ints{2}, false, std::nullopt}, {3}));
    EXPECT_NE(message(std::move(b)).find("out of range"), std::string::npos);
  }
  {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {3, 5});
    b.output(b.f32("aten.sum.dim_IntList", {x, Ints{1, -1}, false, std::nullopt}, {3}));
    EXPECT_NE(message(std::move(b)).find("twice"), std::string::npos);
  }
  {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {3, 5});
    b.output(b.op("aten.sum.dim_IntList", {x, Ints{1}, false, std::nullopt}, DType::kInt32, {3}));
    EXPECT_NE(message(std::move(b)).find("float32"), std::string::npos);
  }
  {
    GraphBuilder b;
    const V x = b.input(DType::kInt32, {3, 5});
    b.output(b.op("aten.var.correction", {x, Ints{1}, 1, false}, DType::kInt32, {3}));
    EXPECT_NE(message(std::move(b)).find("int32"), std::string::npos);
  }
}

// Where nothing may wait, sizes that need another kernel make do with the one for all sizes.
TEST(Reduction, NewSizesWithoutWaiting) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 512});
  b.output(b.f32("aten.sum.dim_IntList", {x, Ints{1}, false, std::nullopt}, {4}));
  b.output(b.f32("aten._softmax.default", {x, 1, false}, {4, 512}));
  Options options;
  options.executable.waits = false;
  Loaded loaded(std::move(b), options);
  for (int round = 0; round < 3; ++round) {
    for (int64_t n : {510, 20, 512, 1}) {
      for (int again = 0; again < 2; ++again) {
        const Values input = random(DType::kFloat32, {3, n}, -1, 1);
        const auto out = loaded.run({input});
        ASSERT_EQ(out.size(), 2u);
        expect_values(out[0], folded(input, {1}, false, sum), {1e-5, 1e-6});
        Values one = folded(out[1], {1}, false, sum);
        for (double total : one.data) EXPECT_NEAR(total, 1, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
