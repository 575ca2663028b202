// Matrix products of all shapes and types against sums in double on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "engine/executable.h"
#include "gpu_test_util.h"
#include "ops/gemm.h"

namespace executorch::backends::webgpu {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct HostTensor {
  Shape dims;
  std::vector<float> data;  // values that the tensor's type can hold
};

// A product to run. Sizes are the largest; `run` takes the live ones.
struct Product {
  std::string op;
  DType dtype = DType::kFloat32;
  Shape a = {}, b = {}, out = {};
  std::optional<Shape> bias = {};
  double alpha = 1, beta = 1;
  bool constant = false;  // b and the bias come from the file
  bool relu = false;      // a follower for the epilogue
  DeviceOptions device = {};
};

class Runner {
 public:
  explicit Runner(Product product) : product_(std::move(product)), random_(7) {
    Graph graph;
    const bool fixed = product_.constant;
    const ValueId a = tensor(graph, product_.a, false);
    const ValueId b = tensor(graph, product_.b, fixed);
    ValueId bias = product_.bias ? tensor(graph, *product_.bias, fixed) : graph.add(Null{});
    const ValueId out = tensor(graph, product_.out, false);
    Node node;
    node.op = product_.op;
    node.args = {a, b};
    if (product_.op == "aten.linear.default") node.args = {a, b, bias};
    if (product_.op == "aten.addmm.default") {
      node.args = {bias, a, b, graph.add(product_.beta), graph.add(product_.alpha)};
    }
    node.outputs = {out};
    graph.nodes.push_back(node);
    graph.outputs = {out};
    if (product_.relu) {
      const ValueId activated = tensor(graph, product_.out, false);
      Node relu;
      relu.op = "aten.relu.default";
      relu.args = {out};
      relu.outputs = {activated};
      graph.nodes.push_back(relu);
      graph.outputs = {activated};
    }
    graph.inputs = {a};
    if (!fixed) graph.inputs.push_back(b);
    if (!fixed && product_.bias) graph.inputs.push_back(bias);
    b_ = make(product_.b);
    if (product_.bias) bias_ = make(*product_.bias);
    executable_ = load_graph(
        std::move(graph),
        [this](const Constant& constant, const std::function<Status(Bytes)>& use) {
          const std::vector<std::byte> bytes = stored(constant.key == "1" ? b_ : bias_);
          return use(Bytes(bytes));
        },
        product_.device);
  }

  HostTensor make(const Shape& dims) {
    HostTensor tensor{dims, std::vector<float>(static_cast<size_t>(dims.numel()))};
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : tensor.data) x = rounded(uniform(random_));
    return tensor;
  }

  // Runs with these inputs (b and bias of the file, when constant) and compares.
  void run(const HostTensor& a, const HostTensor& b, const HostTensor& bias) {
    ASSERT_NE(executable_, nullptr);
    const auto a_bytes = stored(a), b_bytes = stored(b), bias_bytes = stored(bias);
    std::vector<HostInput> inputs = {HostTensorView{a_bytes.data(), product_.dtype, a.dims}};
    if (!product_.constant) {
      inputs.push_back(HostTensorView{b_bytes.data(), product_.dtype, b.dims});
      if (product_.bias) {
        inputs.push_back(HostTensorView{bias_bytes.data(), product_.dtype, bias.dims});
      }
    }
    const HostTensor expected = reference(a, b, bias);
    std::vector<float> out(expected.data.size() + 1, 77.f);
    const Executable::HostOutput outputs[] = {{out.data(), DType::kFloat32}};
    const Status status = executable_->run(inputs, outputs);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(executable_->output_dims(0), expected.dims);
    const bool half = product_.dtype == DType::kFloat16;
    for (size_t i = 0; i < expected.data.size(); ++i) {
      const float want = expected.data[i];
      if (out[i] == want) continue;  // infinities too
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(out[i])) << where(a, b) << " element " << i << " is " << out[i];
        continue;
      }
      const float tolerance = half ? 2e-3f * (1 + std::abs(want)) : 2e-5f * (1 + std::abs(want));
      ASSERT_NEAR(out[i], want, tolerance) << where(a, b) << " element " << i;
    }
    ASSERT_EQ(out.back(), 77.f);
  }

  // Runs random inputs of these live sizes.
  void run(const Shape& a, const Shape& b, const Shape& bias = {}) {
    if (product_.constant) {
      run(make(a), b_, bias_);
    } else {
      run(make(a), make(b), make(bias));
    }
  }
  void run() { run(product_.a, product_.b, product_.bias.value_or(Shape{})); }

 private:
  ValueId tensor(Graph& graph, const Shape& dims, bool constant) {
    Tensor tensor;
    tensor.dtype = tensor.staging = product_.dtype;
    tensor.max_dims = dims;
    if (constant) {
      tensor.constant = static_cast<int32_t>(graph.constants.size());
      const auto bytes = static_cast<uint64_t>(dims.numel()) * size_of(product_.dtype);
      graph.constants.push_back({std::to_string(graph.values.size()), 0, bytes});
    }
    return graph.add(tensor);
  }

  float rounded(float x) const {
    if (product_.dtype != DType::kFloat16) return x;
    uint16_t bits = 0;
    EXPECT_TRUE(convert_elements(&x, DType::kFloat32, &bits, DType::kFloat16, 1));
    EXPECT_TRUE(convert_elements(&bits, DType::kFloat16, &x, DType::kFloat32, 1));
    return x;
  }

  std::vector<std::byte> stored(const HostTensor& tensor) const {
    std::vector<std::byte> bytes(tensor.data.size() * size_of(product_.dtype));
    EXPECT_TRUE(convert_elements(tensor.data.data(), DType::kFloat32, bytes.data(), product_.dtype,
                                 static_cast<int64_t>(tensor.data.size())));
    return bytes;
  }

  HostTensor reference(const HostTensor& a, const HostTensor& b, const HostTensor& bias) const {
    const bool transposed = product_.op == "aten.linear.default";
    const int64_t k = a.dims.last(0), n = b.dims.last(transposed ? 1 : 0);
    const int64_t batches = b.dims.rank() == 3 ? b.dims[0] : 1;
    const int64_t rows = a.dims.numel(0, a.dims.rank() - 1), m = batches == 0 ? 0 : rows / batches;
    HostTensor out{a.dims, {}};
    out.dims[out.dims.rank() - 1] = n;
    for (int64_t batch = 0; batch < batches; ++batch) {
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          double sum = 0;
          for (int64_t i = 0; i < k; ++i) {
            const int64_t at = transposed ? column * k + i : (batch * k + i) * n + column;
            sum += double{a.data[static_cast<size_t>((batch * m + row) * k + i)]} *
                   double{b.data[static_cast<size_t>(at)]};
          }
          sum *= product_.alpha;
          if (product_.bias && product_.beta != 0) {
            const int64_t i = bias.dims.last(1) == 1 ? 0 : row * bias.dims.last(0);
            const int64_t j = bias.dims.last(0) == 1 ? 0 : column;
            sum += product_.beta * double{bias.data[static_cast<size_t>(i + j)]};
          }
          if (product_.relu && sum < 0) sum = 0;
          out.data.push_back(static_cast<float>(sum));
        }
      }
    }
    return out;
  }

  static std::string where(const HostTensor& a, const HostTensor& b) {
    return to_string(a.dims) + " x " + to_string(b.dims);
  }

  Product product_;
  std::mt19937 random_;
  HostTensor b_, bias_;
  std::unique_ptr<Executable> executable_;
};

Product mm(int64_t m, int64_t n, int64_t k) {
  return {.op = "aten.mm.default", .a = {m, k}, .b = {k, n}, .out = {m, n}};
}

Product linear(int64_t m, int64_t n, int64_t k, bool bias = true) {
  Product p{.op = "aten.linear.default", .a = {m, k}, .b = {n, k}, .out = {m, n}};
  if (bias) p.bias = Shape{n};
  p.constant = true;
  return p;
}

constexpr int64_t kSizes[][3] = {
    // m, n, k
    {1, 4, 4},    {1, 1, 1},     {2, 3, 5},      {1, 384, 384},  {3, 8, 64},   {4, 20, 36},
    {5, 33, 17},  {32, 32, 64},  {33, 36, 68},   {31, 7, 129},   {64, 64, 16}, {128, 128, 20},
    {70, 72, 40}, {130, 132, 8}, {129, 131, 33}, {1, 130, 1030}, {8, 1, 100},  {1, 1027, 64},
};

TEST(Matmul, Sizes) {
  for (const auto& [m, n, k] : kSizes) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
      Product product = mm(m, n, k);
      product.dtype = dtype;
      Runner(product).run();
      product = linear(m, n, k);
      product.dtype = dtype;
      product.relu = true;
      Runner(product).run();
      if (HasFatalFailure()) return;
    }
  }
}

// Where a processor plays the GPU, it has kernels of its own; these are the others.
DeviceOptions as_gpu() { return {.as_gpu = true}; }

TEST(Matmul, SizesOnGpus) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {1, 384, 384}, {3, 20, 36}, {33, 36, 68}, {2, 3, 5}, {33, 35, 17}}) {
    Product product = mm(m, n, k);
    product.device = as_gpu();
    Runner(product).run();
    product = linear(m, n, k);
    product.device = as_gpu();
    Runner(product).run();
    if (HasFatalFailure()) return;
  }
}

TEST(Matmul, EveryTile) {
  for (const GemmTile& tile : gemm_tiles()) {
    // As many tiles as it takes to be chosen, most of them nearly empty.
    const int64_t batches = static_cast<int64_t>(std::max<uint64_t>(tile.enough, 3) + 3) / 4;
    const int64_t m = tile.m + 1, n = tile.n + 4, k = 20;
    Product product{.op = "aten.bmm.default"};
    product.a = {batches, m, k};
    product.b = {batches, k, n};
    product.out = {batches, m, n};
    product.device = as_gpu();
    Runner(product).run();
    if (HasFatalFailure()) return;
  }
}

// batches, m, n, k
constexpr int64_t kLiveSizes[][4] = {
    {3, 40, 36, 48}, {2, 1, 36, 48}, {3, 1, 35, 47}, {1, 4, 5, 6}, {3, 39, 33, 48},
    {3, 7, 36, 31},  {2, 8, 8, 0},   {3, 0, 4, 4},   {3, 5, 0, 4}, {0, 4, 4, 4},
};

TEST(Matmul, LiveSizesWithoutRebuilding) {
  for (const bool gpu : {false, true}) {
    Product product{.op = "aten.bmm.default"};
    product.a = {3, 40, 48};
    product.b = {3, 48, 36};
    product.out = {3, 40, 36};
    if (gpu) product.device = as_gpu();
    Runner runner(product);
    for (const auto& [batches, m, n, k] : kLiveSizes) {
      runner.run(Shape{batches, m, k}, Shape{batches, k, n});
      if (HasFatalFailure()) FAIL() << batches << " " << m << " " << n << " " << k;
    }
  }
}

TEST(Matmul, LinearOfAnyRank) {
  for (const Shape& a : {Shape{12}, Shape{2, 12}, Shape{2, 3, 12}, Shape{2, 1, 3, 12}}) {
    Product product = linear(1, 8, 12);
    product.a = product.out = a;
    product.out[a.rank() - 1] = 8;
    Runner(product).run();
    product.bias.reset();
    Runner(product).run();
  }
}

TEST(Matmul, LinearWithoutElementsToSum) {
  Product product = linear(5, 6, 0);
  product.b = {6, 0};
  product.constant = false;
  Runner(product).run();
}

TEST(Matmul, AddmmBroadcastsItsBias) {
  for (const int64_t n : {8, 7}) {
    const int64_t m = 6;
    for (const Shape& bias : {Shape{n}, Shape{1, n}, Shape{m, n}, Shape{m, 1}, Shape{1}, Shape{}}) {
      for (const bool constant : {false, true}) {
        Product product{.op = "aten.addmm.default", .a = {m, 12}, .b = {12, n}, .out = {m, n}};
        product.bias = bias;
        product.alpha = -0.5;
        product.beta = 3;
        product.constant = constant;
        Runner(product).run();
        if (HasFatalFailure()) FAIL() << to_string(bias);
      }
    }
  }
}

TEST(Matmul, AddmmIgnoresTheBiasWhenBetaIsZero) {
  Product product{.op = "aten.addmm.default", .a = {2, 4}, .b = {4, 4}, .out = {2, 4}};
  product.bias = Shape{4};
  product.beta = 0;
  Runner runner(product);
  HostTensor bias{{4}, {kNaN, kNaN, kNaN, kNaN}};
  runner.run(runner.make({2, 4}), runner.make({4, 4}), bias);
}

TEST(Matmul, NanAndInfinityTravel) {
  for (const int64_t m : {1, 40}) {
    Product product = mm(m, 8, 6);
    Runner runner(product);
    HostTensor a = runner.make({m, 6}), b = runner.make({6, 8});
    a.data[0] = kNaN;
    b.data[3] = std::numeric_limits<float>::infinity();
    if (m > 1) a.data[6] = 0;  // 0 * infinity
    runner.run(a, b, {});
  }
}

// What devices offer at least: no f16 and no subgroups, 16 KiB of workgroup memory.
TEST(Matmul, DefaultLimits) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{3, 7, 10}, {33, 8, 6}, {2, 8, 7}}) {
    for (const bool constant : {false, true}) {
      Product product = linear(m, n, k);
      product.dtype = DType::kFloat16;
      product.constant = constant;
      product.relu = true;
      product.device = {.default_limits = true, .f16 = false, .subgroups = false, .as_gpu = true};
      Runner(product).run();
      if (HasFatalFailure()) FAIL() << m << " " << n << " " << k;
    }
  }
}

TEST(Matmul, RefusesSizesThatDoNotFit) {
  Graph graph;
  const auto tensor = [&](Shape dims) {
    Tensor t;
    t.max_dims = dims;
    return graph.add(t);
  };
  const ValueId a = tensor({4, 8}), b = tensor({8, 4}), out = tensor({4, 4});
  Node node;
  node.op = "aten.mm.default";
  node.args = {a, b};
  node.outputs = {out};
  graph.nodes = {node};
  graph.inputs = {a, b};
  graph.outputs = {out};
  auto executable = load_graph(graph);
  std::vector<float> data(64);
  const HostInput inputs[] = {HostTensorView{data.data(), DType::kFloat32, {4, 7}},
                              HostTensorView{data.data(), DType::kFloat32, {8, 4}}};
  const Status status = executable->run(inputs, {});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cannot multiply [4, 7] and [8, 4]"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace executorch::backends::webgpu
