// GPU time of matrix products, as the engine runs them:
//   bench_matmul [--runs N] [filter...]
// prints, for each problem whose name contains a filter: the kernel that was chosen, the time to
// load (compile), the least and the median GPU time, TFLOP/s and TB/s (every operand counted once)
// by the median.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/executable.h"

namespace executorch::backends::webgpu {
namespace {

struct Problem {
  enum Kind { kMm, kBmm, kLinear } kind;
  int64_t batches, m, n, k;
  DType dtype = DType::kFloat32;

  std::string name() const {
    static constexpr const char* kNames[] = {"mm", "bmm", "linear"};
    std::string text =
        fmt::format("{} {} ", kNames[kind], dtype == DType::kFloat16 ? "f16" : "f32");
    if (kind == kBmm) text += fmt::format("{}x", batches);
    return text + fmt::format("{}x{}x{}", m, n, k);
  }
};

constexpr DType kHalf = DType::kFloat16;
constexpr Problem kProblems[] = {
    {Problem::kMm, 1, 512, 512, 512},
    {Problem::kMm, 1, 1024, 1024, 1024},
    {Problem::kMm, 1, 2048, 2048, 2048},
    {Problem::kMm, 1, 4096, 4096, 4096},
    {Problem::kMm, 1, 2047, 2047, 2047},
    {Problem::kMm, 1, 2048, 2048, 2048, kHalf},
    {Problem::kLinear, 1, 2048, 2048, 2048},
    {Problem::kLinear, 1, 2048, 2048, 2048, kHalf},
    {Problem::kLinear, 1, 512, 2048, 512},
    // The layers of MiniLM at 128 tokens.
    {Problem::kLinear, 1, 128, 384, 384},
    {Problem::kLinear, 1, 128, 1536, 384},
    {Problem::kLinear, 1, 128, 384, 1536},
    {Problem::kLinear, 1, 16, 384, 384},
    {Problem::kLinear, 1, 16, 1536, 384},
    {Problem::kLinear, 1, 512, 384, 1536},
    {Problem::kLinear, 1, 512, 1536, 384},
    {Problem::kBmm, 12, 128, 128, 32},
    {Problem::kBmm, 12, 128, 32, 128},
    // Few rows: bound by reading the weight.
    {Problem::kLinear, 1, 1, 8192, 8192},
    {Problem::kMm, 1, 1, 8192, 8192},
    {Problem::kLinear, 1, 1, 8192, 8192, kHalf},
    {Problem::kLinear, 1, 4, 8192, 8192},
    {Problem::kLinear, 1, 8, 8192, 8192},
    {Problem::kMm, 1, 4, 8192, 8192},
    {Problem::kLinear, 1, 1, 576, 576},
    {Problem::kLinear, 1, 1, 1536, 576},
    {Problem::kLinear, 1, 1, 49152, 576},
    {Problem::kMm, 1, 1, 2048, 512},
};

ValueId add_tensor(Graph& graph, DType dtype, Shape dims, bool constant) {
  Tensor tensor;
  tensor.dtype = tensor.staging = dtype;
  tensor.max_dims = dims;
  if (constant) {
    tensor.constant = static_cast<int32_t>(graph.constants.size());
    graph.constants.push_back({"weight", 0, static_cast<uint64_t>(dims.numel()) * size_of(dtype)});
  }
  return graph.add(tensor);
}

Graph graph_of(const Problem& p) {
  Graph graph;
  Node node;
  ValueId a, b, out;
  if (p.kind == Problem::kBmm) {
    a = add_tensor(graph, p.dtype, {p.batches, p.m, p.k}, false);
    b = add_tensor(graph, p.dtype, {p.batches, p.k, p.n}, false);
    out = add_tensor(graph, p.dtype, {p.batches, p.m, p.n}, false);
    node.op = "aten.bmm.default";
    graph.inputs = {a, b};
  } else {
    const bool linear = p.kind == Problem::kLinear;
    a = add_tensor(graph, p.dtype, {p.m, p.k}, false);
    b = add_tensor(graph, p.dtype, linear ? Shape{p.n, p.k} : Shape{p.k, p.n}, true);
    out = add_tensor(graph, p.dtype, {p.m, p.n}, false);
    node.op = linear ? "aten.linear.default" : "aten.mm.default";
    graph.inputs = {a};
  }
  node.args = {a, b};
  if (p.kind == Problem::kLinear) node.args.push_back(graph.add(Null{}));
  node.outputs = {out};
  graph.nodes = {node};
  graph.outputs = {out};
  return graph;
}

Status run(const Problem& p, int runs) {
  ETWG_ASSIGN(const std::shared_ptr<Device> device, Device::acquire());
  const auto start = std::chrono::steady_clock::now();
  ETWG_ASSIGN(Plan plan, make_plan(graph_of(p), device->capabilities()));
  const auto read = [](const Constant& constant, const std::function<Status(Bytes)>& use) {
    const std::vector<std::byte> bytes(constant.nbytes, std::byte{0x11});
    return use(Bytes(bytes));
  };
  ETWG_ASSIGN(const std::unique_ptr<Executable> executable,
              Executable::load(device, std::move(plan), read, {.profile = true}));
  const auto loaded = std::chrono::steady_clock::now() - start;

  std::vector<std::vector<std::byte>> data;
  std::vector<HostInput> inputs;
  for (const ValueId id : executable->plan().graph.inputs) {
    const Shape& dims = executable->plan().graph.tensor(id)->max_dims;
    data.emplace_back(static_cast<size_t>(dims.numel()) * size_of(p.dtype), std::byte{0x11});
    inputs.push_back(HostTensorView{data.back().data(), p.dtype, dims});
  }
  const Executable::HostOutput skipped[] = {{}};
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    ETWG_TRY(executable->run(inputs, skipped));
    double ns = 0;
    for (const ProfileEntry& entry : executable->profile()) {
      ns += static_cast<double>(entry.end_ns - entry.begin_ns);
    }
    times.push_back(ns);
  }
  if (executable->profile().empty()) {
    return fail(ErrorCode::kNotSupported, "no GPU times: the build has no profiling");
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const ProfileEntry& entry = executable->profile().back();
  fmt::print(
      "{:28} {:14} load {:7.1f} ms  min {:9.2f} us  median {:9.2f} us  {:6.2f} TFLOP/s  {:5.2f} "
      "TB/s\n",
      p.name(), entry.kernel, std::chrono::duration<double, std::milli>(loaded).count(),
      times[0] / 1e3, median / 1e3, static_cast<double>(entry.flops) / median / 1e3,
      static_cast<double>(entry.bytes) / median / 1e3);
  std::fflush(stdout);
  return {};
}

}  // namespace
}  // namespace executorch::backends::webgpu

int main(int argc, char** argv) {
  using namespace executorch::backends::webgpu;
  int runs = 20;
  std::vector<std::string> filters;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--runs" && i + 1 < argc) {
      runs = std::max(1, std::atoi(argv[++i]));
    } else {
      filters.push_back(argv[i]);
    }
  }
  if (const auto device = Device::acquire()) {
    fmt::print("{}, {}\n", (*device)->adapter().name, (*device)->adapter().driver);
  }
  for (const Problem& problem : kProblems) {
    const std::string name = problem.name();
    const bool chosen = std::any_of(filters.begin(), filters.end(), [&](const std::string& part) {
      return name.find(part) != std::string::npos;
    });
    if (!filters.empty() && !chosen) continue;
    if (const Status status = run(problem, runs); !status) {
      fmt::print(stderr, "{}: {}\n", problem.name(), status.error().message);
      return 1;
    }
  }
  return 0;
}
