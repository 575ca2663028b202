// The engine on small hand-made graphs: sizes that change between runs, types, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/executable.h"
#include "gpu_test_util.h"

namespace executorch::backends::webgpu {
namespace {

ValueId add_tensor(Graph& graph, DType dtype, Shape dims) {
  Tensor tensor;
  tensor.dtype = tensor.staging = dtype;
  tensor.max_dims = dims;
  return graph.add(tensor);
}

// y = (a + 2 * b) > 0.5 ? ... built from node calls.
Graph add_graph(DType dtype, Shape a, Shape b, Shape out) {
  Graph graph;
  const ValueId va = add_tensor(graph, dtype, a), vb = add_tensor(graph, dtype, b);
  const ValueId alpha = graph.add(int64_t{2});
  const ValueId vo = add_tensor(graph, dtype, out);
  graph.inputs = {va, vb};
  graph.outputs = {vo};
  Node node;
  node.op = "aten.add.Tensor";
  node.args = {va, vb, alpha};
  node.outputs = {vo};
  graph.nodes.push_back(node);
  return graph;
}

TEST(Engine, AddsAndResizes) {
  auto executable = load_graph(add_graph(DType::kFloat32, {3, 5}, {5}, {3, 5}));
  for (int64_t rows : {3, 1, 0, 2, 3}) {
    std::vector<float> a(static_cast<size_t>(rows) * 5), b(5), out(a.size(), -1.f);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) * 0.25f;
    for (size_t i = 0; i < 5; ++i) b[i] = static_cast<float>(i) - 2.f;
    const HostInput inputs[] = {HostTensorView{a.data(), DType::kFloat32, {rows, 5}},
                                HostTensorView{b.data(), DType::kFloat32, {5}}};
    const Executable::HostOutput outputs[] = {{out.data(), DType::kFloat32}};
    const Status status = executable->run(inputs, outputs);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(executable->output_dims(0), (Shape{rows, 5}));
    for (size_t i = 0; i < out.size(); ++i) EXPECT_FLOAT_EQ(out[i], a[i] + 2 * b[i % 5]) << i;
  }
}

TEST(Engine, RefusesWrongInputs) {
  auto executable = load_graph(add_graph(DType::kFloat32, {3, 4}, {4}, {3, 4}));
  std::vector<float> data(64);
  const auto run = [&](Shape a, DType dtype, size_t count) {
    const HostInput inputs[] = {HostTensorView{data.data(), dtype, a},
                                HostTensorView{data.data(), DType::kFloat32, {4}}};
    const Status status = executable->run(std::span(inputs, count), {});
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(run({4, 4}, DType::kFloat32, 2),
            "input 0 has sizes [4, 4], the program takes up to [3, 4]");
  EXPECT_EQ(run({3, 4}, DType::kInt32, 2), "input 0 has type int32, the program takes float32");
  EXPECT_EQ(run({12}, DType::kFloat32, 2),
            "input 0 has sizes [12], the program takes up to [3, 4]");
  EXPECT_EQ(run({3, 4}, DType::kFloat32, 1), "1 inputs were passed, the program takes 2");
  EXPECT_NE(run({3, 3}, DType::kFloat32, 2), "");
  EXPECT_EQ(run({3, 4}, DType::kFloat32, 2), "");
}

TEST(Engine, Int64OnTheHost) {
  auto executable = load_graph(add_graph(DType::kInt32, {3}, {3}, {3}));
  const int64_t a[] = {1, -2, 2147483647}, b[] = {5, 6, 0}, big[] = {1, 1ll << 40, 0};
  int64_t out[3] = {};
  const Executable::HostOutput outputs[] = {{out, DType::kInt64}};
  const HostInput inputs[] = {HostTensorView{a, DType::kInt64, {3}},
                              HostTensorView{b, DType::kInt64, {3}}};
  ASSERT_TRUE(executable->run(inputs, outputs));
  EXPECT_EQ(out[0], 11);
  EXPECT_EQ(out[1], 10);
  EXPECT_EQ(out[2], 2147483647);
  const HostInput too_big[] = {HostTensorView{a, DType::kInt64, {3}},
                               HostTensorView{big, DType::kInt64, {3}}};
  const Status status = executable->run(too_big, outputs);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "input 1: element 1 is 1099511627776, which the GPU's 32-bit integers cannot hold");
}

}  // namespace
}  // namespace executorch::backends::webgpu
