#include "executorch/backend.h"

#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/platform/log.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/load.h"
#include "executorch/errors.h"
#include "executorch/values.h"

namespace executorch::backends::webgpu {

namespace {

using runtime::DelegateHandle;

// What a delegate handle points to, in memory of the method's allocator-independent heap.
struct Loaded {
  std::unique_ptr<Executable> executable;
  std::vector<HostInput> inputs;                // scratch of a run, kept to save allocations
  std::vector<Executable::HostOutput> outputs;  // likewise
};

// 0 when it is not set, and (said in the log) when it is no number.
uint32_t number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const char* end = text + std::strlen(text);
  uint32_t number = 0;
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error == std::errc() && stop == end) return number;
  if (text != end) ET_LOG(Error, "%s is ignored: \"%s\" is no number of 32 bits", name, text);
  return 0;
}

bool can_profile(const Device& device) {
  if (number_from_environment("WEBGPU_TIMESTAMP_QUERY") == 0) return false;
#if ETWG_PROFILING
  if (device.capabilities().timestamps) return true;
  ET_LOG(Info, "WebGPU profiling is off: GPU \"%s\" has no timestamp queries",
         device.adapter().name.c_str());
  return false;
#else
  (void)device;
  static const bool said = [] {
    ET_LOG(Info,
           "WEBGPU_TIMESTAMP_QUERY is set, but this build of the WebGPU backend has no "
           "profiling (-DEXECUTORCH_BUILD_WEBGPU_PROFILING=ON)");
    return true;
  }();
  (void)said;
  return false;
#endif
}

NamedReader named_reader(const runtime::NamedDataMap* map) {
  return [map](const std::string& key, const std::function<Status(Bytes)>& use) -> Status {
    if (map == nullptr) {
      return fail(ErrorCode::kNotFound, "constant {} is named, but the program has no named data",
                  key);
    }
    auto data = map->get_data(key);
    if (!data.ok()) {
      return fail(ErrorCode::kNotFound,
                  "constant {} is not in the program's data (is a .ptd file missing?)", key);
    }
    // Freed when this returns: one constant at a time is in host memory.
    return use(Bytes(static_cast<const std::byte*>(data->data()), data->size()));
  };
}

Result<std::unique_ptr<Executable>> load(const runtime::NamedDataMap* map,
                                         const runtime::FreeableBuffer& processed) {
  LoadOptions options;
  options.executable.dispatches_per_submit =
      number_from_environment("ETWEBGPU_DISPATCHES_PER_SUBMIT");
  ETWG_ASSIGN(std::shared_ptr<Device> device, Device::acquire(options.device));
  options.executable.profile = can_profile(*device);
  const Bytes blob(static_cast<const std::byte*>(processed.data()), processed.size());
  return load_payload(std::move(device), blob, named_reader(map), options);
}

// The arguments of a call are the graph's inputs, then its outputs.
Status check_argument_count(const Graph& graph, size_t count) {
  const size_t expected = graph.inputs.size() + graph.outputs.size();
  if (count == expected) return {};
  if (count < expected) {
    return fail(
        ErrorCode::kInvalidProgram,
        "the call has {} arguments, the graph {} inputs and {} outputs. A graph that updates "
        "buffers must be exported with alias_buffer_mutations=True (WebGPUPartitioner does)",
        count, graph.inputs.size(), graph.outputs.size());
  }
  return fail(ErrorCode::kInvalidProgram, "the call has {} arguments, the graph takes {}", count,
              expected);
}

Status run(Loaded& loaded, runtime::Span<runtime::EValue*> args) {
  Executable& executable = *loaded.executable;
  const Graph& graph = executable.plan().graph;
  ETWG_TRY(check_argument_count(graph, args.size()));
  loaded.inputs.clear();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    ETWG_ASSIGN(HostInput input, to_input(*args[i], graph.tensor(graph.inputs[i]) != nullptr, i));
    loaded.inputs.push_back(input);
  }
  ETWG_TRY(executable.begin(loaded.inputs));
  loaded.outputs.clear();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    ETWG_ASSIGN(const Executable::HostOutput output,
                prepare_output(*args[graph.inputs.size() + i], executable, i));
    loaded.outputs.push_back(output);
  }
  return executable.finish(loaded.outputs);
}

// Delegate events, one a dispatch, on the GPU's own clock.
void log_profile(runtime::EventTracer* tracer, const Profile& profile) {
  for (const ProfileEntry& entry : profile) {
    runtime::event_tracer_log_profiling_delegate(tracer, nullptr, entry.debug_id, entry.begin_ns,
                                                 entry.end_ns, entry.kernel.data(),
                                                 entry.kernel.size());
  }
}

}  // namespace

bool WebGPUBackend::is_available() const { return true; }

runtime::Result<DelegateHandle*> WebGPUBackend::init(
    runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
    runtime::ArrayRef<runtime::CompileSpec> /*compile_specs*/) const {
  auto executable = load(context.get_named_data_map(), *processed);
  processed->Free();
  if (!executable) return report("load", executable.error());
  return new Loaded{std::move(*executable), {}, {}};
}

runtime::Error WebGPUBackend::execute(runtime::BackendExecutionContext& context,
                                      DelegateHandle* handle,
                                      runtime::Span<runtime::EValue*> args) const {
  auto& loaded = *static_cast<Loaded*>(handle);
  const Status status = run(loaded, args);
  if (!status) return report("run", status.error());
  log_profile(context.event_tracer(), loaded.executable->profile());
  return runtime::Error::Ok;
}

void WebGPUBackend::destroy(DelegateHandle* handle) const { delete static_cast<Loaded*>(handle); }

}  // namespace executorch::backends::webgpu
