#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/capabilities.h"
#include "base/result.h"
#include "gpu/handle.h"

namespace executorch::backends::webgpu {

enum class AdapterType { kDiscrete, kIntegrated, kCpu, kUnknown };

const char* name_of(AdapterType type);  // "discrete", "integrated", "cpu", "unknown"

// One GPU (or software renderer) that WebGPU offers on this machine.
struct AdapterInfo {
  std::string name;  // "NVIDIA H200", "SwiftShader Device (Subzero)"; may be empty in a browser
  std::string vendor;
  std::string architecture;
  std::string backend;  // "Vulkan", "Metal", "D3D12", "WebGPU"
  std::string driver;   // the driver's description and version
  AdapterType type = AdapterType::kUnknown;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::vector<std::string> features;  // WebGPU's names of the features this library can use
  Capabilities capabilities;          // with everything the adapter has switched on
};

struct Adapter {
  AdapterInfo info;
  Handle<WGPUAdapter> handle;
};

// The process's WebGPU instance, made at the first call and never destroyed (drivers dislike
// being unloaded from exit handlers).
Result<WGPUInstance> instance();

// Every adapter WebGPU offers, best first. The standard API has no enumeration, so this asks for
// the fast, the frugal and the software adapter: of several equal GPUs one is seen.
// kNotSupported, with the reason, when there is none.
Result<std::vector<Adapter>> request_adapters();
// The same without blocking, for the browser.
void request_adapters_async(std::function<void(Result<std::vector<Adapter>>)> callback);

// What request_adapters finds, without handles; blocks.
Result<std::vector<AdapterInfo>> list_adapters();

// Which adapter `selector` means: an index into the list, "cpu", "gpu", or a part of a name in
// any case; empty means the first of discrete, integrated, unknown, cpu. kNotFound lists what
// there is.
Result<size_t> choose_adapter(const std::vector<AdapterInfo>& adapters, std::string_view selector);

// The limits that both adapters and devices report, as a Capabilities.
void fill_limits(const WGPULimits& limits, Capabilities& out);

}  // namespace executorch::backends::webgpu
