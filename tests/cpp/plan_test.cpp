// Plans, made without a GPU: where values lie, what is refused and by which message, live sizes.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "graph_builder.h"

namespace executorch::backends::webgpu::test {
namespace {

Plan plan_of(GraphBuilder b, const Capabilities& caps = {}, bool fuse = true) {
  auto plan = make_plan(std::move(b.graph), caps, {.fuse = fuse});
  if (plan) return std::move(*plan);
  ADD_FAILURE() << plan.error().message;
  return {};
}

std::string refusal(GraphBuilder b, const Capabilities& caps = {}) {
  const auto plan = make_plan(std::move(b.graph), caps);
  return plan ? std::string("accepted") : plan.error().message;
}

// What must hold of every plan.
void expect_sound(const Plan& plan, const Capabilities& caps) {
  struct Use {
    int first = INT32_MAX, last = -1;
  };
  std::map<ValueId, Use> uses;
  const auto touch = [&](ValueId id, int step) {
    Use& use = uses[id];
    use.first = std::min(use.first, step);
    use.last = std::max(use.last, step);
  };
  int step = 0;
  for (const PlannedStep& s : plan.steps) {
    ASSERT_FALSE(s.variants.empty());
    EXPECT_FALSE(s.variants.back().dispatch.applies);
    for (const PlannedDispatch& variant : s.variants) {
      EXPECT_EQ(variant.params_offset % caps.min_uniform_offset_alignment, 0u);
      EXPECT_LE(variant.params_offset + variant.dispatch.params.size() * 4, plan.params_size);
      EXPECT_LE(variant.dispatch.bindings.size(), caps.max_storage_buffers_per_stage);
      for (const Binding& binding : variant.dispatch.bindings) touch(binding.value, step);
      // A buffer is either read or written by one dispatch, as a whole.
      for (const Binding& w : variant.dispatch.bindings) {
        if (w.access != Access::kReadWrite) continue;
        for (const Binding& other : variant.dispatch.bindings) {
          if (&w == &other) continue;
          EXPECT_NE(plan.places[static_cast<size_t>(w.value)].buffer,
                    plan.places[static_cast<size_t>(other.value)].buffer)
              << variant.dispatch.kernel;
        }
      }
    }
    ++step;
  }
  for (ValueId id : plan.graph.inputs) {
    if (plan.graph.tensor(id) != nullptr && uses.contains(id)) touch(id, -1);
  }
  for (ValueId id : plan.graph.outputs) {
    if (plan.graph.tensor(id) != nullptr) touch(id, step);
  }
  for (const auto& [id, use] : uses) {
    const Tensor& tensor = *plan.graph.tensor(id);
    const Place& place = plan.places[static_cast<size_t>(id)];
    ASSERT_NE(place.buffer, kNoBuffer) << id;
    const BufferPlan& buffer = plan.buffers[place.buffer];
    EXPECT_LE(place.offset + place.size, buffer.size) << id;
    EXPECT_GE(place.size, static_cast<uint64_t>(tensor.max_dims.numel()) * size_of(tensor.dtype))
        << id;
    EXPECT_EQ(place.offset % caps.min_storage_offset_alignment, 0u) << id;
    EXPECT_NE(buffer.kind, BufferKind::kLoadOnly) << id;
    if (buffer.kind != BufferKind::kActivation) continue;
    for (const auto& [other, other_use] : uses) {
      const Place& other_place = plan.places[static_cast<size_t>(other)];
      if (other == id || other_place.buffer != place.buffer) continue;
      const bool same = other_place.offset == place.offset;  // a view of it, or its turn is another
      EXPECT_TRUE(same &&
                  (use.last < other_use.first || other_use.last < use.first || plan.steps.empty() ||
                   tensor.max_dims.numel() == plan.graph.tensor(other)->max_dims.numel()))
          << id << " and " << other;
    }
  }
}

// Nodes that take no followers keep every value of a long chain alive for two steps.
GraphBuilder chain(int length, Shape dims) {
  GraphBuilder b;
  V x = b.input(DType::kFloat32, dims);
  for (int i = 0; i < length; ++i) x = b.f32("aten.neg.default", {x}, dims);
  b.output(x);
  return b;
}

TEST(Plan, ChainsShareTwoBuffers) {
  const Capabilities caps;
  const Plan plan = plan_of(chain(10, {16, 16}), caps, /*fuse=*/false);
  expect_sound(plan, caps);
  EXPECT_EQ(plan.steps.size(), 10u);
  EXPECT_EQ(plan.buffers.size(), 2u);
  EXPECT_EQ(plan.bytes(BufferKind::kActivation), 2u * 1024);
  const Plan fused = plan_of(chain(10, {16, 16}), caps);
  expect_sound(fused, caps);
  EXPECT_EQ(fused.steps.size(), 1u);
  EXPECT_EQ(fused.nodes_before_passes, 10u);
  EXPECT_EQ(fused.nodes_after_passes, 1u);
}

TEST(Plan, BuffersGrowForLaterValues) {
  const Capabilities caps;
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4});
  const V a = b.f32("aten.neg.default", {x}, {4});
  const V wide = b.f32("aten.expand_copy.default", {a, Ints{8, 4}, false}, {8, 4});
  const V y = b.f32("aten.permute_copy.default", {wide, Ints{1, 0}}, {4, 8});
  b.output(b.f32("aten.add.Tensor", {y, y, 1}, {4, 8}));
  const Plan plan = plan_of(std::move(b), caps, false);
  expect_sound(plan, caps);
  EXPECT_EQ(plan.buffers.size(), 2u);
}

TEST(Plan, StateConstantsAndFolds) {
  const Capabilities caps;
  for (const bool fuse : {true, false}) {
    GraphBuilder b;
    const std::vector<float> four = {1, 2, 3, 4};
    const V x = b.input(DType::kFloat32, {4}), c = b.constant(DType::kFloat32, {4}, four),
            d = b.constant(DType::kFloat32, {4}, four);
    const V state = b.f32("et_vk.prepack.default", {c}, {4});
    const V packed = b.f32("et_vk.prepack.default", {d}, {4});
    const V folded = b.f32("aten.neg.default", {packed}, {4});
    const V change = b.f32("aten.add.Tensor", {x, folded, 1}, {4});
    b.call("aten.add.Tensor", {state, change, 1}, {state});
    b.output(state);
    const Plan plan = plan_of(std::move(b), caps, fuse);
    expect_sound(plan, caps);
    const auto kind = [&](V v) {
      return plan.buffers[plan.places[static_cast<size_t>(v.id)].buffer].kind;
    };
    EXPECT_EQ(kind(state), BufferKind::kPersistent);
    EXPECT_EQ(kind(folded), BufferKind::kPersistent);
    EXPECT_EQ(kind(c), BufferKind::kLoadOnly);  // read by the load stage alone
    EXPECT_EQ(kind(packed), BufferKind::kLoadOnly);
    EXPECT_NE(plan.places[static_cast<size_t>(state.id)].buffer,
              plan.places[static_cast<size_t>(c.id)].buffer);
    EXPECT_EQ(plan.once.size(), 2u);  // the state's first bytes, and the fold
  }
}

TEST(Plan, OverwrittenConstantsHaveTheirOwnBuffers) {
  const Capabilities caps;
  GraphBuilder b;
  const std::vector<float> four = {1, 2, 3, 4};
  const V c = b.constant(DType::kFloat32, {4}, four), d = b.constant(DType::kFloat32, {4}, four);
  b.call("aten.add.Tensor", {c, d, 1}, {c});
  b.output(c);
  expect_sound(plan_of(std::move(b), caps), caps);
}

TEST(Plan, SmallConstantsArePooled) {
  const Capabilities caps;
  GraphBuilder b;
  V y = b.input(DType::kFloat32, {4});
  for (int i = 0; i < 5; ++i)
    y = b.f32("aten.add.Tensor", {y, b.constant(DType::kFloat32, {4}, std::vector<float>(4)), 1},
              {4});
  b.output(y);
  const Plan plan = plan_of(std::move(b), caps);
  expect_sound(plan, caps);
  EXPECT_EQ(plan.bytes(BufferKind::kConstant), 4u * 256 + 16);
}

TEST(Plan, InputsThatAreOutputs) {
  const Capabilities caps;
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4}), y = b.input(DType::kFloat32, {4});
  const V v = b.f32("aten.view_copy.default", {x, Ints{2, 2}}, {2, 2});
  V z = y;
  for (int i = 0; i < 4; ++i) z = b.f32("aten.neg.default", {z}, {4});
  for (V out : {v, z, x, z}) b.output(out);
  const Plan plan = plan_of(std::move(b), caps, false);
  expect_sound(plan, caps);
  const auto place = [&](V value) { return plan.places[static_cast<size_t>(value.id)]; };
  EXPECT_EQ(place(x).buffer, place(v).buffer);
  EXPECT_NE(place(x).buffer, place(z).buffer);
}

TEST(Plan, RefusesWhatTheDeviceCannotHold) {
  Capabilities caps;
  caps.max_buffer_size = 1000;
  EXPECT_EQ(refusal(chain(1, {16, 16}), caps),
            "value 0 (float32 [16, 16]) needs 1024 bytes, but a buffer of this device holds at "
            "most 1000");
  caps = {};
  caps.max_storage_binding_size = 1000;
  EXPECT_EQ(refusal(chain(1, {16, 16}), caps),
            "aten.neg.default (node 0): value 0 (float32 [16, 16]) has 1024 bytes, but one binding "
            "of this device covers at most 1000");
  caps = {};
  caps.max_uniform_binding_size = 3;
  EXPECT_NE(refusal(chain(1, {16, 16}), caps).find("bytes of params, this device allows 3"),
            std::string::npos);
}

TEST(Plan, NamesWhatIsWrongWithANode) {
  const auto with = [](const char* op, std::vector<Arg> args, DType dtype, Shape out) {
    GraphBuilder b;
    args.insert(args.begin(), Arg(b.input(DType::kFloat32, {3, 4})));
    b.output(b.op(op, args, dtype, out));
    return refusal(std::move(b));
  };
  EXPECT_EQ(
      with("aten.no_such.default", {}, DType::kFloat32, {3, 4}),
      "aten.no_such.default (node 0): this runtime has no such operator; keep it on the CPU (the "
      "partitioner's operator_blocklist)");
  EXPECT_EQ(with("aten.neg.default", {1}, DType::kFloat32, {3, 4}),
            "aten.neg.default (node 0): has 2 arguments, expected 1");
  EXPECT_EQ(with("aten.bitwise_not.default", {}, DType::kInt32, {3, 4}),
            "aten.bitwise_not.default (node 0): is defined for integers only");
  EXPECT_EQ(with("aten.gelu.default", {"sinh"}, DType::kFloat32, {3, 4}),
            "aten.gelu.default (node 0): mode is not known");
  EXPECT_EQ(with("aten.clamp.default", {std::nullopt, std::nullopt}, DType::kFloat32, {3, 4}),
            "aten.clamp.default (node 0): mode is not known");
  EXPECT_EQ(with("aten.view_copy.default", {Ints{5, 2}}, DType::kFloat32, {5, 2}),
            "aten.view_copy.default (node 0): sizes [5, 2] do not hold the 12 elements of [3, 4]");
  EXPECT_EQ(with("aten.view_copy.default", {Ints{12}}, DType::kInt32, {12}),
            "aten.view_copy.default (node 0): cannot turn float32 into int32");
  EXPECT_EQ(with("aten.neg.default", {}, DType::kFloat32, {12}),
            "aten.neg.default (node 0): argument 0 has rank 2, the output 1");
  EXPECT_EQ(with("aten.view_copy.default", {Ints{3, 4}}, DType::kFloat32, {12}),
            "aten.view_copy.default (node 0): output of sizes [3, 4] is declared as [12]");
  EXPECT_EQ(with("aten.permute_copy.default", {Ints{0, 0}}, DType::kFloat32, {3, 3}),
            "aten.permute_copy.default (node 0): the dims are not a permutation");
  EXPECT_EQ(with("aten.permute_copy.default", {Ints{0}}, DType::kFloat32, {3}),
            "aten.permute_copy.default (node 0): 1 dims for a tensor of rank 2");
  EXPECT_EQ(with("aten.slice_copy.Tensor", {2, 0, 1, 1}, DType::kFloat32, {3, 4}),
            "aten.slice_copy.Tensor (node 0): dimension 2 is out of range for [3, 4]");
  EXPECT_EQ(with("aten.slice_copy.Tensor", {0, 0, 1, 0}, DType::kFloat32, {3, 4}),
            "aten.slice_copy.Tensor (node 0): the step must be a fixed positive number");
  EXPECT_EQ(
      with("aten.slice_copy.Tensor", {std::nan(""), 0, 1, 1}, DType::kFloat32, {3, 4}),
      "aten.slice_copy.Tensor (node 0): dimension -9223372036854775808 is out of range for [3, 4]");
  EXPECT_EQ(with("aten.expand_copy.default", {Ints{3, 5}, false}, DType::kFloat32, {3, 5}),
            "aten.expand_copy.default (node 0): [3, 4] cannot expand to [3, 5]");
  EXPECT_EQ(with("aten.constant_pad_nd.default", {Ints{1}, 0}, DType::kFloat32, {3, 4}),
            "aten.constant_pad_nd.default (node 0): 1 pads for a tensor of rank 2");
  EXPECT_EQ(with("aten.constant_pad_nd.default", {Ints{-3, -2}, 0}, DType::kFloat32, {3, 4}),
            "aten.constant_pad_nd.default (node 0): pads [-3, -2] leave nothing of dimension 1 of "
            "[3, 4]");
  EXPECT_EQ(
      with("aten.constant_pad_nd.default", {Ints{INT64_MAX, INT64_MAX}, 0}, DType::kFloat32, {3, 4})
          .substr(0, 43),
      "aten.constant_pad_nd.default (node 0): pads");
  EXPECT_EQ(with("aten.repeat.default", {Ints{INT64_MAX, 2}}, DType::kFloat32, {3, 4}),
            "aten.repeat.default (node 0): repeats 9223372036854775807 times, too often");
  EXPECT_EQ(with("aten.repeat.default", {Ints{1 << 20, 1 << 20}}, DType::kFloat32, {3, 4}),
            "aten.repeat.default (node 0): live sizes [3145728, 4194304] are too many elements");
}

TEST(Plan, InfersLiveSizes) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {8, 3}), y = b.input(DType::kFloat32, {8, 3});
  const V s = b.symbol("sym_size.int", {x, 0}, 8);
  const V twice = b.symbol("mul", {s, 2}, 16);
  const V both = b.f32("aten.cat.default", {std::vector<V>{x, y}, 0}, {16, 3});
  const V view = b.f32("aten.view_copy.default",
                       {both, std::vector<V>{twice, {b.graph.add(int64_t{-1})}}}, {16, 3});
  b.output(b.f32("aten.neg.default", {view}, {16, 3}));
  b.output(twice);
  const Plan plan = plan_of(std::move(b));
  LiveValues live(plan.graph);
  const auto infer = [&](Shape a, Shape c) {
    live.set_dims(plan.graph.inputs[0], a);
    live.set_dims(plan.graph.inputs[1], c);
    const Status status = infer_shapes(plan, live);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(infer({2, 3}, {2, 3}), "");
  EXPECT_EQ(live.dims(plan.graph.outputs[0]), (Shape{4, 3}));
  EXPECT_EQ(live.integer(plan.graph.outputs[1]), 4);
  EXPECT_EQ(infer({2, 3}, {1, 3}),
            "aten.view_copy.default (node 3): sizes [4, -1] do not hold the 9 elements of [3, 3]");
  EXPECT_EQ(infer({2, 3}, {2, 2}),
            "aten.cat.default (node 2): cannot join [2, 3] and [2, 2] along dimension 0");
  EXPECT_EQ(infer({9, 3}, {9, 3}),
            "aten.cat.default (node 2): live sizes [18, 3] exceed the maximum [16, 3]");
  EXPECT_EQ(infer({8, 3}, {8, 3}), "");
}

TEST(Plan, SizesThatWidenBroadcastNothingByMistake) {
  // view makes [s, 8 / s] of 8 elements: 1 wide at the maximum, wider below it.
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {8}), like = b.input(DType::kFloat32, {8}),
          wide = b.input(DType::kFloat32, {8, 4});
  const V s = b.symbol("sym_size.int", {like, 0}, 8);
  const V t =
      b.f32("aten.view_copy.default", {x, std::vector<V>{s, {b.graph.add(int64_t{-1})}}}, {8, 1});
  b.output(b.f32("aten.add.Tensor", {t, wide, 1}, {8, 4}));
  const Plan plan = plan_of(std::move(b));
  LiveValues live(plan.graph);
  live.set_dims(plan.graph.inputs[1], {2});
  live.set_dims(plan.graph.inputs[2], {2, 4});
  const Status status = infer_shapes(plan, live);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("aten.add.Tensor (node 2): argument 0 of sizes [2, 4]"),
            std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
