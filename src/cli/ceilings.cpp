#include "cli/ceilings.h"

#include <algorithm>

namespace executorch::backends::webgpu::cli {

namespace {

constexpr int kRuns = 4;  // the fastest counts

ValueId add_tensor(Graph& graph, const Shape& dims) {
  Tensor tensor;
  tensor.max_dims = dims;
  return graph.add(tensor);
}

// One operator from `inputs` to one output.
Graph one_operator(const char* op, const std::vector<Shape>& inputs, const Shape& output) {
  Graph graph;
  Node node;
  node.op = op;
  for (const Shape& dims : inputs) node.args.push_back(add_tensor(graph, dims));
  node.outputs = {add_tensor(graph, output)};
  graph.inputs = node.args;
  graph.outputs = node.outputs;
  graph.nodes.push_back(std::move(node));
  return graph;
}

struct Measured {
  double bytes_per_second = 0, flops_per_second = 0;
};

// The best rates of the graph's longest dispatch.
Result<Measured> measure(const std::shared_ptr<Device>& device, Graph graph) {
  const std::vector<ValueId> ids = graph.inputs;
  ETWG_ASSIGN(Plan plan, make_plan(std::move(graph), device->capabilities()));
  ExecutableOptions options;
  options.profile = true;
  ETWG_ASSIGN(const auto executable, Executable::load(device, std::move(plan), {}, options));
  std::vector<std::vector<float>> data;
  std::vector<HostInput> inputs;
  for (ValueId id : ids) {
    const Shape& dims = executable->plan().graph.tensor(id)->max_dims;
    data.emplace_back(static_cast<size_t>(dims.numel()), 0.5F);
    inputs.emplace_back(HostTensorView{data.back().data(), DType::kFloat32, dims});
  }
  Measured best;
  for (int i = 0; i < kRuns; ++i) {
    ETWG_TRY(executable->run(inputs, {}));  // the outputs stay where they are
    const Profile& profile = executable->profile();
    const auto longest = std::max_element(
        profile.begin(), profile.end(),
        [](const auto& a, const auto& b) { return a.end_ns - a.begin_ns < b.end_ns - b.begin_ns; });
    if (longest == profile.end() || longest->end_ns <= longest->begin_ns) continue;
    const double seconds = static_cast<double>(longest->end_ns - longest->begin_ns) * 1e-9;
    best.bytes_per_second =
        std::max(best.bytes_per_second, static_cast<double>(longest->bytes) / seconds);
    best.flops_per_second =
        std::max(best.flops_per_second, static_cast<double>(longest->flops) / seconds);
  }
  return best;
}

}  // namespace

Result<Ceilings> measure_ceilings(const std::shared_ptr<Device>& device) {
  const bool is_cpu = device->capabilities().processor;
  const auto most =
      static_cast<int64_t>(device->capabilities().max_storage_binding_size / sizeof(float));
  const int64_t rows = 1024;
  const int64_t columns = std::min<int64_t>(is_cpu ? 1 << 12 : 1 << 16, most / rows);
  const int64_t side = is_cpu ? 256 : 4096;
  const Shape wide = {rows, columns}, square = {side, side};
  ETWG_ASSIGN(const Measured memory,
              measure(device, one_operator("aten.neg.default", {wide}, wide)));
  ETWG_ASSIGN(const Measured product,
              measure(device, one_operator("aten.mm.default", {square, square}, square)));
  return Ceilings{memory.bytes_per_second, product.flops_per_second};
}

}  // namespace executorch::backends::webgpu::cli
