// Reading at positions that a tensor gives.
#include <gtest/gtest.h>

#include <limits>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The table read along `dim` at the indices, whose dims take that dimension's place.
Values taken(const Values& table, const Values& indices, int dim, bool wrap, double missing) {
  Values out;
  for (int d = 0; d < dim; ++d) out.dims.push_back(table.dims[d]);
  for (int64_t n : indices.dims) out.dims.push_back(n);
  for (int d = dim + 1; d < table.dims.rank(); ++d) out.dims.push_back(table.dims[d]);
  const int64_t size = table.dims[dim], inner = table.dims.numel(dim + 1, table.dims.rank());
  for (int64_t row = 0; row < table.dims.numel(0, dim); ++row) {
    for (double index : indices.data) {
      auto at = static_cast<int64_t>(index);
      if (wrap && at < 0) at += size;
      for (int64_t i = 0; i < inner; ++i) {
        const bool ok = at >= 0 && at < size;
        out.data.push_back(ok ? table.data[static_cast<size_t>((row * size + at) * inner + i)]
                              : missing);
      }
    }
  }
  return out;
}

TEST(Gather, Embeds) {
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8}) {
    for (int64_t width : {8, 5}) {
      GraphBuilder b;
      const V table = b.input(dtype, {7, width}), indices = b.input(DType::kInt32, {2, 3});
      b.output(
          b.op("aten.embedding.default", {table, indices, -1, false, false}, dtype, {2, 3, width}));
      Loaded loaded(std::move(b));
      const Values t = arange({7, width}, 1);
      const Values full = {{2, 3}, {0, 6, 3, 3, -1, 7}}, fewer = {{1, 2}, {2147483647, 5}};
      const double missing = is_float(dtype) ? kNaN : 0;
      expect_values(loaded.run1({t, full}), taken(t, full, 0, false, missing));
      expect_values(loaded.run1({t, fewer}), taken(t, fewer, 0, false, missing));
      expect_values(loaded.run1({t, {{0, 3}, {}}}), {{0, 3, width}, {}});
    }
  }
}

TEST(Gather, IndexSelectsAndIndexes) {
  GraphBuilder b;
  const V table = b.input(DType::kFloat32, {3, 5, 4}), indices = b.input(DType::kInt32, {4});
  b.output(b.f32("aten.index_select.default", {table, 1, indices}, {3, 4, 4}));
  b.output(b.f32("aten.index_select.default", {table, -1, indices}, {3, 5, 4}));
  const V none = {b.graph.add(Null{})};
  b.output(b.f32("aten.index.Tensor", {table, std::vector<V>{none, indices}}, {3, 4, 4}));
  const V grid = b.input(DType::kInt32, {2, 2});
  b.output(b.f32("aten.index.Tensor", {table, std::vector<V>{grid}}, {2, 2, 5, 4}));
  Loaded loaded(std::move(b));
  const Values t = arange({3, 5, 4}), i = {{4}, {0, 3, 1, 2}}, odd = {{3}, {-1, 9, -6}},
               g = {{2, 2}, {0, -1, 2, -3}};
  for (const Values& index : {i, odd}) {
    const auto out = loaded.run({t, index, g});
    ASSERT_EQ(out.size(), 4u);
    expect_values(out[0], taken(t, index, 1, false, kNaN));
    expect_values(out[1], taken(t, index, 2, false, kNaN));
    expect_values(out[2], taken(t, index, 1, true, kNaN));
    expect_values(out[3], taken(t, g, 0, true, kNaN));
  }
}

TEST(Gather, Gathers) {
  for (int dim : {0, 1}) {
    GraphBuilder b;
    const V table = b.input(DType::kFloat32, {4, 5}), indices = b.input(DType::kInt32, {3, 5});
    b.output(b.f32("aten.gather.default", {table, dim - 2, indices, false}, {3, 5}));
    Loaded loaded(std::move(b));
    const Values t = arange({4, 5});
    for (const Shape& live : {Shape{3, 5}, {2, 3}, {0, 5}}) {
      Values index = arange(live), expected{live, {}};
      for (size_t i = 0; i < index.data.size(); ++i) {
        index.data[i] = static_cast<double>((i * 7) % 6) - 1;
        const int64_t row = static_cast<int64_t>(i) / live[1],
                      column = static_cast<int64_t>(i) % live[1];
        const auto at = static_cast<int64_t>(index.data[i]);
        const bool ok = at >= 0 && at < t.dims[dim];
        expected.data.push_back(!ok        ? kNaN
                                : dim == 0 ? static_cast<double>(at * 5 + column)
                                           : static_cast<double>(row * 5 + at));
      }
      expect_values(loaded.run1({t, index}), expected);
    }
    EXPECT_EQ(dim == 0 ? loaded.error({arange({4, 3}), arange({3, 5})}) : "",
              dim == 0
                  ? "aten.gather.default (node 0): indices of sizes [3, 5] do not fit into [4, 3]"
                  : "");
  }
}

TEST(Gather, RefusesMasks) {
  for (DType dtype : {DType::kBool, DType::kUInt8, DType::kFloat32}) {
    GraphBuilder b;
    const V table = b.input(DType::kFloat32, {4, 5}), mask = b.input(dtype, {4});
    b.output(b.f32("aten.index.Tensor", {table, std::vector<V>{mask}}, {4, 5}));
    const auto plan = make_plan(std::move(b.graph), Capabilities());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().message,
              "aten.index.Tensor (node 0): indices of type " + std::string(name_of(dtype)));
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
