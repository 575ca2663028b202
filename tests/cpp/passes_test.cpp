// What passes do to a graph: dead nodes go, pointwise nodes join their producers, state is kept.
#include "passes/passes.h"

#include <gtest/gtest.h>

#include "graph_builder.h"
#include "ops/op.h"

namespace executorch::backends::webgpu::test {
namespace {

// The graph's nodes after the passes, each with its followers: "neg+view_copy+relu mul".
std::string after(GraphBuilder b, PassOptions options = {}) {
  run_passes(b.graph, traits_of, options);
  const auto short_name = [](const std::string& op) {
    const size_t dot = op.find('.');
    return op.substr(dot + 1, op.find('.', dot + 1) - dot - 1);
  };
  std::string out;
  for (const Node& node : b.graph.nodes) {
    out += (out.empty() ? "" : " ") + short_name(node.op);
    for (const Node& follower : node.followers) out += "+" + short_name(follower.op);
  }
  return out;
}

constexpr DType kF32 = DType::kFloat32;

TEST(Passes, RemovesDeadNodes) {
  GraphBuilder b;
  const V x = b.input(kF32, {4});
  const V a = b.f32("aten.neg.default", {x}, {4});
  const V dead = b.f32("aten.abs.default", {a}, {4});
  b.f32("aten.relu.default", {dead}, {4});
  b.symbol("sym_size.int", {x, 0}, 4);
  b.output(a);
  EXPECT_EQ(after(std::move(b)), "neg");
}

TEST(Passes, KeepsUpdatesOfState) {
  GraphBuilder b;
  const V x = b.input(kF32, {4}), c = b.constant(kF32, {4}, std::vector<float>(4));
  const V state = b.f32("et_vk.prepack.default", {c}, {4});
  b.call("aten.add.Tensor", {state, x, 1}, {state});
  b.output(b.f32("aten.neg.default", {x}, {4}));
  EXPECT_EQ(after(std::move(b)), "prepack add neg");
}

TEST(Passes, FusesChainsThroughViews) {
  GraphBuilder b;
  const V x = b.input(kF32, {2, 4}), y = b.input(kF32, {8});
  V v = b.f32("aten.permute_copy.default", {x, Ints{1, 0}}, {4, 2});
  v = b.f32("aten.view_copy.default", {v, Ints{8}}, {8});
  v = b.f32("aten.unsqueeze_copy.default", {v, 0}, {1, 8});
  v = b.f32("aten.add.Tensor", {y, v, 1}, {1, 8});
  b.output(b.f32("aten.relu.default", {v}, {1, 8}));
  GraphBuilder copy = b;
  EXPECT_EQ(after(std::move(b)), "permute_copy+view_copy+unsqueeze_copy+add+relu");
  EXPECT_EQ(after(std::move(copy), {.fuse = false}),
            "permute_copy view_copy unsqueeze_copy add relu");
}

TEST(Passes, LeavesValuesThatOthersRead) {
  GraphBuilder b;
  const V x = b.input(kF32, {4});
  const V a = b.f32("aten.neg.default", {x}, {4});
  const V r = b.f32("aten.relu.default", {a}, {4});
  b.output(b.f32("aten.add.Tensor", {r, a, 1}, {4}));
  EXPECT_EQ(after(std::move(b)), "neg relu+add");
  GraphBuilder out;
  const V z = out.f32("aten.neg.default", {out.input(kF32, {4})}, {4});
  out.output(z);
  out.output(out.f32("aten.relu.default", {z}, {4}));
  EXPECT_EQ(after(std::move(out)), "neg relu");
  GraphBuilder sized;  // its size is asked for in between
  const V w = sized.f32("aten.neg.default", {sized.input(kF32, {4})}, {4});
  sized.output(sized.symbol("sym_size.int", {w, 0}, 4));
  sized.output(sized.f32("aten.relu.default", {w}, {4}));
  EXPECT_EQ(after(std::move(sized)), "neg int relu");
}

TEST(Passes, FusesOnlyWhereNothingRepeats) {
  GraphBuilder b;
  const V x = b.input(kF32, {4}), y = b.input(kF32, {3, 4});
  const V a = b.f32("aten.neg.default", {x}, {4});
  b.output(b.f32("aten.add.Tensor", {a, y, 1}, {3, 4}));
  EXPECT_EQ(after(std::move(b)), "neg add");
}

TEST(Passes, PrefersTheProducerThatComputes) {
  GraphBuilder b;
  const V x = b.input(kF32, {4, 4});
  const V p = b.f32("aten.mm.default", {x, x}, {4, 4});
  const V q = b.f32("aten.neg.default", {x}, {4, 4});
  b.output(b.f32("aten.add.Tensor", {q, p, 1}, {4, 4}));
  EXPECT_EQ(after(std::move(b)), "neg mm+add");
}

TEST(Passes, CountsBindings) {
  for (uint32_t limit : {3, 4, 8}) {
    GraphBuilder b;
    V y = b.input(kF32, {4});
    for (int i = 0; i < 3; ++i) y = b.f32("aten.add.Tensor", {y, b.input(kF32, {4}), 1}, {4});
    b.output(y);
    PassOptions options;
    options.max_bindings = limit;
    EXPECT_EQ(after(std::move(b), options), limit == 3   ? "add add add"
                                            : limit == 4 ? "add+add add"
                                                         : "add+add+add");
  }
}

TEST(Passes, NothingSinksBelowAnUpdateOfWhatItReads) {
  for (const bool state_is_input : {true, false}) {
    GraphBuilder b;
    const V x = b.input(kF32, {4});
    V state;
    if (state_is_input) {
      state = b.input(kF32, {4});
    } else {
      state = b.f32("et_vk.prepack.default", {b.constant(kF32, {4}, std::vector<float>(4))}, {4});
    }
    const V old = b.f32("aten.neg.default", {state}, {4});
    b.call("aten.add.Tensor", {state, x, 1}, {state});
    b.output(b.f32("aten.add.Tensor", {old, x, 1}, {4}));
    b.output(state);
    EXPECT_EQ(after(std::move(b)), state_is_input ? "neg add add" : "prepack neg add add");
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
