// Views and data movement against the index arithmetic of their definitions, at live sizes that
// change between runs.
#include <gtest/gtest.h>

#include <functional>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

using Coordinates = std::vector<int64_t>;

// The tensor of sizes `dims` whose element at c is x[source(c)].
Values moved(const Values& x, Shape dims,
             const std::function<Coordinates(const Coordinates&)>& source) {
  Values out{dims, {}};
  for (int64_t i = 0; i < dims.numel(); ++i) {
    Coordinates c(static_cast<size_t>(dims.rank()));
    int64_t rest = i;
    for (int d = dims.rank() - 1; d >= 0; --d) {
      c[static_cast<size_t>(d)] = rest % dims[d];
      rest /= dims[d];
    }
    const Coordinates at = source(c);
    int64_t flat = 0;
    for (int d = 0; d < x.dims.rank(); ++d) flat = flat * x.dims[d] + at[static_cast<size_t>(d)];
    out.data.push_back(x.data[static_cast<size_t>(flat)]);
  }
  return out;
}

Values sample(DType dtype, const Shape& dims) {
  Values x = arange(dims, 1);
  if (dtype == DType::kUInt8 || dtype == DType::kInt8) {
    for (double& v : x.data) v = static_cast<double>(static_cast<int64_t>(v) % 120);
  }
  if (dtype == DType::kBool) {
    for (double& v : x.data) v = static_cast<double>(static_cast<int64_t>(v * v) % 3 == 1);
  }
  return x;
}

Shape permuted(const Shape& dims, const std::vector<int>& order) {
  Shape out;
  for (int d : order) out.push_back(dims[d]);
  return out;
}

Values permute(const Values& x, const std::vector<int>& order) {
  return moved(x, permuted(x.dims, order), [&](const Coordinates& c) {
    Coordinates at(c.size());
    for (size_t i = 0; i < c.size(); ++i) at[static_cast<size_t>(order[i])] = c[i];
    return at;
  });
}

GraphBuilder unary(DType dtype, const Shape& in, const char* op, std::vector<Arg> args,
                   const Shape& out) {
  GraphBuilder b;
  const V x = b.input(dtype, in);
  args.insert(args.begin(), Arg(x));
  b.output(b.op(op, args, dtype, out));
  return b;
}

TEST(Movement, Permutes) {
  struct Case {
    Shape dims;
    std::vector<int> order;
  };
  const std::vector<Case> cases = {{{}, {}},
                                   {{5}, {0}},
                                   {{3, 5}, {1, 0}},
                                   {{3, 4, 8}, {1, 0, 2}},
                                   {{3, 4, 5}, {2, 0, 1}},
                                   {{2, 3, 4, 5}, {0, 2, 3, 1}},
                                   {{2, 3, 4, 5}, {2, 3, 0, 1}},
                                   {{1, 3, 1, 5}, {2, 1, 0, 3}},
                                   {{2, 1, 2, 3, 1, 2, 2, 3}, {7, 0, 1, 5, 6, 2, 3, 4}},
                                   {{0, 3}, {1, 0}}};
  for (const Case& c : cases) {
    Ints order;  // some of them counted from the end
    for (size_t i = 0; i < c.order.size(); ++i) {
      order.push_back(i % 2 == 0 ? c.order[i] : c.order[i] - static_cast<int>(c.order.size()));
    }
    Loaded loaded(unary(DType::kFloat32, c.dims, "aten.permute_copy.default", {order},
                        permuted(c.dims, c.order)));
    const Values x = sample(DType::kFloat32, c.dims);
    expect_values(loaded.run1({x}), permute(x, c.order), {}, to_string(c.dims));
  }
}

TEST(Movement, PermutesAllTypesAtLiveSizes) {
  const std::vector<int> order = {1, 0, 2};
  for (DType dtype :
       {DType::kFloat32, DType::kFloat16, DType::kInt32, DType::kUInt8, DType::kBool}) {
    Loaded loaded(unary(dtype, {3, 4, 8}, "aten.permute.default", {Ints{1, 0, 2}}, {4, 3, 8}));
    for (const Shape& live :
         {Shape{3, 4, 8}, {2, 3, 7}, {1, 4, 4}, {0, 4, 8}, {3, 1, 8}, {3, 4, 8}}) {
      const Values x = sample(dtype, live);
      expect_values(loaded.run1({x}), permute(x, order), {}, to_string(live));
    }
  }
}

TEST(Movement, TransposesTwoDims) {
  Loaded t(unary(DType::kFloat32, {3, 5}, "aten.t_copy.default", {}, {5, 3}));
  Loaded swap(unary(DType::kFloat32, {2, 3, 4}, "aten.transpose_copy.int", {-1, 0}, {4, 3, 2}));
  const Values a = arange({3, 5}), b = arange({2, 3, 4});
  expect_values(t.run1({a}), permute(a, {1, 0}));
  expect_values(swap.run1({b}), permute(b, {2, 1, 0}));
}

TEST(Movement, Expands) {
  struct Case {
    Shape in;
    Ints sizes;
    Shape out;
  };
  for (const Case& c : std::vector<Case>{{{3, 1}, {3, 4}, {3, 4}},
                                         {{3, 1}, {-1, 5}, {3, 5}},
                                         {{5}, {2, 3, -1}, {2, 3, 5}},
                                         {{}, {2, 3}, {2, 3}},
                                         {{4, 8}, {1, 4, 8}, {1, 4, 8}},
                                         {{1, 8}, {3, 8}, {3, 8}},
                                         {{3, 1}, {3, 0}, {3, 0}}}) {
    Loaded loaded(
        unary(DType::kFloat32, c.in, "aten.expand_copy.default", {c.sizes, false}, c.out));
    const Values x = arange(c.in, 1);
    expect_values(loaded.run1({x}),
                  moved(x, c.out,
                        [&](const Coordinates& at) {
                          Coordinates from;
                          for (int d = 0; d < c.in.rank(); ++d) {
                            const int64_t k = at[at.size() - static_cast<size_t>(c.in.rank() - d)];
                            from.push_back(c.in[d] == 1 ? 0 : k);
                          }
                          return from;
                        }),
                  {}, to_string(c.in));
  }
}

Values slice(const Values& x, int dim, int64_t start, int64_t end, int64_t step) {
  const auto bound = [&](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + x.dims[dim] : i, 0, x.dims[dim]);
  };
  Shape dims = x.dims;
  dims[dim] = std::max<int64_t>(0, (bound(end) - bound(start) + step - 1) / step);
  return moved(x, dims, [&](Coordinates c) {
    c[static_cast<size_t>(dim)] = bound(start) + step * c[static_cast<size_t>(dim)];
    return c;
  });
}

TEST(Movement, Slices) {
  struct Case {
    Shape dims;
    int64_t dim, start, end, step;
  };
  const std::vector<Case> cases = {
      {{9}, 0, 0, 4, 1},           {{9}, 0, 2, INT64_MAX, 1}, {{9}, -1, -3, -1, 1},
      {{9}, 0, 1, 8, 3},           {{4, 6}, 1, 1, 5, 2},      {{4, 6}, 0, 0, 2, 1},
      {{4, 6}, 0, 1, 3, 1},        {{4, 6}, -2, 3, 100, 1},   {{4, 6}, 1, 4, 2, 1},
      {{2, 5, 8}, 1, 1, 4, 1},     {{2, 5, 8}, 1, 0, 5, 2},   {{2, 5, 8}, 2, 1, 8, 3},
      {{2, 5, 8}, 0, -1, 2, 1},    {{1, 5, 8}, 1, 0, 3, 1},   {{1, 5, 64}, 1, 1, 3, 1},
      {{3, 4}, 1, 0, 4, INT64_MAX}};
  for (const Case& c : cases) {
    const int dim = normalize_dim(c.dim, c.dims.rank());
    const Values x = arange(c.dims, 1);
    const Values expected =
        c.step == INT64_MAX ? slice(x, dim, 0, 1, 1) : slice(x, dim, c.start, c.end, c.step);
    Loaded loaded(unary(DType::kFloat32, c.dims, "aten.slice_copy.Tensor",
                        {c.dim, c.start, c.end, c.step}, expected.dims));
    expect_values(loaded.run1({x}), expected, {}, to_string(c.dims));
  }
}

TEST(Movement, SlicesAtLiveSizes) {
  for (DType dtype : {DType::kFloat32, DType::kUInt8, DType::kFloat16}) {
    Loaded tail(unary(dtype, {4, 8}, "aten.slice_copy.Tensor", {0, -2, std::nullopt, 1}, {2, 8}));
    Loaded head(unary(dtype, {4, 8}, "aten.slice_copy.Tensor", {0, std::nullopt, 3, 1}, {3, 8}));
    Loaded odd(unary(dtype, {4, 8}, "aten.slice_copy.Tensor", {1, 1, 100, 2}, {4, 4}));
    for (const Shape& live : {Shape{4, 8}, {1, 8}, {3, 5}, {0, 8}, {2, 4}, {4, 0}, {4, 8}}) {
      const Values x = sample(dtype, live);
      expect_values(tail.run1({x}), slice(x, 0, -2, 100, 1), {}, to_string(live));
      expect_values(head.run1({x}), slice(x, 0, 0, 3, 1), {}, to_string(live));
      expect_values(odd.run1({x}), slice(x, 1, 1, 100, 2), {}, to_string(live));
    }
  }
}

TEST(Movement, SlicesToASymbol) {
  GraphBuilder b;
  const V s = b.symbol_input(6), x = b.input(DType::kFloat32, {6, 3});
  b.output(b.f32("aten.slice_copy.Tensor", {x, 0, 0, s, 1}, {6, 3}));
  b.output(b.f32("aten.slice_copy.Tensor", {x, 0, s, std::nullopt, 1}, {6, 3}));
  b.output(b.f32("aten.select_copy.int", {x, 0, s}, {3}));
  Loaded loaded(std::move(b));
  const Values v = arange({6, 3});
  for (int64_t n : {2, 0, 5, -2}) {
    const auto out = loaded.run({v}, {n});
    ASSERT_EQ(out.size(), 3u);
    expect_values(out[0], slice(v, 0, 0, n, 1));
    expect_values(out[1], slice(v, 0, n, 6, 1));
    Values row = slice(v, 0, n, n == -1 ? 6 : n + 1, 1);
    row.dims = {3};
    expect_values(out[2], row);
  }
  EXPECT_EQ(loaded.error({v}, {6}),
            "aten.select_copy.int (node 2): index 6 is out of range for [6, 3]");
}

TEST(Movement, Selects) {
  struct Case {
    Shape dims;
    int64_t dim, index;
  };
  for (const Case& c : std::vector<Case>{{{5}, 0, 3},
                                         {{5}, 0, 0},
                                         {{3, 8}, 0, -1},
                                         {{3, 8}, 1, 2},
                                         {{2, 3, 4}, 1, -2},
                                         {{2, 3, 4}, -1, 0},
                                         {{1, 3, 4}, 0, 0},
                                         {{2, 3, 5, 4}, 2, 4}}) {
    const int dim = normalize_dim(c.dim, c.dims.rank());
    const Values x = arange(c.dims, 1);
    Values expected = slice(x, dim, c.index, c.index == -1 ? INT64_MAX : c.index + 1, 1);
    Shape dims;
    for (int d = 0; d < c.dims.rank(); ++d) {
      if (d != dim) dims.push_back(c.dims[d]);
    }
    expected.dims = dims;
    Loaded loaded(unary(DType::kFloat32, c.dims, "aten.select_copy.int", {c.dim, c.index}, dims));
    expect_values(loaded.run1({x}), expected, {}, to_string(c.dims));
  }
}

TEST(Movement, Splits) {
  for (DType dtype : {DType::kFloat32, DType::kInt8}) {
    GraphBuilder b;
    const V x = b.input(dtype, {2, 9});
    std::vector<V> parts = {b.tensor(dtype, {2, 4}), b.tensor(dtype, {2, 0}),
                            b.tensor(dtype, {2, 5})};
    b.call("aten.split_with_sizes_copy.default", {x, Ints{4, 0, 5}, -1}, parts);
    std::vector<V> rows = {b.tensor(dtype, {1, 9}), b.tensor(dtype, {1, 9})};
    b.call("aten.split_with_sizes_copy.default", {x, Ints{1, 1}, 0}, rows);
    for (V v : parts) b.output(v);
    for (V v : rows) b.output(v);
    Loaded loaded(std::move(b));
    const Values v = sample(dtype, {2, 9});
    const auto out = loaded.run({v});
    ASSERT_EQ(out.size(), 5u);
    expect_values(out[0], slice(v, 1, 0, 4, 1));
    expect_values(out[1], slice(v, 1, 4, 4, 1));
    expect_values(out[2], slice(v, 1, 4, 9, 1));
    expect_values(out[3], slice(v, 0, 0, 1, 1));
    expect_values(out[4], slice(v, 0, 1, 2, 1));
  }
}

TEST(Movement, Flips) {
  struct Case {
    Shape dims;
    Ints flipped;
  };
  for (const Case& c : std::vector<Case>{{{5}, {0}},
                                         {{3, 4}, {0}},
                                         {{3, 4}, {1}},
                                         {{3, 4}, {-1, -2}},
                                         {{2, 3, 4}, {0, 2}},
                                         {{2, 3, 4}, {1}},
                                         {{2, 3, 4}, {}},
                                         {{2, 2, 3, 8}, {0, 1}},
                                         {{0, 3}, {0}}}) {
    Loaded loaded(unary(DType::kFloat32, c.dims, "aten.flip.default", {c.flipped}, c.dims));
    for (int64_t cut : {0, 1}) {
      Shape live = c.dims;
      if (cut > 0 && live[0] > 0) live[0] -= 1;
      const Values x = arange(live, 1);
      expect_values(loaded.run1({x}),
                    moved(x, live,
                          [&](Coordinates at) {
                            for (int64_t d : c.flipped) {
                              const int k = normalize_dim(d, live.rank());
                              at[static_cast<size_t>(k)] = live[k] - 1 - at[static_cast<size_t>(k)];
                            }
                            return at;
                          }),
                    {}, to_string(live));
    }
  }
}

TEST(Movement, Repeats) {
  struct Case {
    Shape in;
    Ints repeats;
    Shape out;
  };
  for (const Case& c : std::vector<Case>{
           {{3}, {2}, {6}},
           {{}, {3}, {3}},
           {{2, 4}, {3, 2}, {6, 8}},
           {{3}, {2, 2}, {2, 6}},
           {{2, 1, 3}, {1, 2, 1, 3}, {1, 4, 1, 9}},
           {{2, 3}, {0, 2}, {0, 6}},
           {{1, 2, 1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1, 2, 1}, {2, 2, 2, 2, 2, 2, 2, 2}}}) {
    Loaded loaded(unary(DType::kFloat32, c.in, "aten.repeat.default", {c.repeats}, c.out));
    const Values x = arange(c.in, 1);
    expect_values(
        loaded.run1({x}),
        moved(x, c.out,
              [&](const Coordinates& at) {
                Coordinates from;
                for (int d = 0; d < c.in.rank(); ++d) {
                  from.push_back(at[at.size() - static_cast<size_t>(c.in.rank() - d)] % c.in[d]);
                }
                return from;
              }),
        {}, to_string(c.in));
  }
}

TEST(Movement, PixelShuffles) {
  for (const Shape& live : {Shape{2, 8, 3, 4}, {1, 8, 2, 3}}) {
    static Loaded loaded(
        unary(DType::kFloat32, {2, 8, 3, 4}, "aten.pixel_shuffle.default", {2}, {2, 2, 6, 8}));
    const Values x = arange(live);
    expect_values(loaded.run1({x}),
                  moved(x, {live[0], 2, live[2] * 2, live[3] * 2}, [](const Coordinates& c) {
                    return Coordinates{c[0], (c[1] * 2 + c[2] % 2) * 2 + c[3] % 2, c[2] / 2,
                                       c[3] / 2};
                  }));
  }
}

TEST(Movement, Unfolds) {
  Loaded last(unary(DType::kFloat32, {2, 9}, "aten.unfold_copy.default", {-1, 4, 2}, {2, 3, 4}));
  Loaded first(unary(DType::kFloat32, {6, 2}, "aten.unfold_copy.default", {0, 3, 1}, {4, 2, 3}));
  const Values a = arange({2, 9}), b = arange({5, 2});
  expect_values(last.run1({a}), moved(a, {2, 3, 4}, [](const Coordinates& c) {
                  return Coordinates{c[0], c[1] * 2 + c[2]};
                }));
  expect_values(first.run1({b}), moved(b, {3, 2, 3}, [](const Coordinates& c) {
                  return Coordinates{c[0] + c[2], c[1]};
                }));
  EXPECT_NE(first.error({arange({2, 2})}), "");
}

TEST(Movement, ViewsMoveNothing) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 1, 6});
  b.output(b.f32("aten.view_copy.default", {x, Ints{-1, 8}}, {3, 8}));
  b.output(b.f32("aten.squeeze_copy.default", {x}, {4, 6}));
  b.output(b.f32("aten.squeeze_copy.dim", {x, -2}, {4, 6}));
  b.output(b.f32("aten.squeeze_copy.dims", {x, Ints{0, 1}}, {4, 6}));
  b.output(b.f32("aten.unsqueeze_copy.default", {x, -1}, {4, 1, 6, 1}));
  b.output(b.f32("aten.clone.default", {x, std::nullopt}, {4, 1, 6}));
  b.output(b.f32("aten.permute_copy.default", {x, Ints{1, 0, 2}}, {1, 4, 6}));
  Loaded loaded(std::move(b));
  for (int64_t n : {4, 0}) {
    const Values v = arange({n, 1, 6});
    const auto out = loaded.run({v});
    ASSERT_EQ(out.size(), 7u);
    const std::vector<Shape> dims = {{n * 6 / 8, 8}, {n, 6},    {n, 6},   {n, 6},
                                     {n, 1, 6, 1},   {n, 1, 6}, {1, n, 6}};
    for (size_t i = 0; i < dims.size(); ++i)
      expect_values(out[i], {dims[i], v.data}, {}, std::to_string(i));
    EXPECT_EQ(loaded.executable().dispatch_count(), 0u);
  }
  // 6 elements do not fill rows of 8; a dynamic dimension of 1 is not squeezed.
  EXPECT_NE(loaded.error({arange({1, 1, 6})}), "");
}

TEST(Movement, SqueezeKeepsDynamicDims) {
  Loaded loaded(unary(DType::kFloat32, {4, 1, 6}, "aten.squeeze_copy.default", {}, {4, 6}));
  expect_values(loaded.run1({arange({1, 1, 6})}), arange({1, 6}));
}

// Slices at aligned offsets could share memory; others must not lose bytes.
TEST(Movement, ViewsAtOffsets) {
  for (DType dtype : {DType::kUInt8, DType::kFloat32}) {
    GraphBuilder b;
    const V x = b.input(dtype, {3, 257});
    const V row = b.op("aten.select_copy.int", {x, 0, 1}, dtype, {257});
    b.output(b.op("aten.view_copy.default", {row, Ints{257, 1}}, dtype, {257, 1}));
    Loaded loaded(std::move(b));
    const Values v = sample(dtype, {3, 257});
    Values expected = slice(v, 0, 1, 2, 1);
    expected.dims = {257, 1};
    expect_values(loaded.run1({v}), expected);
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
