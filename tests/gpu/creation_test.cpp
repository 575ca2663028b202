// Made tensors, and integers that are known only at run time.
#include <gtest/gtest.h>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

std::vector<Arg> with_options(std::vector<Arg> args) {  // dtype, layout, device, pin_memory
  args.insert(args.end(), 4, std::nullopt);
  return args;
}

Values filled(Shape dims, double value) {
  return {dims, std::vector<double>(static_cast<size_t>(dims.numel()), value)};
}

TEST(Creation, Fills) {
  for (DType dtype :
       {DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kBool}) {
    GraphBuilder b;
    const V x = b.input(dtype, {3, 5});
    const bool is_bool = dtype == DType::kBool;
    b.output(b.op("aten.full.default", with_options({Ints{2, 3}, 7.5}), dtype, {2, 3}));
    b.output(b.op("aten.zeros.default", with_options({Ints{}}), dtype, {}));
    b.output(b.op("aten.ones.default", with_options({Ints{0, 2}}), dtype, {0, 2}));
    auto like = [&](const char* op, std::vector<Arg> args) {
      args = with_options(args);
      args.push_back(std::nullopt);
      b.output(b.op(op, args, dtype, {3, 5}));
    };
    like("aten.full_like.default", {x, 0.5});
    like("aten.zeros_like.default", {x});
    like("aten.ones_like.default", {x});
    b.output(b.op("aten.scalar_tensor.default", with_options({3}), dtype, {}));
    Loaded loaded(std::move(b));
    for (int64_t rows : {3, 1}) {
      const auto out = loaded.run({filled({rows, 5}, 1)});
      ASSERT_EQ(out.size(), 7u);
      const double fill = is_bool           ? 1
                          : is_float(dtype) ? 7.5
                                            : 7,
                   half = is_bool           ? 1
                          : is_float(dtype) ? 0.5
                                            : 0;
      expect_values(out[0], filled({2, 3}, fill));
      expect_values(out[1], filled({}, 0));
      expect_values(out[2], filled({0, 2}, 1));
      expect_values(out[3], filled({rows, 5}, half));
      expect_values(out[4], filled({rows, 5}, 0));
      expect_values(out[5], filled({rows, 5}, 1));
      expect_values(out[6], filled({}, is_bool ? 1 : 3));
    }
  }
}

TEST(Creation, Ranges) {
  GraphBuilder b;
  b.output(b.f32("aten.arange.start_step", with_options({0, 1, 0.3}), {4}));
  b.output(b.op("aten.arange.start_step", with_options({10, -3, -4}), DType::kInt32, {4}));
  b.output(b.op("aten.arange.start_step", with_options({5, 5, std::nullopt}), DType::kInt32, {0}));
  Loaded loaded(std::move(b));
  const auto out = loaded.run({});
  EXPECT_EQ(loaded.executable().dispatch_count(), 0u);
  ASSERT_EQ(out.size(), 3u);
  expect_values(out[0], arange({4}, 0, 0.3), {1e-7, 0});
  expect_values(out[1], arange({4}, 10, -4));
  expect_values(out[2], {{0}, {}});
}

TEST(Creation, SymbolicSizesAndValues) {
  GraphBuilder b;
  const V s = b.symbol_input(9), x = b.input(DType::kFloat32, {9, 2});
  const V rows = b.symbol("sym_size.int", {x, 0}, 9);
  const V twice = b.symbol("mul", {rows, 2}, 18);
  const V sum = b.symbol("add", {twice, s}, 27);
  b.output(b.op("aten.full.default",
                with_options({std::vector<V>{rows, {b.graph.add(int64_t{3})}}, s}), DType::kInt32,
                {9, 3}));
  b.output(b.op("aten.arange.start_step", with_options({0, sum, 1}), DType::kInt32, {27}));
  b.output(b.f32("aten.scalar_tensor.default", with_options({sum}), {}));
  b.output(sum);
  b.output(b.symbol("floordiv", {s, -2}, 0));
  b.output(b.symbol("mod", {s, -2}, 0));
  b.output(b.symbol("sub", {s, rows}, 0));
  b.output(b.symbol("sym_numel.default", {x}, 18));
  Loaded loaded(std::move(b));
  for (const auto& [n, k] : {std::pair{9, 9}, {2, 5}, {0, 1}, {1, -1}}) {
    const auto out = loaded.run({filled({n, 2}, 1)}, {k});
    ASSERT_EQ(out.size(), 3u);
    expect_values(out[0], filled({n, 3}, k));
    expect_values(out[1], arange({2 * n + k}));
    expect_values(out[2], filled({}, 2 * n + k));
    const auto floor = [](double v) { return static_cast<int64_t>(std::floor(v)); };
    EXPECT_EQ(loaded.executable().output_integer(3), 2 * n + k);
    EXPECT_EQ(loaded.executable().output_integer(4), floor(k / -2.0));
    EXPECT_EQ(loaded.executable().output_integer(5), k - floor(k / -2.0) * -2);
    EXPECT_EQ(loaded.executable().output_integer(6), k - n);
    EXPECT_EQ(loaded.executable().output_integer(7), 2 * n);
  }
  // Larger than the program's bounds, and less than nothing.
  EXPECT_NE(loaded.error({filled({9, 2}, 1)}, {10}), "");
  EXPECT_NE(loaded.error({filled({1, 2}, 1)}, {-3}), "");
  EXPECT_NE(loaded.error({filled({1, 2}, 1)}, {INT64_MAX}), "");
  const auto again = loaded.run({filled({1, 2}, 1)}, {1});
  ASSERT_EQ(again.size(), 3u);
  expect_values(again[1], arange({3}));
}

TEST(Creation, FollowersOfSymbolicFills) {
  GraphBuilder b;
  const V s = b.symbol_input(8), bias = b.input(DType::kFloat32, {1, 8});
  const V ones = b.f32("aten.ones.default",
                       with_options({std::vector<V>{{b.graph.add(int64_t{2})}, s}}), {2, 8});
  b.output(b.f32("aten.add.Tensor", {ones, bias, 1}, {2, 8}));
  Loaded loaded(std::move(b));
  for (int64_t n : {8, 3, 5}) {
    const Values v = arange({1, n});
    Values expected = {{2, n}, {}};
    for (int64_t i = 0; i < 2 * n; ++i) expected.data.push_back(1 + static_cast<double>(i % n));
    expect_values(loaded.run1({v}, {n}), expected);
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
