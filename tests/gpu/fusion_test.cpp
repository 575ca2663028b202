// Fused and unfused programs give the same numbers: random graphs of small whole numbers, which
// float32 holds exactly, against an interpreter; and the cases that fusion must get right by name.
// Other graphs: --gtest_random_seed=N.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "gpu_test_util.h"

namespace executorch::backends::webgpu::test {
namespace {

using Env = std::map<ValueId, Values>;

constexpr int64_t kBatch = 4;  // the largest size of dimension 0, which changes between runs

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    for (int i = 0; i < 2; ++i) new_input(random_shape());
    if (pick(2) == 0) add_state();
    const int count = 10 + pick(6);
    for (int i = 0; i < count; ++i) add_node();
    const int outputs = 1 + pick(3);
    for (int i = 0; i < outputs; ++i)
      b_.output(items_[items_.size() - 1 -
                       static_cast<size_t>(pick(std::min<int>(5, static_cast<int>(items_.size()))))]
                    .v);
    b_.output(items_.back().v);
    b_.output(items_[static_cast<size_t>(pick(static_cast<int>(items_.size())))].v);
    if (state_.id != kNoValue) b_.output(state_);
  }

  const GraphBuilder& builder() const { return b_; }

  // Runs the interpreter on fresh inputs; `env` keeps the state between runs.
  std::vector<Values> expect(int64_t batch, Env& env, std::vector<Values>& inputs) {
    for (ValueId id : b_.graph.inputs) {
      Shape dims = b_.graph.tensor(id)->max_dims;
      if (batched_[id]) dims[0] = batch;
      inputs.push_back(values(dims));
      env[id] = inputs.back();
    }
    for (const auto& step : program_) step(env);
    std::vector<Values> out;
    for (ValueId id : b_.graph.outputs) out.push_back(env[id]);
    return out;
  }
  // The values that constants and states start with.
  Env start() const { return constants_; }

 private:
  struct Item {
    V v;
    Shape dims;
    bool batched;
  };

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Values values(const Shape& dims) {
    Values out{dims, {}};
    for (int64_t i = 0; i < dims.numel(); ++i) out.data.push_back(pick(17) - 8);
    return out;
  }
  Shape random_shape() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 8};
    Shape out = {kBatch};
    const int rank = 1 + pick(3);
    for (int d = 0; d < rank; ++d) out.push_back(kSizes[pick(6)]);
    return out;
  }

  const Item& add(V v, const Shape& dims, bool batched) {
    items_.push_back({v, dims, batched});
    batched_[v.id] = batched;
    return items_.back();
  }
  const Item& new_input(const Shape& dims, bool batched = true) {
    return add(b_.input(DType::kFloat32, dims), dims, batched);
  }
  Item new_constant(const Shape& dims) {
    const Values v = values(dims);
    std::vector<float> floats(v.data.begin(), v.data.end());
    const V constant = b_.constant(DType::kFloat32, dims, floats);
    constants_[constant.id] = v;
    return {constant, dims, false};
  }

  void add_state() {
    const Item initial = new_constant({3, 4});
    state_ = b_.f32("et_vk.prepack.default", {initial.v}, {3, 4});
    constants_[state_.id] = constants_[initial.v.id];
    batched_[state_.id] = false;
  }

  // An operand that broadcasts to `target`, or has its sizes.
  Item operand_for(const Item& target) {
    if (state_.id != kNoValue && pick(4) == 0 && target.dims.rank() >= 2 &&
        target.dims.last(0) == 4 && target.dims.last(1) == 3 &&
        !(target.batched && target.dims.rank() == 2)) {
      return {state_, {3, 4}, false};
    }
    if (pick(2) == 0) {
      std::vector<Item> same;
      for (const Item& item : items_) {
        if (item.dims == target.dims && item.batched == target.batched) same.push_back(item);
      }
      return same[static_cast<size_t>(pick(static_cast<int>(same.size())))];
    }
    Shape dims;
    const int skip = pick(target.dims.rank() + 1);
    for (int d = skip; d < target.dims.rank(); ++d) {
      const bool keep = !(target.batched && d == 0) && pick(3) > 0;
      dims.push_back(keep ? target.dims[d] : 1);
    }
    if (pick(2) == 0) {
      const Item item = new_constant(dims);
      if (pick(2) == 0) return item;
      add(item.v, item.dims, false);  // may get nodes of its own: they fold
      return unary(items_.back());
    }
    const bool batched = target.batched && skip == 0 && pick(2) == 0;
    if (batched) dims[0] = kBatch;
    return new_input(dims, batched);
  }

  Item unary(const Item& x) {
    static const std::vector<std::tuple<const char*, std::vector<Arg>, double (*)(double)>> kOps = {
        {"aten.relu.default", {}, [](double v) { return std::max(v, 0.0); }},
        {"aten.neg.default", {}, [](double v) { return -v; }},
        {"aten.abs.default", {}, [](double v) { return std::abs(v); }},
        {"aten.add.Scalar", {3, 1}, [](double v) { return v + 3; }},
        {"aten.hardtanh.default", {-9, 11}, [](double v) {
           return std::min(std::max(v, -9.0), 11.0);
         }}};
    const auto& [op, extra, f] = kOps[static_cast<size_t>(pick(5))];
    std::vector<Arg> args = {x.v};
    args.insert(args.end(), extra.begin(), extra.end());
    const V out = b_.f32(op, args, x.dims);
    program_.push_back([in = x.v.id, out = out.id, f = f](Env& env) {
      Values y = env[in];
      for (double& v : y.data) v = f(v);
      env[out] = y;
    });
    return add(out, x.dims, x.batched);
  }

  void binary(const Item& x, const Item& y, V out) {
    static const std::vector<std::tuple<const char*, std::vector<Arg>, double (*)(double, double)>>
        kOps = {{"aten.add.Tensor", {1}, [](double a, double b) { return a + b; }},
                {"aten.sub.Tensor", {1}, [](double a, double b) { return a - b; }},
                {"aten.maximum.default", {}, [](double a, double b) { return std::max(a, b); }},
                {"aten.minimum.default", {}, [](double a, double b) { return std::min(a, b); }}};
    const auto& [op, extra, f] = kOps[static_cast<size_t>(pick(4))];
    const bool swap = pick(2) == 0;
    std::vector<Arg> args = {swap ? y.v : x.v, swap ? x.v : y.v};
    args.insert(args.end(), extra.begin(), extra.end());
    b_.call(op, args, {out});
    program_.push_back([x = x.v.id, y = y.v.id, out = out.id, f = f, swap](Env& env) {
      const Values a = env[x], b = env[y];
      Values z{a.dims, {}};
      for (int64_t i = 0; i < a.dims.numel(); ++i) {
        const double p = a.data[static_cast<size_t>(i)], q = broadcast_at(b, a.dims, i);
        z.data.push_back(swap ? f(q, p) : f(p, q));
      }
      env[out] = z;
    });
  }

  // A node that moves elements: `at` gives the source's flat element for an output coordinate.
  void move(const Item& x, const char* op, std::vector<Arg> args, const Shape& out_dims,
            const std::function<Values(const Values&)>& f) {
    args.insert(args.begin(), Arg(x.v));
    const V out = b_.f32(op, args, out_dims);
    program_.push_back([in = x.v.id, out = out.id, f](Env& env) { env[out] = f(env[in]); });
    add(out, out_dims, x.batched);
  }

  void reshape(const Item& x) {
    const int64_t inner = x.dims.numel(1, x.dims.rank());
    std::vector<int64_t> divisors;
    for (int64_t k = 1; k <= inner; ++k) {
      if (inner % k == 0) divisors.push_back(k);
    }
    const int64_t k = divisors[static_cast<size_t>(pick(static_cast<int>(divisors.size())))];
    if (!x.batched || pick(3) == 0) {
      Shape dims = x.dims;
      if (dims.rank() > 5) return;
      Shape out = {dims[0], 1};
      for (int d = 1; d < dims.rank(); ++d) out.push_back(dims[d]);
      return move(x, "aten.unsqueeze_copy.default", {1}, out, [](Values v) {
        Shape dims = {v.dims[0], 1};
        for (int d = 1; d < v.dims.rank(); ++d) dims.push_back(v.dims[d]);
        v.dims = dims;
        return v;
      });
    }
    move(x, "aten.view_copy.default", {Ints{-1, inner / k, k}}, {kBatch, inner / k, k},
         [inner, k](Values v) {
           v.dims = {v.dims[0], inner / k, k};
           return v;
         });
  }

  static Values permuted(const Values& v, const std::vector<int>& order) {
    Values out;
    for (int d : order) out.dims.push_back(v.dims[d]);
    const Shape strides = contiguous_strides(v.dims);
    for (int64_t i = 0; i < v.dims.numel(); ++i) {
      int64_t rest = i, at = 0;
      for (int d = out.dims.rank() - 1; d >= 0; --d) {
        at += rest % out.dims[d] * strides[order[static_cast<size_t>(d)]];
        rest /= out.dims[d];
      }
      out.data.push_back(v.data[static_cast<size_t>(at)]);
    }
    return out;
  }

  void add_node() {
    const Item x = items_[static_cast<size_t>(pick(static_cast<int>(items_.size())))];
    // Often go on from the last value, so that chains form.
    const Item y = pick(3) > 0 ? items_.back() : x;
    switch (pick(10)) {
      case 0:
      case 1:
        unary(y);
        return;
      case 2:
      case 3:
      case 4: {
        const Item z = operand_for(y);
        const V out = b_.tensor(DType::kFloat32, y.dims);
        binary(y, z, out);
        add(out, y.dims, y.batched);
        return;
      }
      case 5:
      case 6:
        if (y.dims.rank() >= 2) reshape(y);
        return;
      case 7: {
        if (y.dims.rank() < 3) return;
        std::vector<int> order(static_cast<size_t>(y.dims.rank()));
        for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
        std::shuffle(order.begin() + (y.batched ? 1 : 0), order.end(), random_);
        Shape dims;
        for (int d : order) dims.push_back(y.dims[d]);
        move(y, "aten.permute_copy.default", {Ints(order.begin(), order.end())}, dims,
             [order](const Values& v) { return permuted(v, order); });
        return;
      }
      case 8: {
        if (y.dims.rank() < 2 || y.dims.last(0) > 16) return;
        Shape dims = y.dims;
        dims[dims.rank() - 1] = dims.last(0) * 2;
        const V out = b_.f32("aten.cat.default", {std::vector<V>{y.v, y.v}, -1}, dims);
        program_.push_back([in = y.v.id, out = out.id](Env& env) {
          const Values v = env[in];
          const int64_t n = v.dims.last(0);
          Values z{v.dims, {}};
          z.dims[z.dims.rank() - 1] = 2 * n;
          for (int64_t i = 0; i < z.dims.numel(); ++i) {
            z.data.push_back(v.data[static_cast<size_t>(i / (2 * n) * n + i % n)]);
          }
          env[out] = z;
        });
        add(out, dims, y.batched);
        return;
      }
      default: {
        if (state_.id == kNoValue) {
          unary(y);
          return;
        }
        // state = state + something that broadcasts to it
        const Item change = new_input({pick(2) == 0 ? 3 : 1, 4}, false);
        const Item source = pick(2) == 0 ? unary(change) : change;
        binary({state_, {3, 4}, false}, source, state_);
      }
    }
  }

  std::mt19937 random_;
  GraphBuilder b_;
  std::vector<Item> items_;
  std::map<ValueId, bool> batched_;
  std::vector<std::function<void(Env&)>> program_;
  Env constants_;
  V state_;
};

TEST(Fusion, RandomProgramsMatchTheInterpreter) {
  const unsigned base = static_cast<unsigned>(GTEST_FLAG_GET(random_seed)) * 1000;
  for (unsigned seed = base; seed < base + 16; ++seed) {
    for (const bool fuse : {true, false}) {
      if (!fuse && seed % 4 != 0) continue;  // most faults are fusion's
      RandomProgram program(seed);
      Options options;
      options.plan.fuse = fuse;
      options.device.default_limits = seed % 2 == 0;
      Loaded loaded(program.builder(), options);
      ASSERT_TRUE(loaded) << seed;
      Env env = program.start();
      for (int64_t batch : {kBatch, int64_t{1}, int64_t{0}, int64_t{3}, kBatch}) {
        std::vector<Values> inputs;
        const std::vector<Values> expected = program.expect(batch, env, inputs);
        const std::vector<Values> actual = loaded.run(inputs);
        ASSERT_EQ(actual.size(), expected.size()) << seed;
        for (size_t i = 0; i < expected.size(); ++i) {
          expect_values(actual[i], expected[i], {},
                        fmt::format("seed {} fuse {} batch {} output {}", seed, fuse, batch, i));
        }
        if (testing::Test::HasFailure()) {
          ADD_FAILURE() << to_string(loaded.graph());
          return;
        }
      }
    }
  }
}

// Runs a program fused and not, expects the same outputs, and returns the number of dispatches.
std::pair<size_t, size_t> dispatches(const std::function<void(GraphBuilder&)>& build,
                                     const std::vector<Values>& inputs,
                                     const std::vector<Values>& expected, Tolerance tolerance = {},
                                     Options options = {}) {
  size_t counts[2] = {};
  for (const bool fuse : {true, false}) {
    GraphBuilder b;
    build(b);
    options.plan.fuse = fuse;
    Loaded loaded(std::move(b), options);
    const auto out = loaded.run(inputs);
    EXPECT_EQ(out.size(), expected.size());
    for (size_t i = 0; i < out.size() && i < expected.size(); ++i) {
      expect_values(out[i], expected[i], tolerance, fuse ? "fused" : "not fused");
    }
    if (loaded) counts[fuse ? 0 : 1] = loaded.executable().dispatch_count();
  }
  return {counts[0], counts[1]};
}

TEST(Fusion, ChainThroughAView) {
  const Values x = arange({3, 8}, -12), bias = arange({2, 4}, 1);
  Values expected = {{3, 2, 4}, {}};
  for (int64_t i = 0; i < 24; ++i)
    expected.data.push_back(
        std::max(-x.data[static_cast<size_t>(i)] + bias.data[static_cast<size_t>(i % 8)], 0.0));
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        const V x = b.input(DType::kFloat32, {3, 8}), bias = b.input(DType::kFloat32, {2, 4});
        const V n = b.f32("aten.neg.default", {x}, {3, 8});
        const V v = b.f32("aten.view_copy.default", {n, Ints{3, 2, 4}}, {3, 2, 4});
        const V s = b.f32("aten.add.Tensor", {v, bias, 1}, {3, 2, 4});
        b.output(b.f32("aten.relu.default", {s}, {3, 2, 4}));
      },
      {x, bias}, {expected});
  EXPECT_EQ(counts, std::pair(size_t{1}, size_t{3}));
}

TEST(Fusion, ResidualOfTwoProducers) {
  const Values x = arange({2, 6}, -5);
  Values expected = x;
  for (double& v : expected.data) v = std::abs(v) + -v;
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        const V x = b.input(DType::kFloat32, {2, 6});
        const V p = b.f32("aten.abs.default", {x}, {2, 6}),
                q = b.f32("aten.neg.default", {x}, {2, 6});
        b.output(b.f32("aten.add.Tensor", {p, q, 1}, {2, 6}));
      },
      {x}, {expected});
  EXPECT_EQ(counts, std::pair(size_t{2}, size_t{3}));
}

// One operand under several shapes takes one binding, and the limit is kept.
TEST(Fusion, KeepsWithinTheBindings) {
  std::vector<Values> inputs = {arange({2, 8}, 1)};
  Values expected = inputs[0];
  for (int k = 0; k < 12; ++k) {
    inputs.push_back(arange({8}, k));
    for (size_t i = 0; i < 16; ++i) expected.data[i] += inputs.back().data[i % 8];
  }
  Options options;
  options.device.default_limits = true;
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        V y = b.input(DType::kFloat32, {2, 8});
        for (int k = 0; k < 12; ++k)
          y = b.f32("aten.add.Tensor", {y, b.input(DType::kFloat32, {8}), 1}, {2, 8});
        b.output(y);
      },
      inputs, {expected}, {}, options);
  EXPECT_EQ(counts, std::pair(size_t{2}, size_t{12}));
}

// Whatever a product binds itself leaves room for its followers, or they stay outside.
TEST(Fusion, ProductsKeepWithinTheBindings) {
  const Values a = arange({3, 4}, -5), w = arange({4, 5}, -9), bias = arange({5});
  std::vector<Values> inputs = {a, w, bias};
  Values expected = {{3, 5}, {}};
  for (size_t i = 0; i < 15; ++i) {
    double sum = bias.data[i % 5];
    for (size_t k = 0; k < 4; ++k) sum += a.data[i / 5 * 4 + k] * w.data[k * 5 + i % 5];
    expected.data.push_back(sum);
  }
  for (int k = 0; k < 9; ++k) {
    inputs.push_back(arange({3, 5}, k));
    for (size_t i = 0; i < 15; ++i) expected.data[i] += inputs.back().data[i];
  }
  Options options;
  options.device.default_limits = true;
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        const V a = b.input(DType::kFloat32, {3, 4}), w = b.input(DType::kFloat32, {4, 5}),
                bias = b.input(DType::kFloat32, {5});
        V y = b.f32("aten.addmm.default", {bias, a, w, 1, 1}, {3, 5});
        for (int k = 0; k < 9; ++k)
          y = b.f32("aten.add.Tensor", {y, b.input(DType::kFloat32, {3, 5}), 1}, {3, 5});
        b.output(y);
      },
      inputs, {expected}, {}, options);
  EXPECT_LT(counts.first, counts.second);
}

TEST(Fusion, OneOperandUnderManyShapes) {
  const Values x = arange({4}, 1), y = arange({4, 4, 4}, 0);
  Values expected = y;
  for (int64_t i = 0; i < 64; ++i) {
    // y + x, then + x along dimension 1, then + x along dimension 0
    expected.data[static_cast<size_t>(i)] += x.data[static_cast<size_t>(i % 4)] +
                                             x.data[static_cast<size_t>(i / 4 % 4)] +
                                             x.data[static_cast<size_t>(i / 16)];
  }
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        const V x = b.input(DType::kFloat32, {4}), y = b.input(DType::kFloat32, {4, 4, 4});
        const V x1 = b.f32("aten.view_copy.default", {x, Ints{4, 1}}, {4, 1});
        const V x2 = b.f32("aten.view_copy.default", {x, Ints{4, 1, 1}}, {4, 1, 1});
        V z = b.f32("aten.add.Tensor", {y, x, 1}, {4, 4, 4});
        z = b.f32("aten.add.Tensor", {z, x1, 1}, {4, 4, 4});
        b.output(b.f32("aten.add.Tensor", {z, x2, 1}, {4, 4, 4}));
      },
      {x, y}, {expected});
  EXPECT_EQ(counts, std::pair(size_t{1}, size_t{3}));
}

// The same operand broadcasts differently before and after a view.
TEST(Fusion, OneOperandBeforeAndAfterAView) {
  const Values x = arange({2, 1}, 10, 10), y = arange({2, 2, 2});
  Values expected = {{2, 4}, y.data};
  for (size_t i = 0; i < 8; ++i) expected.data[i] += x.data[i / 2 % 2] - x.data[i / 4];
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        const V x = b.input(DType::kFloat32, {2, 1}), y = b.input(DType::kFloat32, {2, 2, 2});
        V z = b.f32("aten.add.Tensor", {y, x, 1}, {2, 2, 2});
        z = b.f32("aten.view_copy.default", {z, Ints{2, 4}}, {2, 4});
        b.output(b.f32("aten.sub.Tensor", {z, x, 1}, {2, 4}));
      },
      {x, y}, {expected});
  EXPECT_EQ(counts, std::pair(size_t{1}, size_t{2}));
}

// A cast to float16 inside a chain rounds as a stored one does.
TEST(Fusion, CastsRoundInsideChains) {
  const Values x = {
      {8}, rounded(DType::kFloat32, {0.1, 1.0005, 65519, 65520, -1e9, 3e-5, 1e-9, std::nan("")})};
  const Values expected = {{8}, rounded(DType::kFloat16, x.data)};
  const auto counts = dispatches(
      [](GraphBuilder& b) {
        std::vector<Arg> args(7, std::nullopt);
        args[0] = b.input(DType::kFloat32, {8});
        args[0] = b.op("aten._to_copy.default", args, DType::kFloat16, {8});
        b.output(b.f32("aten._to_copy.default", args, {8}));
      },
      {x}, {expected});
  EXPECT_EQ(counts, std::pair(size_t{1}, size_t{2}));
}

TEST(Fusion, BytesWrapInsideChains) {
  const Values x = {{5}, {200, 3, 255, 0, 100}};
  Values expected = x;
  for (double& v : expected.data) v = static_cast<double>(static_cast<uint8_t>(v + v)) / 2;
  dispatches(
      [](GraphBuilder& b) {
        const V x = b.input(DType::kUInt8, {5});
        const V y = b.op("aten.add.Tensor", {x, x, 1}, DType::kUInt8, {5});
        b.output(b.f32("aten.div.Scalar", {y, 2}, {5}));
      },
      {x}, {expected});
}

// The second output of a fused producer is read before the chain ends.
TEST(Fusion, OtherOutputsAreThereInTime) {
  const Values x = {{1, 2, 2}, {1, 5, -2, 3}};
  dispatches(
      [](GraphBuilder& b) {
        const V x = b.input(DType::kFloat32, {1, 2, 2});
        const V y = b.tensor(DType::kFloat32, {1, 1, 1}),
                where = b.tensor(DType::kInt32, {1, 1, 1});
        b.call("aten.max_pool2d_with_indices.default",
               {x, Ints{2, 2}, Ints{2, 2}, Ints{0, 0}, Ints{1, 1}, false}, {y, where});
        const V next = b.op("aten.add.Scalar", {where, 1, 1}, DType::kInt32, {1, 1, 1});
        const V sum = b.f32("aten.mul.Tensor", {y, next}, {1, 1, 1});
        b.output(sum);
        b.output(where);
      },
      {x}, {{{1, 1, 1}, {10}}, {{1, 1, 1}, {1}}});
}

// Each of several outputs is followed by something else.
TEST(Fusion, FollowersOfASplit) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {4, 6});
  const V first = b.tensor(DType::kFloat32, {2, 6}), second = b.tensor(DType::kFloat32, {2, 6});
  b.call("aten.split_with_sizes_copy.default", {x, Ints{2, 2}, 0}, {first, second});
  b.output(b.f32("aten.relu.default", {first}, {2, 6}));
  b.output(b.f32("aten.neg.default", {second}, {2, 6}));
  Loaded loaded(std::move(b));
  const auto out = loaded.run({arange({4, 6}, -7)});
  ASSERT_EQ(out.size(), 2u);
  Values relu = arange({2, 6}, -7);
  for (double& v : relu.data) v = std::max(v, 0.0);
  expect_values(out[0], relu);
  expect_values(out[1], arange({2, 6}, -5, -1));
}

// A follower whose operand broadcasts by channel restricts a kernel to some sizes.
TEST(Fusion, ScaledPool) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {1, 3, 8, 16}), scale = b.input(DType::kFloat32, {3, 1, 1});
  const Ints two = {2, 2}, none = {0, 0}, one = {1, 1};
  const V pooled = b.f32("aten.max_pool2d.default", {x, two, two, none, one, false}, {1, 3, 4, 8});
  b.output(b.f32("aten.mul.Tensor", {pooled, scale}, {1, 3, 4, 8}));
  Loaded loaded(std::move(b));
  for (int64_t width : {16, 10}) {
    const Values input = arange({1, 3, 8, width});
    Values expected{{1, 3, 4, width / 2}, {}};
    for (int64_t i = 0; i < expected.dims.numel(); ++i) {
      const int64_t column = i % (width / 2), row = i / (width / 2) % 4, c = i / (width / 2) / 4;
      const int64_t at = (c * 8 + row * 2 + 1) * width + column * 2 + 1;  // it grows to the end
      expected.data.push_back(static_cast<double>(at) * static_cast<double>(c + 1));
    }
    expect_values(loaded.run1({input, arange({3, 1, 1}, 1)}), expected);
  }
}

// The product has rows of whole groups of four; what it is viewed as and scaled by has not.
TEST(Fusion, ProductScaledInAnotherShape) {
  GraphBuilder b;
  const V x = b.input(DType::kFloat32, {8, 2}), scale = b.input(DType::kFloat32, {8});
  std::vector<float> weight;
  for (int i = 0; i < 16; ++i) weight.push_back(static_cast<float>(i));
  const V w = b.constant(DType::kFloat32, {2, 8}, weight);
  const V product = b.f32("aten.mm.default", {x, w}, {8, 8});
  const V viewed = b.f32("aten.view_copy.default", {product, Ints{8, -1}}, {8, 8});
  b.output(b.f32("aten.mul.Tensor", {viewed, scale}, {8, 8}));
  for (const Options& options : device_variants()) {
    Loaded loaded(b, options);
    for (int64_t rows : {8, 3, 5}) {
      const Values input = arange({rows, 2});
      Values expected{{8, rows}, {}};
      for (int64_t i = 0; i < rows * 8; ++i) {
        const int64_t row = i / 8, column = i % 8;
        const double sum = static_cast<double>(2 * row * column + (2 * row + 1) * (column + 8));
        expected.data.push_back(sum * static_cast<double>(i % rows + 1));
      }
      expect_values(loaded.run1({input, arange({rows}, 1)}), expected, {},
                    to_string(expected.dims));
    }
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::test
