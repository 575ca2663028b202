// Operands that broadcast, in every pattern and at sizes that change between runs.
#include <gtest/gtest.h>

#include <vector>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

void expect_difference(Loaded& loaded, const Shape& a, const Shape& b, const Shape& out) {
  const Values x = arange(a, 1), y = arange(b, 100, 3);
  Values expected{out, {}};
  for (int64_t i = 0; i < out.numel(); ++i)
    expected.data.push_back(broadcast_at(x, out, i) - broadcast_at(y, out, i));
  expected.data = rounded(loaded.graph().tensor(loaded.graph().outputs[0])->dtype, expected.data);
  expect_values(loaded.run1({x, y}), expected, {}, to_string(a) + " - " + to_string(b));
}

GraphBuilder difference(DType dtype, const Shape& a, const Shape& b, const Shape& out) {
  GraphBuilder g;
  const V x = g.input(dtype, a), y = g.input(dtype, b);
  g.output(g.op("aten.sub.Tensor", {x, y, 1}, dtype, out));
  return g;
}

TEST(Broadcast, InEveryPattern) {
  struct Pattern {
    Shape a, b, out;
  };
  const std::vector<Pattern> patterns = {
      {{}, {}, {}},
      {{7}, {}, {7}},
      {{}, {3, 3}, {3, 3}},
      {{3, 5}, {5}, {3, 5}},
      {{3, 5}, {3, 1}, {3, 5}},
      {{3, 8}, {8}, {3, 8}},
      {{3, 8}, {3, 1}, {3, 8}},
      {{1, 8}, {3, 1}, {3, 8}},
      {{3, 1, 5}, {4, 1}, {3, 4, 5}},
      {{2, 1, 3, 1}, {1, 4, 1, 5}, {2, 4, 3, 5}},
      {{1, 1, 8}, {3, 2, 1}, {3, 2, 8}},
      {{2, 3, 4}, {1, 3, 4}, {2, 3, 4}},
      {{2, 3, 4}, {2, 1, 1}, {2, 3, 4}},
      {{2, 1, 1, 4}, {3, 5, 1}, {2, 3, 5, 4}},
      {{1, 2, 1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1, 2, 1}, {2, 2, 2, 2, 2, 2, 2, 2}},
      {{1, 1, 3}, {3}, {1, 1, 3}},
      {{0, 4}, {1, 4}, {0, 4}},
      {{3, 0}, {3, 1}, {3, 0}},
  };
  for (const Pattern& p : patterns) {
    Loaded loaded(difference(DType::kFloat32, p.a, p.b, p.out));
    expect_difference(loaded, p.a, p.b, p.out);
  }
  for (DType dtype : {DType::kUInt8, DType::kFloat16, DType::kInt32}) {
    for (size_t i : {4, 6, 8, 10}) {
      const Pattern& p = patterns[i];
      Loaded loaded(difference(dtype, p.a, p.b, p.out));
      expect_difference(loaded, p.a, p.b, p.out);
    }
  }
}

// The fast paths of the maxima do not hold for all live sizes.
TEST(Broadcast, AtLiveSizes) {
  Loaded rows(difference(DType::kFloat32, {4, 3, 8}, {3, 1}, {4, 3, 8}));
  Loaded columns(difference(DType::kFloat32, {4, 8}, {8}, {4, 8}));
  Loaded outer(difference(DType::kFloat32, {4, 1}, {1, 8}, {4, 8}));
  for (int64_t n : {8, 5, 4, 0, 1, 8}) {
    for (int64_t m : {4, 0, 3}) {
      expect_difference(rows, {m, 3, n}, {3, 1}, {m, 3, n});
      expect_difference(columns, {m, n}, {n}, {m, n});
      expect_difference(outer, {m, 1}, {1, n}, {m, n});
    }
  }
  // 1 along a dimension that does not broadcast by design would read other elements.
  EXPECT_NE(columns.error({arange({4, 8}), arange({1})}), "");
  EXPECT_NE(columns.error({arange({4, 1}), arange({8})}), "");
  EXPECT_NE(columns.error({arange({1, 8}), arange({1})}), "");
  expect_difference(columns, {1, 1}, {1}, {1, 1});
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
