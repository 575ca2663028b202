// Concatenation and padding.
#include <gtest/gtest.h>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

Values concatenated(const std::vector<Values>& parts, int dim) {
  Values out{parts[0].dims, {}};
  for (size_t i = 1; i < parts.size(); ++i) out.dims[dim] += parts[i].dims[dim];
  for (int64_t row = 0; row < out.dims.numel(0, dim); ++row) {
    for (const Values& part : parts) {
      const int64_t run = part.dims.numel(dim, part.dims.rank());
      for (int64_t i = 0; i < run; ++i)
        out.data.push_back(part.data[static_cast<size_t>(row * run + i)]);
    }
  }
  return out;
}

class Cat {
 public:
  Cat(DType dtype, std::vector<Shape> parts, int dim, const Options& options = {}) : dim_(dim) {
    GraphBuilder b;
    std::vector<V> items;
    Shape out = parts[0];
    out[dim] = 0;
    for (const Shape& part : parts) {
      items.push_back(b.input(dtype, part));
      out[dim] += part[dim];
    }
    b.output(b.op("aten.cat.default", {items, dim - out.rank()}, dtype, out));
    loaded_ = std::make_unique<Loaded>(std::move(b), options);
  }

  void run(const std::vector<Shape>& live) {
    std::vector<Values> parts;
    double start = 1;
    for (const Shape& dims : live) {
      parts.push_back(arange(dims, start));
      start += static_cast<double>(dims.numel());
    }
    const DType dtype = loaded_->graph().tensor(loaded_->graph().outputs[0])->dtype;
    for (Values& part : parts) part.data = rounded(dtype, part.data);
    expect_values(loaded_->run1(parts), concatenated(parts, dim_), {}, to_string(live[0]));
  }

 private:
  int dim_;
  std::unique_ptr<Loaded> loaded_;
};

TEST(Concat, JoinsAlongAnyDimension) {
  for (int dim : {0, 1, 2}) {
    Shape b = {2, 3, 4};
    b[dim] = 5;
    Cat cat(DType::kFloat32, {{2, 3, 4}, b}, dim);
    cat.run({{2, 3, 4}, b});
    b[dim] = 1;
    cat.run({{2, 3, 4}, b});
    b[dim] = 0;
    cat.run({{2, 3, 4}, b});
  }
  Cat(DType::kFloat32, {{5}}, 0).run({{5}});
  Cat(DType::kFloat32, {{1, 1, 1, 1, 1, 2, 1, 3}, {1, 1, 1, 1, 1, 2, 2, 3}}, 6)
      .run({{1, 1, 1, 1, 1, 2, 1, 3}, {1, 1, 1, 1, 1, 2, 2, 3}});
}

TEST(Concat, JoinsNarrowTypes) {
  for (const Options& options : device_variants()) {
    for (DType dtype : {DType::kUInt8, DType::kBool, DType::kFloat16, DType::kInt32}) {
      Cat cat(dtype, {{3, 4}, {3, 3}, {3, 8}}, 1, options);
      cat.run({{3, 4}, {3, 3}, {3, 8}});
      cat.run({{2, 1}, {2, 3}, {2, 0}});
      cat.run({{0, 1}, {0, 3}, {0, 2}});
      cat.run({{3, 4}, {3, 0}, {3, 8}});
    }
  }
}

// More sources than a kernel may bind, at the default limits (8) and at the adapter's.
TEST(Concat, JoinsMany) {
  for (const Options& options : device_variants()) {
    for (size_t count : {7, 8, 9, 20, 60}) {
      std::vector<Shape> parts, live;
      for (size_t i = 0; i < count; ++i) {
        parts.push_back({2, 1 + static_cast<int64_t>(i % 4)});
        live.push_back({1, static_cast<int64_t>(i % 3) % (1 + static_cast<int64_t>(i % 4) + 1)});
      }
      if (count > 9 && options.device.default_limits)
        continue;  // the shapes of 20 and 60 take long enough once
      Cat cat(DType::kFloat32, parts, 1, options);
      cat.run(parts);
      cat.run(live);
    }
  }
}

TEST(Concat, SameTensorTwiceAndEmptyOnes) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {2, 3}), none = b.input(DType::kFloat32, {0}),
          empty = b.input(DType::kFloat32, {2, 0});
  b.output(b.f32("aten.cat.default", {std::vector<V>{x, none, x, empty}, 1}, {2, 6}));
  b.output(b.f32("aten.cat.default", {std::vector<V>{none, none}, 0}, {0}));
  Loaded loaded(std::move(b));
  const Values v = arange({2, 3});
  const auto out = loaded.run({v, {{0}, {}}, {{2, 0}, {}}});
  ASSERT_EQ(out.size(), 2u);
  expect_values(out[0], concatenated({v, v}, 1));
  expect_values(out[1], {{0}, {}});
}

// A follower behind a join takes bindings too; none may be missing, none too many.
TEST(Concat, FollowersFitTheBindings) {
  for (size_t count : {3, 5, 6, 7, 12}) {
    GraphBuilder b;
    std::vector<V> parts;
    std::vector<Values> values;
    for (size_t i = 0; i < count; ++i) {
      parts.push_back(b.input(DType::kFloat32, {2, 3}));
      values.push_back(arange({2, 3}, static_cast<double>(10 * i)));
    }
    const auto width = static_cast<int64_t>(3 * count);
    V y = b.f32("aten.cat.default", {parts, 1}, {2, width});
    const Values joined = concatenated(values, 1);
    Values expected = joined;
    for (int k = 0; k < 3; ++k) {
      y = b.f32("aten.add.Tensor", {y, b.input(DType::kFloat32, {width}), 1}, {2, width});
      values.push_back(arange({width}, k));
      for (size_t i = 0; i < expected.data.size(); ++i) {
        expected.data[i] += values.back().data[i % static_cast<size_t>(width)];
      }
    }
    b.output(y);
    Options options;
    options.device.default_limits = true;
    Loaded loaded(std::move(b), options);
    expect_values(loaded.run1(values), expected);
  }
}

Values padded(const Values& x, const Ints& pads, double fill) {
  Values out{x.dims, {}};
  const int rank = x.dims.rank();
  const auto before = [&](int d) {
    const auto at = static_cast<size_t>(rank - 1 - d) * 2;
    return at < pads.size() ? pads[at] : 0;
  };
  for (int d = 0; d < rank; ++d) {
    const auto at = static_cast<size_t>(rank - 1 - d) * 2;
    if (at < pads.size()) out.dims[d] += pads[at] + pads[at + 1];
  }
  for (int64_t i = 0; i < out.dims.numel(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    bool inside = true;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t c = rest % out.dims[d] - before(d);
      rest /= out.dims[d];
      inside = inside && c >= 0 && c < x.dims[d];
      at += c * stride;
      stride *= x.dims[d];
    }
    out.data.push_back(inside ? x.data[static_cast<size_t>(at)] : fill);
  }
  return out;
}

TEST(Pad, PadsAndCuts) {
  for (DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt8, DType::kFloat16}) {
    for (const Ints& pads :
         {Ints{1, 2}, Ints{0, 0, 1, 1}, Ints{-1, 2, 3, -2}, Ints{2, -1, 0, 0, 1, 0}, Ints{}}) {
      const Values x = arange({2, 3, 4}, 1);
      const Values full = padded(x, pads, -7);
      GraphBuilder b;
      b.output(b.op("aten.constant_pad_nd.default", {b.input(dtype, x.dims), pads, -7}, dtype,
                    full.dims));
      Loaded loaded(std::move(b));
      expect_values(loaded.run1({x}), full);
      const Values less = arange({1, 2, 3}, 1);
      expect_values(loaded.run1({less}), padded(less, pads, -7));
      expect_values(loaded.run1({x}), full);
    }
  }
}

TEST(Pad, EmptyAndInfinite) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {3, 2});
  b.output(b.f32("aten.constant_pad_nd.default", {x, Ints{1, 0}, -HUGE_VAL}, {3, 3}));
  Loaded loaded(std::move(b));
  expect_values(loaded.run1({{{0, 2}, {}}}), {{0, 3}, {}});
  expect_values(loaded.run1({{{2, 0}, {}}}), {{2, 1}, {-HUGE_VAL, -HUGE_VAL}});
  expect_values(loaded.run1({arange({1, 2}, 5)}), {{1, 3}, {-HUGE_VAL, 5, 6}});
}

// The followers' fast paths must not decide for a kernel that has no other.
TEST(Pad, FollowerBroadcastsAtOddLiveSizes) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {2, 6}), bias = b.input(DType::kFloat32, {8});
  const V y = b.f32("aten.constant_pad_nd.default", {x, Ints{1, 1}, 0}, {2, 8});
  b.output(b.f32("aten.add.Tensor", {y, bias, 1}, {2, 8}));
  Loaded loaded(std::move(b));
  for (int64_t n : {6, 3, 1, 6}) {
    const Values v = arange({2, n}, 1), c = arange({n + 2}, 100);
    Values expected = padded(v, {1, 1}, 0);
    for (size_t i = 0; i < expected.data.size(); ++i) expected.data[i] += c.data[i % c.data.size()];
    expect_values(loaded.run1({v, c}), expected);
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
