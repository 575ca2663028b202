// Arguments that a file may hold and no exporter writes: found by the fuzzer.
#include <gtest/gtest.h>

#include <limits>

#include "graph_builder.h"
#include "plan/plan.h"

namespace executorch::backends::webgpu::test {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

std::string refusal(const GraphBuilder& builder) {
  const auto plan = make_plan(builder.graph, Capabilities());
  return plan ? "" : plan.error().message;
}

std::string split(Ints parts, size_t outputs) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 2});
  std::vector<V> outs;
  for (size_t i = 0; i < outputs; ++i) {
    outs.push_back(b.tensor(DType::kFloat32, {1, 2}));
    b.output(outs.back());
  }
  b.call("aten.split_with_sizes_copy.default", {x, std::move(parts), 0}, outs);
  return refusal(b);
}

TEST(ExtremeArguments, SplitOfAnyParts) {
  EXPECT_EQ(split({1, 3}, 2), "");
  EXPECT_NE(split({1, kHuge, kHuge, 2}, 4).find("do not divide dimension 0 of [4, 2]"),
            std::string::npos);
  EXPECT_NE(split({5, -1}, 2).find("[5, -1] do not divide"), std::string::npos);
  EXPECT_NE(split({4, 0}, 3).find("[4, 0] do not divide"), std::string::npos);
  // More parts than a shape has dimensions.
  EXPECT_NE(split(Ints(20, 1), 20).find("do not divide"), std::string::npos);
}

TEST(ExtremeArguments, ConvolutionOfAnyGroups) {
  for (const double groups :
       {0.0, -1.0, 1e300, -1e300, 4294967296.0, std::numeric_limits<double>::quiet_NaN(),
        std::numeric_limits<double>::infinity()}) {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {1, 2, 5});
    const V weight = b.constant(DType::kFloat32, {2, 2, 3}, std::vector<float>(12));
    b.output(b.f32("aten.convolution.default",
                   {x, weight, std::nullopt, Ints{1}, Ints{0}, Ints{1}, false, Ints{0}, groups},
                   {1, 2, 3}));
    EXPECT_NE(refusal(b).find("groups"), std::string::npos) << groups;
  }
}

TEST(ExtremeArguments, SliceOfAnyStep) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 20});
  b.output(b.f32("aten.slice_copy.Tensor", {x, 0, 0, kHuge, kHuge}, {1, 20}));
  const auto plan = make_plan(b.graph, Capabilities());
  ASSERT_TRUE(plan) << plan.error().message;
  const LiveValues live(plan->graph);
  for (const PlannedStep& step : plan->steps) {
    for (const LiveFn& param : step.variants[0].dispatch.params) (void)param(live);
  }
}

// Also where sizes depend on a symbolic integer, whose bound the file does not tell.
TEST(ExtremeArguments, OutputOfAnotherRank) {
  for (const bool symbolic : {false, true}) {
    GraphBuilder b;
    const V x = b.input(DType::kFloat32, {4, 6});
    if (symbolic) b.symbol_input(0);
    b.output(b.f32("aten.amax.default", {x, Ints{1}, false}, {4, 1}));
    EXPECT_NE(refusal(b).find("output of sizes [4] is declared as [4, 1]"), std::string::npos)
        << refusal(b);
  }
}

TEST(ExtremeArguments, DimensionsOfAScalar) {
  const std::pair<const char*, std::vector<Arg>> calls[] = {
      {"aten.select_copy.int", {0, 0}},
      {"aten.slice_copy.Tensor", {0, 0, 1, 1}},
      {"aten.unfold_copy.default", {0, 1, 1}}};
  for (const auto& [op, more] : calls) {
    GraphBuilder b;
    std::vector<Arg> args = {b.input(DType::kFloat32, {})};
    args.insert(args.end(), more.begin(), more.end());
    b.output(b.f32(op, args, {}));
    EXPECT_NE(refusal(b).find("a scalar has no dimensions"), std::string::npos) << refusal(b);
  }
}

TEST(ExtremeArguments, ExpandToAnySizes) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {1, 2});
  b.output(b.f32("aten.expand_copy.default", {x, Ints{kHuge, 40, 2}, false}, {1, 40, 2}));
  EXPECT_NE(refusal(b).find("too many elements"), std::string::npos) << refusal(b);
}

// Integers are 32 bits wide on the GPU: no other number is computed in silence.
TEST(ExtremeArguments, IntegersBeyond32Bits) {
  const auto with = [](const char* op, const std::vector<Arg>& more, DType type, DType out) {
    GraphBuilder b;
    std::vector<Arg> args = {b.input(type, {4, 2})};
    args.insert(args.end(), more.begin(), more.end());
    b.output(b.op(op, args, out, {4, 2}));
    return refusal(b);
  };
  const int64_t large = int64_t{1} << 40;
  const char* message = "not within the 32 bits";
  EXPECT_NE(with("aten.full_like.default",
                 {large, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt},
                 DType::kInt32, DType::kInt32)
                .find(message),
            std::string::npos);
  EXPECT_EQ(with("aten.clamp.default", {-large, large}, DType::kInt32, DType::kInt32), "");
  EXPECT_NE(with("aten.eq.Scalar", {int64_t{1} << 31}, DType::kInt32, DType::kBool).find(message),
            std::string::npos);
  EXPECT_EQ(with("aten.eq.Scalar", {large}, DType::kInt32, DType::kBool), "");
  EXPECT_NE(with("aten.constant_pad_nd.default", {Ints{0, 0}, large}, DType::kInt32, DType::kInt32)
                .find(message),
            std::string::npos);
  GraphBuilder b;
  b.output(b.op("aten.full.default",
                {Ints{4}, large, std::nullopt, std::nullopt, std::nullopt, std::nullopt},
                DType::kInt32, {4}));
  EXPECT_NE(refusal(b).find(message), std::string::npos) << refusal(b);
}

TEST(ExtremeArguments, NormsOfOtherSizes) {
  const std::vector<float> ones(3, 1.0F);
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 6});
  const V weight = b.constant(DType::kFloat32, {3}, ones);
  const V mean = b.tensor(DType::kFloat32, {4, 1}), deviation = b.tensor(DType::kFloat32, {4, 1});
  const V y = b.tensor(DType::kFloat32, {4, 6});
  b.call("aten.native_layer_norm.default", {x, Ints{6}, weight, std::nullopt, 1e-5},
         {y, mean, deviation});
  b.output(y);
  EXPECT_NE(refusal(b).find("argument 2 has 3 elements, not 6"), std::string::npos) << refusal(b);
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
