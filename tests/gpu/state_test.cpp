// Values that live across runs or under several names: state updated in place, graph inputs and
// constants as outputs, aliases; and runs after failures, and from several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/schedule.h"
#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

const std::vector<float> kStart = {1, 2, 3, 4};

TEST(State, UpdatesInPlaceOverRuns) {
  for (const bool fuse : {true, false}) {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {4}), start = b.constant(DType::kFloat32, {4}, kStart);
    const V state = b.f32("et_vk.prepack.default", {start}, {4});
    const V before = b.f32("aten.view_copy.default", {state, Ints{2, 2}}, {2, 2});
    const V change = b.f32("aten.relu.default", {x}, {4});
    b.call("aten.add.Tensor", {state, change, 1}, {state});
    const V after = b.f32("aten.mul.Scalar", {state, 2}, {4});
    for (V v : {before, after, state, start}) b.output(v);
    Options options;
    options.plan.fuse = fuse;
    Loaded loaded(std::move(b), options);
    std::vector<double> value(kStart.begin(), kStart.end());
    for (int run = 0; run < 3; ++run) {
      const Values v = arange({4}, run - 1);
      const auto out = loaded.run({v});
      ASSERT_EQ(out.size(), 4u);
      expect_values(out[0], {{2, 2}, value}, {}, "a view taken before the update");
      for (size_t i = 0; i < 4; ++i) value[i] += std::max(v.data[i], 0.0);
      std::vector<double> twice = value;
      for (double& t : twice) t *= 2;
      expect_values(out[1], {{4}, twice});
      expect_values(out[2], {{4}, value});
      expect_values(out[3], {{4}, {1, 2, 3, 4}}, {}, "the constant that the state began with");
    }
  }
}

// The producer of a chain must not sink below the update of what it reads.
TEST(State, ReadersKeepTheOldValue) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4}), start = b.constant(DType::kFloat32, {4}, kStart);
  const V state = b.f32("et_vk.prepack.default", {start}, {4});
  const V old = b.f32("aten.neg.default", {state}, {4});
  b.call("aten.add.Tensor", {state, x, 1}, {state});
  const V sum = b.f32("aten.add.Tensor", {old, x, 1}, {4});
  b.output(sum);
  Loaded loaded(std::move(b));
  expect_values(loaded.run1({arange({4}, 10)}), {{4}, {9, 9, 9, 9}});
  expect_values(loaded.run1({arange({4}, 10)}), {{4}, {-1, -2, -3, -4}});
}

// An input that a node overwrites: later readers see the new value, the next run starts afresh.
TEST(State, InputsOverwrittenInPlace) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4});
  const V old = b.f32("aten.neg.default", {x}, {4});
  b.call("aten.add.Scalar", {x, 1, 1}, {x});
  const V sum = b.f32("aten.add.Tensor", {old, x, 1}, {4});
  b.output(sum);
  b.output(x);
  Loaded loaded(std::move(b));
  for (int run = 0; run < 2; ++run) {
    const auto out = loaded.run({arange({4}, 5 * run)});
    ASSERT_EQ(out.size(), 2u);
    expect_values(out[0], {{4}, {1, 1, 1, 1}});
    expect_values(out[1], arange({4}, 5 * run + 1));
  }
}

TEST(State, ConstantsOverwrittenInPlace) {
  GraphBuilder b;
  const V c = b.constant(DType::kFloat32, {4}, kStart),
          d = b.constant(DType::kFloat32, {4}, kStart);
  b.call("aten.add.Tensor", {c, d, 1}, {c});
  b.output(c);
  Loaded loaded(std::move(b));
  expect_values(loaded.run1({}), arange({4}, 2, 2));
  expect_values(loaded.run1({}), arange({4}, 3, 3));
}

TEST(State, InputsAndConstantsAsOutputs) {
  GraphBuilder b;
  const V x = b.input(DType::kUInt8, {5}), unused = b.input(DType::kFloat32, {3});
  const V c = b.constant(DType::kFloat32, {4}, kStart);
  const V packed = b.f32("et_vk.prepack.default", {c}, {4});
  const V view = b.op("aten.view_copy.default", {x, Ints{-1, 1}}, DType::kUInt8, {5, 1});
  const V folded = b.f32("aten.neg.default", {packed}, {4});
  (void)unused;
  for (V v : {x, x, c, packed, view, folded, folded}) b.output(v);
  Loaded loaded(std::move(b));
  for (int64_t n : {5, 2, 0, 3}) {
    const Values v = arange({n}, 7);
    const auto out = loaded.run({v, arange({3})});
    ASSERT_EQ(out.size(), 7u);
    expect_values(out[0], v);
    expect_values(out[1], v);
    expect_values(out[2], arange({4}, 1));
    expect_values(out[3], arange({4}, 1));
    expect_values(out[4], {{n, 1}, v.data});
    expect_values(out[5], arange({4}, -1, -1));
    expect_values(out[6], arange({4}, -1, -1));
    EXPECT_EQ(loaded.executable().dispatch_count(), 0u);
  }
}

// What depends on constants alone is computed at load, through views and chains.
TEST(State, FoldsConstants) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {2, 2}), c = b.constant(DType::kFloat32, {4}, kStart);
  const V n = b.f32("aten.neg.default", {c}, {4});
  const V v = b.f32("aten.view_copy.default", {n, Ints{2, 2}}, {2, 2});
  const V t = b.f32("aten.permute_copy.default", {v, Ints{1, 0}}, {2, 2});
  const V s = b.f32("aten.add.Tensor", {t, v, 1}, {2, 2});
  b.output(b.f32("aten.add.Tensor", {x, s, 1}, {2, 2}));
  Loaded loaded(std::move(b));
  for (int run = 0; run < 2; ++run)
    expect_values(loaded.run1({arange({2, 2})}), {{2, 2}, {-2, -4, -3, -5}});
  EXPECT_EQ(loaded.executable().dispatch_count(), 1u);
}

TEST(State, RunsAgainAfterFailures) {
  GraphBuilder b;
  const V x = b.input(DType::kInt32, {4, 2}), y = b.input(DType::kInt32, {2});
  b.output(b.op("aten.add.Tensor", {x, y, 1}, DType::kInt32, {4, 2}));
  Loaded loaded(std::move(b));
  const Values good = arange({3, 2}), offset = arange({2}, 10);
  const Values expected = {{3, 2}, {10, 12, 12, 14, 14, 16}};
  expect_values(loaded.run1({good, offset}), expected);
  EXPECT_NE(loaded.error({arange({5, 2}), offset}), "");
  expect_values(loaded.run1({good, offset}), expected);
  EXPECT_NE(loaded.error({arange({2, 2}), arange({1})}), "");
  expect_values(loaded.run1({good, offset}), expected);
  // An element that does not fit fails after the sizes were taken over.
  const int64_t wide[] = {1ll << 40, 1};
  const std::vector<int64_t> x64 = {0, 1};
  const HostInput bad[] = {HostTensorView{x64.data(), DType::kInt64, {1, 2}},
                           HostTensorView{wide, DType::kInt64, {2}}};
  EXPECT_FALSE(loaded.executable().run(bad, {}));
  expect_values(loaded.run1({good, offset}), expected);
  // A run that is begun and never finished.
  const int32_t one[] = {1, 1};
  const HostInput begun[] = {HostTensorView{one, DType::kInt32, {1, 2}},
                             HostTensorView{one, DType::kInt32, {2}}};
  EXPECT_TRUE(loaded.executable().begin(begun));
  expect_values(loaded.run1({good, offset}), expected);
}

TEST(State, RunsFromTwoThreads) {
  const auto build = [](double factor) {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {64, 3});
    const V y = b.f32("aten.mul.Scalar", {x, factor}, {64, 3});
    b.output(b.f32("aten.permute_copy.default", {y, Ints{1, 0}}, {3, 64}));
    return b;
  };
  std::atomic<int> wrong = 0;
  const auto work = [&](double factor) {
    Loaded loaded(build(factor));
    for (int64_t run = 0; run < 40; ++run) {
      const int64_t n = 1 + run % 64;
      const Values x = arange({n, 3});
      std::string error;
      const auto out = loaded.try_run({x}, {}, error);
      bool ok = out && (*out)[0].dims == Shape{3, n};
      for (int64_t i = 0; ok && i < 3 * n; ++i) {
        ok = (*out)[0].data[static_cast<size_t>(i)] ==
             static_cast<double>(i % n * 3 + i / n) * factor;
      }
      wrong += ok ? 0 : 1;
    }
  };
  std::thread first(work, 2.0), second(work, -0.5), third(work, 4.0);
  first.join();
  second.join();
  third.join();
  EXPECT_EQ(wrong, 0);
}

TEST(State, ManyWorkgroupsFoldIntoTwoDimensions) {
  EXPECT_EQ(fold_workgroups(65535, 65535), (std::pair<uint32_t, uint32_t>(65535, 1)));
  EXPECT_EQ(fold_workgroups(65536, 65535), (std::pair<uint32_t, uint32_t>(32768, 2)));
  EXPECT_EQ(fold_workgroups(65535ull * 65535, 65535),
            (std::pair<uint32_t, uint32_t>(65535, 65535)));
  EXPECT_EQ(fold_workgroups(65535ull * 65535 + 1, 65535), std::nullopt);
  EXPECT_EQ(fold_workgroups(0, 65535), (std::pair<uint32_t, uint32_t>(0, 1)));
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
