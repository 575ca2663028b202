#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/options.h"
#include "payload/payload.h"
#include "plan/plan.h"

namespace executorch::backends::webgpu::cli {

namespace {

struct Options {
  ModelOptions model;
  LoadOptions load;
  bool print_ir = false;
  bool for_device = false;
};

using Counts = std::map<std::string, size_t>;

void print_counts(const char* title, const Counts& counts) {
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  fmt::print("    {} ({}):\n", title, sorted.size());
  for (const auto& [name, count] : sorted) fmt::print("      {:>5}  {}\n", count, name);
}

const char* name_of(Dynamism dynamism) {
  switch (dynamism) {
    case Dynamism::kStatic:
      return "";
    case Dynamism::kBounded:
      return ", up to";
    case Dynamism::kUnbounded:
      return ", unbounded";
  }
  return "";
}

std::string describe(const HostValue& value) {
  if (const auto* tensor = std::get_if<HostTensor>(&value)) {
    const std::string dtype = tensor->dtype ? std::string(webgpu::name_of(*tensor->dtype))
                                            : fmt::format("scalar type {}", tensor->scalar_type);
    return fmt::format("{} {}{}{}", dtype, to_string(tensor->sizes), name_of(tensor->dynamism),
                       tensor->contiguous() ? "" : ", not row-major");
  }
  if (std::holds_alternative<int64_t>(value)) return "integer";
  if (std::holds_alternative<double>(value)) return "number";
  if (std::holds_alternative<bool>(value)) return "bool";
  return "another kind of value";
}

std::string describe(const Graph& graph, ValueId id) {
  const Tensor* tensor = graph.tensor(id);
  if (tensor == nullptr) return "integer";
  return fmt::format("{} {}", webgpu::name_of(tensor->dtype), to_string(tensor->max_dims));
}

void print_graph(const Payload& payload) {
  const Graph& graph = payload.graph;
  for (ValueId id : graph.inputs) fmt::print("    input   {}\n", describe(graph, id));
  for (ValueId id : graph.outputs) fmt::print("    output  {}\n", describe(graph, id));
  uint64_t inside = 0, named = 0;
  size_t names = 0;
  for (const Constant& constant : graph.constants) {
    (constant.key.empty() ? inside : named) += constant.nbytes;
    names += constant.key.empty() ? 0 : 1;
  }
  fmt::print("    {} constants: {} of {} bytes in the payload, {} of {} bytes by name\n",
             graph.constants.size(), graph.constants.size() - names, inside, names, named);
  Counts operators;
  for (const Node& node : graph.nodes) {
    ++operators[node.op + (find_op(node.op) == nullptr ? "  (not known here)" : "")];
  }
  print_counts("operators", operators);
}

// The kernel that a step uses at the maximum sizes.
const std::string& kernel_of(const PlannedStep& step, const LiveValues& maxima) {
  for (const PlannedDispatch& variant : step.variants) {
    if (!variant.dispatch.applies || variant.dispatch.applies(maxima)) {
      return variant.dispatch.kernel;
    }
  }
  return step.variants.back().dispatch.kernel;
}

void print_plan(const Plan& plan, const Plan& unfused) {
  fmt::print("    nodes that compute or move data: {}, after passes {}\n", plan.nodes_before_passes,
             plan.nodes_after_passes);
  fmt::print("    dispatches a run: {}, after passes {}; once at load: {}\n", unfused.steps.size(),
             plan.steps.size(), plan.once.size());
  struct Kind {
    BufferKind kind;
    const char* name;
  };
  fmt::print("    GPU memory:\n");
  for (const Kind& kind : {Kind{BufferKind::kActivation, "activations"},
                           Kind{BufferKind::kPersistent, "kept between runs"},
                           Kind{BufferKind::kConstant, "constants"},
                           Kind{BufferKind::kLoadOnly, "only while loading"}}) {
    size_t count = 0;
    for (const BufferPlan& buffer : plan.buffers) count += buffer.kind == kind.kind ? 1 : 0;
    fmt::print("      {:<20}{:>14} bytes in {} buffers\n", kind.name, plan.bytes(kind.kind), count);
  }
  fmt::print("      {:<20}{:>14} bytes\n", "kernel parameters", plan.params_size);
  const LiveValues maxima(plan.graph);
  Counts kernels;
  for (const PlannedStep& step : plan.steps) ++kernels[kernel_of(step, maxima)];
  for (const PlannedStep& step : plan.once) ++kernels[kernel_of(step, maxima) + "  (at load)"];
  print_counts("kernels at the maximum sizes", kernels);
}

Status inspect_payload(const Delegate& delegate, const Options& options,
                       const Capabilities& capabilities) {
  ETWG_ASSIGN(Payload payload, parse_payload(delegate.blob));
  print_graph(payload);
  auto unfused = make_plan(payload.graph, capabilities, {.fuse = false});
  auto plan = make_plan(payload.graph, capabilities, options.load.plan);
  if (options.print_ir) fmt::print("{}", to_string(plan ? plan->graph : payload.graph));
  if (!plan) {
    fmt::print("    cannot be run: {}\n", plan.error().message);
    return {};
  }
  print_plan(*plan, unfused ? *unfused : *plan);
  return {};
}

Status inspect_method(const Method& method, const Options& options,
                      const Capabilities& capabilities) {
  fmt::print("method {}\n", method.name);
  for (HostId id : method.inputs) fmt::print("  input   {}\n", describe(method.value(id)));
  for (HostId id : method.outputs) fmt::print("  output  {}\n", describe(method.value(id)));
  size_t calls = 0;
  Counts on_cpu;
  for (const Instruction& instruction : method.instructions) {
    calls += std::holds_alternative<DelegateCall>(instruction) ? 1 : 0;
    if (const auto* call = std::get_if<KernelCall>(&instruction)) {
      ++on_cpu[method.operators[call->op]];
    }
  }
  fmt::print("  {} instructions, {} of them calls of delegates{}\n", method.instructions.size(),
             calls, method.fully_delegated() ? "" : "; not fully delegated");
  if (!on_cpu.empty()) print_counts("operators on the CPU", on_cpu);
  for (size_t i = 0; i < method.delegates.size(); ++i) {
    const Delegate& delegate = method.delegates[i];
    fmt::print("  delegate {}: {}, {} bytes\n", i, delegate.id, delegate.blob.size());
    if (delegate.id != "VulkanBackend" && delegate.id != "WebGPUBackend") continue;
    const Status status = inspect_payload(delegate, options, capabilities);
    if (!status) return context(fmt::format("delegate {}", i), status.error());
  }
  return {};
}

Outcome inspect(const Options& options) {
  ETWG_ASSIGN(const Model model, options.model.open());
  Capabilities capabilities;
  if (options.for_device) {
    ETWG_ASSIGN(const auto device, Device::acquire(options.load.device));
    capabilities = device->capabilities();
    fmt::print("planned for {}\n", device->adapter().name);
  } else {
    fmt::print("planned for the limits that every WebGPU has (--device: for the adapter)\n");
  }
  for (const Method& method : model.program().methods()) {
    ETWG_TRY(inspect_method(method, options, capabilities));
  }
  return kOk;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show what a program consists of and how it would run");
  auto options = std::make_shared<Options>();
  command->add_option("model", options->model.path, "The program, a .pte file")->required();
  add_load_options(*command, options->load);
  command->add_flag("--ir", options->print_ir, "List the graph's values and nodes after passes");
  command->add_flag("--device", options->for_device, "Plan for the adapter (needs a GPU)");
  command->callback([=, &action] { action = [=] { return inspect(*options); }; });
}

}  // namespace executorch::backends::webgpu::cli
