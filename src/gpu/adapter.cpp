#include "gpu/adapter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "gpu/adapter_diagnosis.h"
#include "gpu/completion.h"

namespace executorch::backends::webgpu {
namespace {

const char* backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan:
      return "Vulkan";
    case WGPUBackendType_Metal:
      return "Metal";
    case WGPUBackendType_D3D12:
      return "D3D12";
    case WGPUBackendType_D3D11:
      return "D3D11";
    case WGPUBackendType_OpenGL:
      return "OpenGL";
    case WGPUBackendType_OpenGLES:
      return "OpenGLES";
    case WGPUBackendType_WebGPU:
      return "WebGPU";
    case WGPUBackendType_Null:
      return "Null";
    default:
      return "unknown";
  }
}

AdapterType adapter_type(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU:
      return AdapterType::kDiscrete;
    case WGPUAdapterType_IntegratedGPU:
      return AdapterType::kIntegrated;
    case WGPUAdapterType_CPU:
      return AdapterType::kCpu;
    default:
      return AdapterType::kUnknown;
  }
}

int rank(AdapterType type) {
  switch (type) {
    case AdapterType::kDiscrete:
      return 0;
    case AdapterType::kIntegrated:
      return 1;
    case AdapterType::kUnknown:
      return 2;
    case AdapterType::kCpu:
      return 3;
  }
  return 4;
}

AdapterInfo describe(WGPUInstance inst, WGPUAdapter adapter) {
  AdapterInfo out;
  WGPUAdapterInfo info = {};
  if (wgpuAdapterGetInfo(adapter, &info) == WGPUStatus_Success) {
    out.name = to_string(info.device);
    out.vendor = to_string(info.vendor);
    out.architecture = to_string(info.architecture);
    out.driver = to_string(info.description);
    out.backend = backend_name(info.backendType);
    out.type = adapter_type(info.adapterType);
    out.vendor_id = info.vendorID;
    out.device_id = info.deviceID;
    out.capabilities.subgroup_min_size = info.subgroupMinSize;
    out.capabilities.subgroup_max_size = info.subgroupMaxSize;
    wgpuAdapterInfoFreeMembers(info);
  }
  // Browsers keep the name to themselves.
  if (out.name.empty()) out.name = out.driver;
  if (out.name.empty() && !(out.vendor + out.architecture).empty()) {
    out.name = out.vendor + " " + out.architecture;
  }

  WGPULimits limits = {};
  if (wgpuAdapterGetLimits(adapter, &limits) == WGPUStatus_Success) {
    fill_limits(limits, out.capabilities);
  }
  Capabilities& caps = out.capabilities;
  caps.f16 = wgpuAdapterHasFeature(adapter, WGPUFeatureName_ShaderF16);
  caps.subgroups = wgpuAdapterHasFeature(adapter, WGPUFeatureName_Subgroups);
  caps.timestamps = wgpuAdapterHasFeature(adapter, WGPUFeatureName_TimestampQuery);
  caps.packed_dot = wgpuInstanceHasWGSLLanguageFeature(
      inst, WGPUWGSLLanguageFeatureName_Packed4x8IntegerDotProduct);
  // Some processors do not say that they are; their subgroups are vector registers, narrower than
  // those of any GPU.
  const bool narrow = caps.subgroup_max_size > 0 && caps.subgroup_max_size <= 8;
  caps.processor = out.type == AdapterType::kCpu || narrow;
  if (!caps.subgroups) caps.subgroup_min_size = caps.subgroup_max_size = 0;
  if (caps.f16) out.features.emplace_back("shader-f16");
  if (caps.subgroups) out.features.emplace_back("subgroups");
  if (caps.timestamps) out.features.emplace_back("timestamp-query");
  if (caps.packed_dot) out.features.emplace_back("packed_4x8_integer_dot_product");
  return out;
}

bool same(const AdapterInfo& a, const AdapterInfo& b) {
  return a.name == b.name && a.vendor_id == b.vendor_id && a.device_id == b.device_id &&
         a.backend == b.backend && a.driver == b.driver;
}

// Asks for one adapter after the other; in a browser each answer starts the next question.
struct Search : std::enable_shared_from_this<Search> {
  struct Question {
    WGPUPowerPreference power;
    WGPUBool fallback;
  };
  static constexpr std::array<Question, 3> kQuestions = {{
      {WGPUPowerPreference_HighPerformance, false},
      {WGPUPowerPreference_LowPower, false},
      {WGPUPowerPreference_Undefined, true},
  }};

  WGPUInstance inst = nullptr;
  size_t next = 0;
  std::vector<Adapter> found;
  std::string complaint;  // what WebGPU said the first time it had none
  std::function<void(Result<std::vector<Adapter>>)> callback;

  void step() {
    if (next == kQuestions.size()) return conclude();
    WGPURequestAdapterOptions options = {};
    options.featureLevel = WGPUFeatureLevel_Core;
    options.powerPreference = kQuestions[next].power;
    options.forceFallbackAdapter = kQuestions[next].fallback;
    ++next;

    struct Call {
      std::shared_ptr<Search> search;
      Completion completion;
    };
    Completion completion;
    WGPURequestAdapterCallbackInfo info = {};
    info.mode = WGPUCallbackMode_AllowSpontaneous;
    info.userdata1 = new Call{shared_from_this(), completion};
    info.callback = [](WGPURequestAdapterStatus status, WGPUAdapter adapter, WGPUStringView message,
                       void* userdata, void*) {
      std::unique_ptr<Call> call(static_cast<Call*>(userdata));
      Handle<WGPUAdapter> handle(adapter);
      if (status == WGPURequestAdapterStatus_Success && handle) {
        call->search->add(std::move(handle));
      } else if (call->search->complaint.empty()) {
        call->search->complaint = to_string(message);
      }
      call->completion.finish({});
    };
    completion.add_future(wgpuInstanceRequestAdapter(inst, &options, info));
#if ETWG_CAN_BLOCK
    completion.wait();
#endif
    completion.on_done([self = shared_from_this()](const Status&) { self->step(); });
  }

  void add(Handle<WGPUAdapter> handle) {
    AdapterInfo info = describe(inst, handle.get());
    for (const Adapter& other : found) {
      if (same(other.info, info)) return;
    }
    found.push_back({std::move(info), std::move(handle)});
  }

  void conclude() {
    if (found.empty()) {
      callback(fail(ErrorCode::kNotSupported, "{}", explain_no_adapter(complaint)));
      return;
    }
    std::stable_sort(found.begin(), found.end(), [](const Adapter& a, const Adapter& b) {
      return rank(a.info.type) < rank(b.info.type);
    });
    callback(std::move(found));
  }
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

const char* name_of(AdapterType type) {
  switch (type) {
    case AdapterType::kDiscrete:
      return "discrete";
    case AdapterType::kIntegrated:
      return "integrated";
    case AdapterType::kCpu:
      return "cpu";
    case AdapterType::kUnknown:
      return "unknown";
  }
  return "unknown";
}

void fill_limits(const WGPULimits& limits, Capabilities& out) {
  out.max_storage_binding_size = limits.maxStorageBufferBindingSize;
  out.max_buffer_size = limits.maxBufferSize;
  out.max_uniform_binding_size =
      static_cast<uint32_t>(std::min<uint64_t>(limits.maxUniformBufferBindingSize, UINT32_MAX));
  out.max_storage_buffers_per_stage = limits.maxStorageBuffersPerShaderStage;
  out.max_invocations_per_workgroup = limits.maxComputeInvocationsPerWorkgroup;
  out.max_workgroup_size_x = limits.maxComputeWorkgroupSizeX;
  out.max_workgroup_storage = limits.maxComputeWorkgroupStorageSize;
  out.max_workgroups_per_dimension = limits.maxComputeWorkgroupsPerDimension;
  out.min_storage_offset_alignment = limits.minStorageBufferOffsetAlignment;
  out.min_uniform_offset_alignment = limits.minUniformBufferOffsetAlignment;
}

Result<WGPUInstance> instance() {
  static const WGPUInstance shared = [] {
    WGPUInstanceDescriptor descriptor = {};
#if ETWG_CAN_BLOCK
    static constexpr WGPUInstanceFeatureName kFeatures[] = {WGPUInstanceFeatureName_TimedWaitAny};
    descriptor.requiredFeatureCount = 1;
    descriptor.requiredFeatures = kFeatures;
#endif
    return wgpuCreateInstance(&descriptor);
  }();
  if (shared == nullptr) {
    return fail(ErrorCode::kNotSupported, "WebGPU is not available: no instance could be made");
  }
  return shared;
}

void request_adapters_async(std::function<void(Result<std::vector<Adapter>>)> callback) {
  Result<WGPUInstance> inst = instance();
  if (!inst) {
    callback(tl::unexpected<Error>(inst.error()));
    return;
  }
  auto search = std::make_shared<Search>();
  search->inst = *inst;
  search->callback = std::move(callback);
  search->step();
}

Result<std::vector<Adapter>> request_adapters() {
  auto out = std::make_shared<std::optional<Result<std::vector<Adapter>>>>();
  request_adapters_async(
      [out](Result<std::vector<Adapter>> found) { out->emplace(std::move(found)); });
  if (!out->has_value()) {
    return fail(ErrorCode::kNotSupported,
                "this platform cannot wait for its adapters; use the asynchronous call");
  }
  return std::move(**out);
}

Result<std::vector<AdapterInfo>> list_adapters() {
  ETWG_ASSIGN(std::vector<Adapter> adapters, request_adapters());
  std::vector<AdapterInfo> out;
  for (Adapter& adapter : adapters) out.push_back(std::move(adapter.info));
  return out;
}

Result<size_t> choose_adapter(const std::vector<AdapterInfo>& adapters, std::string_view selector) {
  if (adapters.empty()) return fail(ErrorCode::kNotFound, "there is no GPU adapter");
  const std::string wanted = lower(selector);

  size_t index = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [parsed, error] = std::from_chars(wanted.data(), end, index);
  const bool is_index = !wanted.empty() && error == std::errc() && parsed == end;
  if (is_index && index < adapters.size()) return index;

  size_t best = adapters.size();
  for (size_t i = 0; i < adapters.size() && !is_index; ++i) {
    const AdapterInfo& info = adapters[i];
    const bool is_cpu = info.type == AdapterType::kCpu;
    const bool matches =
        wanted.empty() || (wanted == "cpu" && is_cpu) || (wanted == "gpu" && !is_cpu) ||
        (wanted != "cpu" && wanted != "gpu" && lower(info.name).find(wanted) != std::string::npos);
    if (matches && (best == adapters.size() || rank(info.type) < rank(adapters[best].type))) {
      best = i;
    }
  }
  if (best < adapters.size()) return best;

  std::string list;
  for (size_t i = 0; i < adapters.size(); ++i) {
    list += fmt::format("{}{}: {} ({}, {})", i == 0 ? "" : "; ", i, adapters[i].name,
                        name_of(adapters[i].type), adapters[i].backend);
  }
  return fail(ErrorCode::kNotFound,
              "no GPU adapter matches \"{}\"; there is {}. Choose by index, by a part of the name, "
              "or with \"cpu\" or \"gpu\"",
              selector, list);
}

}  // namespace executorch::backends::webgpu
