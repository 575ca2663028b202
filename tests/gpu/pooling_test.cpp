// Pooling against a walk over each window on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/executable.h"
#include "gpu_test_util.h"

namespace executorch::backends::webgpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Pair = std::vector<int64_t>;  // height, width; or only the width

// `x` holds the largest sizes, `out` those that PyTorch makes of them.
struct Case {
  Shape x, out;
  Pair kernel, stride = {}, pad = {0, 0}, dilation = {1, 1};
  bool ceil_mode = false;
  bool average = false, adaptive = false;
  bool count_pad = true;
  int64_t divisor = 0;
  bool indices = false;
  DType dtype = DType::kFloat32;
  DeviceOptions device = {};
};

ValueId add_tensor(Graph& graph, DType dtype, const Shape& dims) {
  Tensor tensor;
  tensor.dtype = tensor.staging = dtype;
  tensor.max_dims = dims;
  return graph.add(tensor);
}

Graph graph_of(const Case& c) {
  const bool one = c.kernel.size() == 1;
  Graph graph;
  const ValueId x = add_tensor(graph, c.dtype, c.x);
  const ValueId out = add_tensor(graph, c.dtype, c.out);
  Node node;
  node.args = {x, graph.add(c.kernel)};
  node.outputs = {out};
  if (c.adaptive) {
    node.op = one ? "aten.adaptive_avg_pool1d.default" : "aten._adaptive_avg_pool2d.default";
  } else {
    node.args.push_back(graph.add(c.stride));
    node.args.push_back(graph.add(c.pad));
    if (!c.average) node.args.push_back(graph.add(c.dilation));
    node.args.push_back(graph.add(c.ceil_mode));
    if (c.average) node.args.push_back(graph.add(c.count_pad));
    node.op = one         ? "aten.avg_pool1d.default"
              : c.average ? "aten.avg_pool2d.default"
                          : "aten.max_pool2d_with_indices.default";
    if (c.average && !one) {
      node.args.push_back(graph.add(c.divisor != 0 ? Value(c.divisor) : Value(Null{})));
    }
    if (!c.average) node.outputs.push_back(add_tensor(graph, DType::kInt32, c.out));
  }
  graph.nodes.push_back(node);
  graph.inputs = {x};
  graph.outputs = {out};
  if (c.indices) graph.outputs.push_back(node.outputs[1]);
  return graph;
}

// The definition of torch.nn.MaxPool2d, AvgPool2d and AdaptiveAvgPool2d for one output element.
std::pair<double, int64_t> reference(const Case& c, const float* plane, const Shape& in,
                                     const Shape& out, int64_t oy, int64_t ox) {
  const bool one = c.kernel.size() == 1;
  const int64_t height = one ? 1 : in.last(1), width = in.last(0);
  const auto taps = [&](size_t i, int64_t size, int64_t out_size, int64_t o) {
    std::vector<int64_t> at;  // positions, in the padding too
    if (c.adaptive) {
      const int64_t end = ((o + 1) * size + out_size - 1) / out_size;
      for (int64_t v = o * size / out_size; v < end; ++v) at.push_back(v);
      return at;
    }
    const Pair& stride = c.stride.empty() ? c.kernel : c.stride;
    for (int64_t k = 0; k < c.kernel[i]; ++k) {
      const int64_t v = o * stride[i] - c.pad[i] + k * c.dilation[i];
      if (v < size + c.pad[i]) at.push_back(v);
    }
    return at;
  };
  const auto rows = one ? std::vector<int64_t>{0} : taps(0, height, out.last(1), oy);
  const auto columns = taps(one ? 0 : 1, width, out.last(0), ox);
  double sum = 0, best = -kInfinity;
  int64_t index = -1, inside = 0, all = 0;
  for (int64_t y : rows) {
    for (int64_t x : columns) {
      ++all;
      if (y < 0 || x < 0 || y >= height || x >= width) continue;
      ++inside;
      const auto value = double{plane[y * width + x]};
      sum += value;
      if (index < 0 || value > best || std::isnan(value)) {
        best = value;
        index = y * width + x;
      }
    }
  }
  if (!c.average) return {best, index};
  const int64_t count = c.divisor != 0 ? c.divisor : c.count_pad ? all : inside;
  return {sum / static_cast<double>(count), 0};
}

void run(Executable& executable, const Case& c, const Shape& in, const Shape& out_dims,
         const std::vector<float>& x) {
  std::vector<std::byte> bytes(x.size() * size_of(c.dtype));
  ASSERT_TRUE(convert_elements(x.data(), DType::kFloat32, bytes.data(), c.dtype,
                               static_cast<int64_t>(x.size())));
  const HostInput inputs[] = {HostTensorView{bytes.data(), c.dtype, in}};
  std::vector<float> out(static_cast<size_t>(out_dims.numel()));
  std::vector<int64_t> indices(out.size());
  std::vector<Executable::HostOutput> outputs = {{out.data(), DType::kFloat32}};
  if (c.indices) outputs.push_back({indices.data(), DType::kInt64});
  const Status status = executable.run(inputs, outputs);
  ASSERT_TRUE(status) << status.error().message;
  ASSERT_EQ(executable.output_dims(0), out_dims);
  const bool one = c.kernel.size() == 1;
  const int64_t height = one ? 1 : out_dims.last(1), width = out_dims.last(0);
  const int64_t in_plane = (one ? 1 : in.last(1)) * in.last(0);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto [want, index] = reference(c, x.data() + at / (height * width) * in_plane, in,
                                         out_dims, at / width % height, at % width);
    if (std::isnan(want) || std::isinf(want)) {
      ASSERT_TRUE(std::isnan(want) ? std::isnan(out[i]) : double{out[i]} == want)
          << i << ": " << out[i] << ", expected " << want;
    } else {
      const double tolerance = c.dtype == DType::kFloat16 ? 1e-3 : 1e-6;
      ASSERT_NEAR(double{out[i]}, want, tolerance * (1 + std::abs(want))) << i;
    }
    if (c.indices) {
      ASSERT_EQ(indices[i], index) << i;
    }
  }
}

std::vector<float> random(int64_t count) {
  std::mt19937 generator(5);
  std::uniform_int_distribution<int> uniform(-400, 100);  // exact in 16 bits
  std::vector<float> x(static_cast<size_t>(count));
  for (float& value : x) value = static_cast<float>(uniform(generator)) / 64.f;
  return x;
}

void run(const Case& c, std::vector<float> x = {}) {
  SCOPED_TRACE(to_string(c.x) + " to " + to_string(c.out));
  auto executable = load_graph(graph_of(c), {}, c.device);
  ASSERT_NE(executable, nullptr);
  if (x.empty()) x = random(c.x.numel());
  run(*executable, c, c.x, c.out, x);
}

// Output sizes are PyTorch's own.
std::vector<Case> max_cases() {
  return {
      {.x = {1, 5, 12, 10}, .out = {1, 5, 6, 5}, .kernel = {2, 2}},
      {.x = {1, 5, 12, 10}, .out = {1, 5, 6, 5}, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}},
      {.x = {2, 5, 12, 10},
       .out = {2, 5, 12, 5},
       .kernel = {3, 2},
       .stride = {1, 2},
       .pad = {1, 0}},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 8, 6},
       .kernel = {3, 3},
       .stride = {1, 1},
       .dilation = {2, 2}},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 6, 5},
       .kernel = {3, 3},
       .stride = {2, 2},
       .ceil_mode = true},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 7, 6},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad = {1, 1},
       .ceil_mode = true},
      {.x = {5, 7, 9}, .out = {5, 3, 4}, .kernel = {2, 2}},
      {.x = {1, 1, 5, 5},
       .out = {1, 1, 3, 3},
       .kernel = {2, 2},
       .stride = {2, 2},
       .ceil_mode = true},
      // The padding may be half of a dilated window, which is more than half of the kernel.
      {.x = {1, 2, 6, 6},
       .out = {1, 2, 6, 6},
       .kernel = {3, 3},
       .stride = {1, 1},
       .pad = {2, 2},
       .dilation = {2, 2}},
  };
}

std::vector<Case> average_cases() {
  std::vector<Case> cases = {
      {.x = {1, 5, 12, 10}, .out = {1, 5, 6, 5}, .kernel = {2, 2}},
      {.x = {1, 5, 12, 10}, .out = {1, 5, 6, 5}, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 6, 5},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad = {1, 1},
       .count_pad = false},
      {.x = {2, 5, 12, 10},
       .out = {2, 5, 12, 5},
       .kernel = {3, 2},
       .stride = {1, 2},
       .pad = {1, 0}},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 6, 5},
       .kernel = {3, 3},
       .stride = {2, 2},
       .ceil_mode = true},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 7, 6},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad = {1, 1},
       .ceil_mode = true},
      {.x = {1, 5, 12, 10},
       .out = {1, 5, 7, 6},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad = {1, 1},
       .ceil_mode = true,
       .count_pad = false},
      {.x = {1, 5, 12, 10}, .out = {1, 5, 6, 5}, .kernel = {2, 2}, .divisor = 3},
      {.x = {1, 64, 7, 7}, .out = {1, 64, 1, 1}, .kernel = {7, 7}},
      {.x = {3, 4, 17},
       .out = {3, 4, 9},
       .kernel = {3},
       .stride = {2},
       .pad = {1},
       .dilation = {1}},
      {.x = {4, 17}, .out = {4, 8}, .kernel = {2}, .pad = {0}, .dilation = {1}},
      {.x = {1, 5, 12, 10}, .out = {1, 5, 1, 1}, .kernel = {1, 1}, .adaptive = true},
      {.x = {2, 5, 12, 10}, .out = {2, 5, 5, 4}, .kernel = {5, 4}, .adaptive = true},
      {.x = {5, 3, 4}, .out = {5, 7, 7}, .kernel = {7, 7}, .adaptive = true},
      {.x = {2, 5, 13}, .out = {2, 5, 4}, .kernel = {4}, .adaptive = true},
  };
  for (Case& c : cases) c.average = true;
  return cases;
}

TEST(Pooling, Max) {
  for (Case c : max_cases()) {
    run(c);
    c.indices = true;
    run(c);
  }
}

TEST(Pooling, Average) {
  for (const Case& c : average_cases()) run(c);
}

TEST(Pooling, Float16) {
  for (bool half : {true, false}) {
    for (Case c : {max_cases()[1], average_cases()[2], average_cases()[12]}) {
      c.dtype = DType::kFloat16;
      c.device = {.default_limits = true, .f16 = half};
      c.indices = !c.average;
      run(c);
    }
  }
}

TEST(Pooling, SpecialValues) {
  for (Case c : {max_cases()[0], max_cases()[1], average_cases()[1]}) {
    c.indices = !c.average;
    std::vector<float> x = random(c.x.numel());
    x[11] = x[12] = x[24] = kNaN;
    x[40] = kInfinity;
    x[91] = -kInfinity;
    run(c, x);
    if (!c.average) run(c, std::vector<float>(x.size(), -kInfinity));
    run(c, std::vector<float>(x.size(), 1.f));  // the first of equal ones
  }
}

TEST(Pooling, OtherSizes) {
  const Case c{.x = {2, 3, 12, 10},
               .out = {2, 3, 7, 6},
               .kernel = {3, 3},
               .stride = {2, 2},
               .pad = {1, 1},
               .ceil_mode = true,
               .indices = true};
  auto executable = load_graph(graph_of(c));
  ASSERT_NE(executable, nullptr);
  const std::vector<float> x = random(c.x.numel());
  run(*executable, c, {1, 3, 7, 9}, {1, 3, 4, 5}, x);
  run(*executable, c, {2, 1, 1, 2}, {2, 1, 1, 2}, x);
  run(*executable, c, {0, 3, 7, 9}, {0, 3, 4, 5}, x);
  run(*executable, c, c.x, c.out, x);
  const HostInput inputs[] = {HostTensorView{x.data(), DType::kFloat32, {1, 3, 0, 9}}};
  const Status status = executable->run(inputs, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "aten.max_pool2d_with_indices.default (node 0): no window fits into [1, 3, 0, 9]");
}

}  // namespace
}  // namespace executorch::backends::webgpu
