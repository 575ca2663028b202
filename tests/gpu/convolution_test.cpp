// Convolutions of all kinds against sums in double on the CPU.
#include <gtest/gtest.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "engine/executable.h"
#include "gpu_test_util.h"

namespace executorch::backends::webgpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A convolution to run. `x` holds the largest sizes, [N, C, H, W] or [N, C, W].
struct Case {
  Shape x, weight;
  std::vector<int64_t> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1},
                       output_padding = {0, 0};
  bool transposed = false;
  int64_t groups = 1;
  bool bias = true;
  bool constant = true;  // weight and bias come from the file
  DType dtype = DType::kFloat32;
  std::optional<std::array<Value, 2>> clamp = {};
  bool relu = false;      // a follower
  bool residual = false;  // a follower that adds another input
  DeviceOptions device = {};
};

class Runner {
 public:
  explicit Runner(Case c) : case_(std::move(c)) {
    Graph graph;
    const ValueId x = tensor(graph, case_.x, false);
    const ValueId weight = tensor(graph, case_.weight, case_.constant);
    const int64_t outputs = case_.transposed ? case_.weight[1] * case_.groups : case_.weight[0];
    const ValueId bias = case_.bias ? tensor(graph, {outputs}, case_.constant) : graph.add(Null{});
    const ValueId out = tensor(graph, output_dims(case_.x), false);
    Node node;
    node.op = case_.clamp ? "et_vk.conv_with_clamp.default" : "aten.convolution.default";
    node.args = {x,
                 weight,
                 bias,
                 graph.add(case_.stride),
                 graph.add(case_.padding),
                 graph.add(case_.dilation),
                 graph.add(case_.transposed),
                 graph.add(case_.output_padding),
                 graph.add(case_.groups)};
    if (case_.clamp) {
      for (const Value& bound : *case_.clamp) node.args.push_back(graph.add(bound));
    }
    node.outputs = {out};
    graph.nodes.push_back(node);
    graph.inputs = {x};
    if (!case_.constant) graph.inputs.push_back(weight);
    if (!case_.constant && case_.bias) graph.inputs.push_back(bias);
    graph.outputs = {out};
    if (case_.relu) append(graph, "aten.relu.default", {out});
    if (case_.residual) {
      const ValueId other = tensor(graph, output_dims(case_.x), false);
      graph.inputs.push_back(other);
      append(graph, "aten.add.Tensor", {graph.outputs[0], other, graph.add(int64_t{1})});
    }
    weight_ = random(case_.weight.numel());
    if (case_.bias) bias_ = random(outputs);
    executable_ = load_graph(
        std::move(graph),
        [this](const Constant& constant, const std::function<Status(Bytes)>& use) {
          const std::vector<std::byte> bytes = stored(constant.key == "1" ? weight_ : bias_);
          return use(Bytes(bytes));
        },
        case_.device);
  }

  std::vector<float> random(int64_t count) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> data(static_cast<size_t>(count));
    for (float& x : data) x = rounded(uniform(random_));
    return data;
  }

  void run(const Shape& dims) { run(dims, random(dims.numel())); }

  void run(const Shape& dims, const std::vector<float>& x) {
    ASSERT_NE(executable_, nullptr);
    const Shape out_dims = output_dims(dims);
    const std::vector<float> other = random(out_dims.numel());
    const auto x_bytes = stored(x), w_bytes = stored(weight_), b_bytes = stored(bias_),
               other_bytes = stored(other);
    std::vector<HostInput> inputs = {HostTensorView{x_bytes.data(), case_.dtype, dims}};
    if (!case_.constant) {
      inputs.push_back(HostTensorView{w_bytes.data(), case_.dtype, case_.weight});
      if (case_.bias) {
        const Shape bias_dims{static_cast<int64_t>(bias_.size())};
        inputs.push_back(HostTensorView{b_bytes.data(), case_.dtype, bias_dims});
      }
    }
    if (case_.residual) {
      inputs.push_back(HostTensorView{other_bytes.data(), case_.dtype, out_dims});
    }
    std::vector<float> out(static_cast<size_t>(out_dims.numel()) + 1, 77.f);
    const Executable::HostOutput outputs[] = {{out.data(), DType::kFloat32}};
    const Status status = executable_->run(inputs, outputs);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(executable_->output_dims(0), out_dims);
    std::vector<double> expected = reference(dims, x);
    for (size_t i = 0; i < expected.size(); ++i) {
      double want = expected[i];
      if (case_.relu && want < 0) want = 0;
      if (case_.residual) want += double{other[i]};
      const auto got = double{out[i]};
      if (std::isnan(want) || std::isinf(want)) {
        ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : want == got)
            << "element " << i << " is " << got << ", expected " << want;
        continue;
      }
      const double tolerance = case_.dtype == DType::kFloat16 ? 3e-3 : 3e-5;
      ASSERT_NEAR(got, want, tolerance * (1 + std::abs(want)))
          << to_string(dims) << " element " << i;
    }
    ASSERT_EQ(out.back(), 77.f);
  }
  void run() { run(case_.x); }

  std::string error(const Shape& dims) {
    const std::vector<float> x(static_cast<size_t>(dims.numel()));
    const HostInput inputs[] = {HostTensorView{x.data(), case_.dtype, dims}};
    const Status status = executable_ ? executable_->run(inputs, {}) : Status{};
    return status ? "" : status.error().message;
  }

 private:
  ValueId tensor(Graph& graph, const Shape& dims, bool constant) {
    Tensor tensor;
    tensor.dtype = tensor.staging = case_.dtype;
    tensor.max_dims = dims;
    if (constant) {
      tensor.constant = static_cast<int32_t>(graph.constants.size());
      const auto bytes = static_cast<uint64_t>(dims.numel()) * size_of(case_.dtype);
      graph.constants.push_back({std::to_string(graph.values.size()), 0, bytes});
    }
    return graph.add(tensor);
  }

  void append(Graph& graph, const char* op, std::vector<ValueId> args) {
    Node node;
    node.op = op;
    node.args = std::move(args);
    node.outputs = {tensor(graph, output_dims(case_.x), false)};
    graph.outputs = node.outputs;
    graph.nodes.push_back(node);
  }

  float rounded(float x) const {
    if (case_.dtype != DType::kFloat16) return x;
    uint16_t bits = 0;
    EXPECT_TRUE(convert_elements(&x, DType::kFloat32, &bits, DType::kFloat16, 1));
    EXPECT_TRUE(convert_elements(&bits, DType::kFloat16, &x, DType::kFloat32, 1));
    return x;
  }

  std::vector<std::byte> stored(const std::vector<float>& data) const {
    std::vector<std::byte> bytes(data.size() * size_of(case_.dtype));
    EXPECT_TRUE(convert_elements(data.data(), DType::kFloat32, bytes.data(), case_.dtype,
                                 static_cast<int64_t>(data.size())));
    return bytes;
  }

  int spatial() const { return case_.weight.rank() - 2; }

  // The formulas of torch.nn.Conv2d and ConvTranspose2d.
  Shape output_dims(const Shape& x) const {
    Shape out = x;
    const int first = x.rank() - spatial();
    out[first - 1] = case_.transposed ? case_.weight[1] * case_.groups : case_.weight[0];
    for (int i = 0; i < spatial(); ++i) {
      const auto at = static_cast<size_t>(i);
      const int64_t reach = case_.dilation[at] * (case_.weight[2 + i] - 1);
      const int64_t pad = 2 * case_.padding[at];
      out[first + i] = case_.transposed ? (x[first + i] - 1) * case_.stride[at] - pad + reach +
                                              case_.output_padding[at] + 1
                                        : (x[first + i] + pad - reach - 1) / case_.stride[at] + 1;
    }
    return out;
  }

  // Walks over all pairs of an input and an output position that a tap connects. For a transposed
  // convolution their roles are swapped.
  std::vector<double> reference(const Shape& dims, const std::vector<float>& x) const {
    const bool two = spatial() == 2;
    const size_t last = two ? 1 : 0;
    const Shape out_dims = output_dims(dims);
    const auto height = [&](const Shape& shape) { return two ? shape.last(1) : 1; };
    const int64_t batch = dims.last(spatial() + 1);
    const int64_t in_c = dims.last(spatial()), out_c = out_dims.last(spatial());
    const int64_t in_h = height(dims), in_w = dims.last(0);
    const int64_t out_h = height(out_dims), out_w = out_dims.last(0);
    const int64_t kernel_h = two ? case_.weight[2] : 1, kernel_w = case_.weight.last(0);
    const int64_t group_in = in_c / case_.groups, group_out = out_c / case_.groups;
    const int64_t stride_h = two ? case_.stride[0] : 1, pad_h = two ? case_.padding[0] : 0,
                  dilation_h = two ? case_.dilation[0] : 1;
    const int64_t stride_w = case_.stride[last], pad_w = case_.padding[last],
                  dilation_w = case_.dilation[last];
    std::vector<double> out(static_cast<size_t>(out_dims.numel()));
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t o = 0; o < out_c; ++o) {
        const size_t plane = static_cast<size_t>((n * out_c + o) * out_h * out_w);
        for (int64_t i = 0; i < out_h * out_w; ++i) {
          out[plane + static_cast<size_t>(i)] =
              case_.bias ? double{bias_[static_cast<size_t>(o)]} : 0;
        }
        for (int64_t c = 0; c < group_in; ++c) {
          const int64_t channel = o / group_out * group_in + c;
          const int64_t from = (n * in_c + channel) * in_h * in_w;
          const int64_t weight_row =
              case_.transposed ? channel * group_out + o % group_out : o * group_in + c;
          for (int64_t ky = 0; ky < kernel_h; ++ky) {
            for (int64_t kx = 0; kx < kernel_w; ++kx) {
              const auto w = double{
                  weight_[static_cast<size_t>((weight_row * kernel_h + ky) * kernel_w + kx)]};
              const int64_t small_h = case_.transposed ? in_h : out_h,
                            small_w = case_.transposed ? in_w : out_w,
                            large_h = case_.transposed ? out_h : in_h,
                            large_w = case_.transposed ? out_w : in_w;
              for (int64_t y = 0; y < small_h; ++y) {
                for (int64_t z = 0; z < small_w; ++z) {
                  const int64_t v = y * stride_h - pad_h + ky * dilation_h;
                  const int64_t u = z * stride_w - pad_w + kx * dilation_w;
                  if (v < 0 || v >= large_h || u < 0 || u >= large_w) continue;
                  const int64_t x_at = case_.transposed ? y * in_w + z : v * in_w + u;
                  const int64_t out_at = case_.transposed ? v * out_w + u : y * out_w + z;
                  out[plane + static_cast<size_t>(out_at)] +=
                      w * double{x[static_cast<size_t>(from + x_at)]};
                }
              }
            }
          }
        }
      }
    }
    if (case_.clamp) {
      for (double& value : out) value = clamped(value);
    }
    return out;
  }

  double clamped(double value) const {
    if (std::isnan(value)) return value;
    const auto number = [](const Value& bound, double none) {
      if (const auto* integer = std::get_if<int64_t>(&bound)) return static_cast<double>(*integer);
      if (const auto* real = std::get_if<double>(&bound)) return *real;
      return none;
    };
    return std::min(std::max(value, number((*case_.clamp)[0], -kInfinity)),
                    number((*case_.clamp)[1], kInfinity));
  }

  Case case_;
  std::mt19937 random_{11};
  std::vector<float> weight_, bias_;
  std::unique_ptr<Executable> executable_;
};

const std::vector<int64_t> kTwo = {2, 2}, kOne = {1, 1};

// One of each way that the kernels go.
std::vector<Case> all_kinds() {
  return {
      {.x = {1, 3, 9, 11}, .weight = {8, 3, 3, 3}, .padding = kOne},
      {.x = {1, 3, 8, 12}, .weight = {8, 3, 3, 3}, .padding = kOne},
      {.x = {2, 5, 7, 6}, .weight = {3, 5, 3, 3}},
      {.x = {1, 4, 15, 17}, .weight = {16, 4, 3, 3}, .stride = kTwo, .padding = kOne},
      {.x = {1, 3, 12, 13},
       .weight = {4, 3, 3, 5},
       .stride = {1, 2},
       .padding = {0, 3},
       .dilation = {2, 1}},
      {.x = {1, 3, 23, 22}, .weight = {6, 3, 7, 7}, .stride = kTwo, .padding = {3, 3}},
      {.x = {1, 40, 14, 14}, .weight = {72, 40, 3, 3}, .padding = kOne},
      {.x = {1, 65, 7, 7}, .weight = {70, 65, 3, 3}, .padding = kOne, .bias = false},
      {.x = {1, 3, 6, 5}, .weight = {10, 3, 6, 5}},
      {.x = {1, 1, 8, 8}, .weight = {1, 1, 3, 3}, .padding = kOne},
      // 1 x 1
      {.x = {1, 6, 7, 9}, .weight = {10, 6, 1, 1}},
      {.x = {1, 33, 5, 5}, .weight = {17, 33, 1, 1}},
      {.x = {2, 96, 14, 14}, .weight = {160, 96, 1, 1}},
      {.x = {1, 64, 1, 1}, .weight = {100, 64, 1, 1}},
      {.x = {1, 8, 64, 48}, .weight = {24, 8, 1, 1}, .bias = false},
      {.x = {1, 8, 9, 9}, .weight = {8, 8, 1, 1}, .stride = kTwo},
      {.x = {1, 4, 5, 5}, .weight = {4, 4, 1, 1}, .padding = kOne},
      // Depthwise, grouped
      {.x = {2, 8, 9, 10}, .weight = {8, 1, 3, 3}, .padding = kOne, .groups = 8},
      {.x = {1, 8, 9, 16}, .weight = {8, 1, 3, 3}, .padding = kOne, .groups = 8},
      {.x = {1, 10, 15, 14},
       .weight = {10, 1, 3, 3},
       .stride = kTwo,
       .padding = kOne,
       .groups = 10},
      {.x = {1, 6, 13, 12},
       .weight = {6, 1, 5, 3},
       .padding = {2, 2},
       .dilation = {1, 2},
       .groups = 6},
      {.x = {2, 5, 7, 8}, .weight = {10, 1, 3, 3}, .padding = kOne, .groups = 5},
      {.x = {2, 8, 7, 8}, .weight = {6, 4, 3, 3}, .padding = kOne, .groups = 2},
      {.x = {1, 16, 7, 8}, .weight = {24, 4, 3, 3}, .stride = kTwo, .padding = kOne, .groups = 4},
      {.x = {2, 12, 5, 7}, .weight = {9, 4, 1, 1}, .groups = 3},
      // 1-D
      {.x = {3, 4, 17},
       .weight = {6, 4, 3},
       .stride = {1},
       .padding = {1},
       .dilation = {1},
       .output_padding = {0}},
      {.x = {1, 3, 40},
       .weight = {5, 3, 5},
       .stride = {2},
       .padding = {2},
       .dilation = {1},
       .output_padding = {0}},
      {.x = {2, 8, 21},
       .weight = {8, 1, 5},
       .stride = {1},
       .padding = {4},
       .dilation = {2},
       .output_padding = {0},
       .groups = 8},
      {.x = {2, 9, 25},
       .weight = {12, 9, 1},
       .stride = {1},
       .padding = {0},
       .dilation = {1},
       .output_padding = {0}},
      // Without a batch
      {.x = {3, 7, 8}, .weight = {4, 3, 3, 3}, .padding = kOne},
      // Transposed
      {.x = {1, 4, 5, 7}, .weight = {4, 6, 2, 2}, .stride = kTwo, .transposed = true},
      {.x = {2, 3, 6, 7}, .weight = {3, 5, 3, 3}, .padding = kOne, .transposed = true},
      {.x = {1, 3, 6, 7},
       .weight = {3, 5, 3, 3},
       .stride = kTwo,
       .padding = kOne,
       .output_padding = kOne,
       .transposed = true},
      {.x = {1, 6, 5, 6},
       .weight = {6, 4, 4, 4},
       .stride = kTwo,
       .padding = kOne,
       .transposed = true,
       .bias = false},
      {.x = {1, 3, 6, 5},
       .weight = {3, 4, 3, 3},
       .padding = kTwo,
       .dilation = kTwo,
       .transposed = true},
      {.x = {1, 3, 6, 5},
       .weight = {3, 4, 3, 3},
       .stride = {3, 2},
       .dilation = {2, 3},
       .output_padding = {2, 2},
       .transposed = true},
      {.x = {2, 6, 5, 6}, .weight = {6, 2, 3, 3}, .stride = kTwo, .transposed = true, .groups = 2},
      {.x = {1, 4, 5, 6}, .weight = {4, 1, 3, 3}, .stride = kTwo, .transposed = true, .groups = 4},
      {.x = {1, 3, 5, 6},
       .weight = {3, 4, 3, 2},
       .stride = {3, 1},
       .padding = {1, 0},
       .output_padding = {2, 0},
       .transposed = true},
      {.x = {1, 3, 5, 6},
       .weight = {3, 4, 1, 2},
       .stride = {3, 4},
       .output_padding = {2, 1},
       .transposed = true},
      {.x = {1, 40, 8, 8},
       .weight = {40, 20, 4, 4},
       .stride = kTwo,
       .padding = kOne,
       .transposed = true},
      {.x = {2, 3, 10},
       .weight = {3, 4, 4},
       .stride = {2},
       .padding = {1},
       .dilation = {1},
       .output_padding = {0},
       .transposed = true},
  };
}

void run_all(const std::function<void(Case&)>& change) {
  for (Case c : all_kinds()) {
    change(c);
    SCOPED_TRACE(to_string(c.x) + " by " + to_string(c.weight));
    Runner(c).run();
  }
}

TEST(Convolution, AllKinds) {
  run_all([](Case&) {});
}

TEST(Convolution, Float16) {
  run_all([](Case& c) { c.dtype = DType::kFloat16; });
}

// 16-bit elements can then be stored four at a time only.
TEST(Convolution, Float16InWords) {
  run_all([](Case& c) {
    c.dtype = DType::kFloat16;
    c.device = {.default_limits = true, .f16 = false, .subgroups = false};
  });
}

// GPUs divide the input channels between slices of a workgroup; a processor does not.
TEST(Convolution, SlicesOfChannels) {
  for (Case c : {Case{.x = {1, 64, 7, 7}, .weight = {20, 64, 1, 1}},
                 Case{.x = {1, 64, 4, 8}, .weight = {20, 64, 1, 1}},
                 Case{.x = {2, 40, 6, 5}, .weight = {12, 40, 3, 3}, .padding = {1, 1}}}) {
    c.device = {.as_gpu = true};
    c.relu = c.residual = true;
    Runner(c).run();
    if (HasFatalFailure()) FAIL() << to_string(c.x) << " by " << to_string(c.weight);
  }
}

TEST(Convolution, WeightFromInput) {
  run_all([](Case& c) { c.constant = false; });
}

TEST(Convolution, Followers) {
  run_all([](Case& c) { c.relu = c.residual = true; });
}

TEST(Convolution, SmallerSizes) {
  run_all([](Case& c) {
    Runner runner(c);
    const int rank = c.x.rank();
    for (int64_t less : {1, 2, 0}) {
      Shape x = c.x;
      x[rank - 1] -= less;
      if (c.weight.rank() == 4) x[rank - 2] -= less / 2;
      const int64_t reach = (c.weight.last(0) - 1) * c.dilation.back() + 1 - 2 * c.padding.back();
      if (c.transposed ? x.last(0) < 1 : x.last(0) < std::max<int64_t>(reach, 1)) continue;
      if (c.weight.rank() == 4 && !c.transposed &&
          x.last(1) + 2 * c.padding[0] < (c.weight[2] - 1) * c.dilation[0] + 1) {
        continue;
      }
      if (x[rank - 2] < 1) continue;
      runner.run(x);
    }
  });
}

TEST(Convolution, EmptyBatch) {
  for (size_t kind : {0, 12, 19, 25, 30}) {
    const Case c = all_kinds()[kind];
    SCOPED_TRACE(to_string(c.x));
    Runner runner(c);
    Shape none = c.x;
    none[0] = 0;
    runner.run(none);
    runner.run();
  }
}

TEST(Convolution, Clamp) {
  const Value bounds[][2] = {{0.0, 6.0},        {int64_t{0}, int64_t{1}}, {-0.5, 0.25},
                             {Null{}, 0.25},    {-0.5, Null{}},           {0.0, kInfinity},
                             {-kInfinity, 0.5}, {-DBL_MAX, 0.5},          {int64_t{0}, DBL_MAX},
                             {1.0, -1.0},       {Null{}, Null{}}};
  for (const auto& [low, high] : bounds) {
    for (Case c : {all_kinds()[0], all_kinds()[10], all_kinds()[17], all_kinds()[30]}) {
      c.clamp = {low, high};
      SCOPED_TRACE(to_string(c.x));
      Runner(c).run();
    }
  }
}

TEST(Convolution, NotNumbers) {
  for (Case c : {all_kinds()[0], all_kinds()[10], all_kinds()[17], all_kinds()[30]}) {
    for (bool clamp : {false, true}) {
      if (clamp) c.clamp = {Value(0.0), Value(6.0)};
      SCOPED_TRACE(to_string(c.x));
      Runner runner(c);
      std::vector<float> x = runner.random(c.x.numel());
      x[5] = std::numeric_limits<float>::quiet_NaN();
      x[x.size() - 1] = std::numeric_limits<float>::infinity();
      runner.run(c.x, x);
    }
  }
}

TEST(Convolution, RefusesSizes) {
  Runner runner({.x = {1, 3, 9, 9}, .weight = {4, 3, 3, 3}});
  EXPECT_EQ(runner.error({1, 3, 9, 2}),
            "aten.convolution.default (node 0): input [1, 3, 9, 2] is too small for kernel "
            "[4, 3, 3, 3]");
  EXPECT_EQ(
      runner.error({1, 2, 9, 9}),
      "aten.convolution.default (node 0): input [1, 2, 9, 9] does not fit weight [4, 3, 3, 3] "
      "with 1 groups");
  EXPECT_EQ(runner.error({1, 3, 9, 9}), "");
}

}  // namespace
}  // namespace executorch::backends::webgpu
