// Instance, adapter, and what adapters and devices can do.

#include <emscripten/emscripten.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "shim.h"

using etwg_shim::handle;
using etwg_shim::id;

namespace {

struct FeatureName {
  WGPUFeatureName value;
  const char* name;
};

// Those that compute can use.
constexpr FeatureName kFeatures[] = {
    {WGPUFeatureName_CoreFeaturesAndLimits, "core-features-and-limits"},
    {WGPUFeatureName_TimestampQuery, "timestamp-query"},
    {WGPUFeatureName_ShaderF16, "shader-f16"},
    {WGPUFeatureName_Subgroups, "subgroups"},
};

struct LanguageFeature {
  WGPUWGSLLanguageFeatureName value;
  const char* name;
};

constexpr LanguageFeature kLanguageFeatures[] = {
    {WGPUWGSLLanguageFeatureName_ReadonlyAndReadwriteStorageTextures,
     "readonly_and_readwrite_storage_textures"},
    {WGPUWGSLLanguageFeatureName_Packed4x8IntegerDotProduct, "packed_4x8_integer_dot_product"},
    {WGPUWGSLLanguageFeatureName_UnrestrictedPointerParameters, "unrestricted_pointer_parameters"},
    {WGPUWGSLLanguageFeatureName_PointerCompositeAccess, "pointer_composite_access"},
    {WGPUWGSLLanguageFeatureName_UniformBufferStandardLayout, "uniform_buffer_standard_layout"},
    {WGPUWGSLLanguageFeatureName_SubgroupId, "subgroup_id"},
};

template <typename T>
struct LimitName {
  T WGPULimits::*member;
  const char* name;
};

#define ETWG_LIMIT(name) {&WGPULimits::name, #name}

constexpr LimitName<uint32_t> kLimits32[] = {
    ETWG_LIMIT(maxTextureDimension1D),
    ETWG_LIMIT(maxTextureDimension2D),
    ETWG_LIMIT(maxTextureDimension3D),
    ETWG_LIMIT(maxTextureArrayLayers),
    ETWG_LIMIT(maxBindGroups),
    ETWG_LIMIT(maxBindGroupsPlusVertexBuffers),
    ETWG_LIMIT(maxBindingsPerBindGroup),
    ETWG_LIMIT(maxDynamicUniformBuffersPerPipelineLayout),
    ETWG_LIMIT(maxDynamicStorageBuffersPerPipelineLayout),
    ETWG_LIMIT(maxSampledTexturesPerShaderStage),
    ETWG_LIMIT(maxSamplersPerShaderStage),
    ETWG_LIMIT(maxStorageBuffersPerShaderStage),
    ETWG_LIMIT(maxStorageTexturesPerShaderStage),
    ETWG_LIMIT(maxUniformBuffersPerShaderStage),
    ETWG_LIMIT(minUniformBufferOffsetAlignment),
    ETWG_LIMIT(minStorageBufferOffsetAlignment),
    ETWG_LIMIT(maxVertexBuffers),
    ETWG_LIMIT(maxVertexAttributes),
    ETWG_LIMIT(maxVertexBufferArrayStride),
    ETWG_LIMIT(maxInterStageShaderVariables),
    ETWG_LIMIT(maxColorAttachments),
    ETWG_LIMIT(maxColorAttachmentBytesPerSample),
    ETWG_LIMIT(maxComputeWorkgroupStorageSize),
    ETWG_LIMIT(maxComputeInvocationsPerWorkgroup),
    ETWG_LIMIT(maxComputeWorkgroupSizeX),
    ETWG_LIMIT(maxComputeWorkgroupSizeY),
    ETWG_LIMIT(maxComputeWorkgroupSizeZ),
    ETWG_LIMIT(maxComputeWorkgroupsPerDimension),
    ETWG_LIMIT(maxImmediateSize),
};

constexpr LimitName<uint64_t> kLimits64[] = {
    ETWG_LIMIT(maxUniformBufferBindingSize),
    ETWG_LIMIT(maxStorageBufferBindingSize),
    ETWG_LIMIT(maxBufferSize),
};

#undef ETWG_LIMIT

// A limit this environment does not know: the feature it limits is not there, so 0.
template <typename T>
T limit(int object, const char* name) {
  const double value = etwg_js_limit(object, name);
  return value < 0 ? T{0} : static_cast<T>(value);
}

WGPUStatus get_limits(int object, WGPULimits* limits) {
  for (const auto& entry : kLimits32) limits->*entry.member = limit<uint32_t>(object, entry.name);
  for (const auto& entry : kLimits64) limits->*entry.member = limit<uint64_t>(object, entry.name);
  return WGPUStatus_Success;
}

WGPUBool has_feature(int object, WGPUFeatureName feature) {
  for (const auto& entry : kFeatures) {
    if (entry.value == feature) return etwg_js_has_feature(object, entry.name);
  }
  return false;
}

template <typename T>
const T* copy(const std::vector<T>& list) {
  T* out = static_cast<T*>(std::malloc(list.size() * sizeof(T)));
  for (size_t i = 0; i < list.size(); ++i) out[i] = list[i];
  return out;
}

void get_features(int object, WGPUSupportedFeatures* features) {
  std::vector<WGPUFeatureName> found;
  for (const auto& entry : kFeatures) {
    if (etwg_js_has_feature(object, entry.name)) found.push_back(entry.value);
  }
  *features = {found.size(), copy(found)};
}

WGPUStatus get_info(int object, WGPUAdapterInfo* info) {
  const auto text = [object](const char* name) {
    return WGPUStringView{etwg_js_info_text(object, name), WGPU_STRLEN};
  };
  info->vendor = text("vendor");
  info->architecture = text("architecture");
  info->device = text("device");
  info->description = text("description");
  info->backendType = WGPUBackendType_WebGPU;
  info->adapterType = etwg_js_info_number(object, "isFallbackAdapter") ? WGPUAdapterType_CPU
                                                                       : WGPUAdapterType_Unknown;
  info->vendorID = 0;
  info->deviceID = 0;
  info->subgroupMinSize = etwg_js_info_number(object, "subgroupMinSize");
  info->subgroupMaxSize = etwg_js_info_number(object, "subgroupMaxSize");
  return WGPUStatus_Success;
}

// {"requiredFeatures": […], "requiredLimits": {…}}. A feature without a name here is passed as one
// that no browser knows, so that the request fails as it would natively.
std::string requirements(const WGPUDeviceDescriptor* descriptor) {
  std::string features;
  std::string limits;
  const auto append = [](std::string& list, const std::string& item) {
    if (!list.empty()) list += ',';
    list += item;
  };
  for (size_t i = 0; descriptor != nullptr && i < descriptor->requiredFeatureCount; ++i) {
    const WGPUFeatureName feature = descriptor->requiredFeatures[i];
    std::string name = "feature-" + std::to_string(feature);
    for (const auto& entry : kFeatures) {
      if (entry.value == feature) name = entry.name;
    }
    append(features, '"' + name + '"');
  }
  if (descriptor != nullptr && descriptor->requiredLimits != nullptr) {
    const WGPULimits& required = *descriptor->requiredLimits;
    const auto add = [&](const char* name, uint64_t value) {
      append(limits, '"' + std::string(name) + "\":" + std::to_string(value));
    };
    for (const auto& entry : kLimits32) {
      const uint32_t value = required.*entry.member;
      // No immediates are the default everywhere, and unknown to browsers without them.
      const bool unset = entry.member == &WGPULimits::maxImmediateSize && value == 0;
      if (value != WGPU_LIMIT_U32_UNDEFINED && !unset) add(entry.name, value);
    }
    for (const auto& entry : kLimits64) {
      const uint64_t value = required.*entry.member;
      if (value != WGPU_LIMIT_U64_UNDEFINED) add(entry.name, value);
    }
  }
  return "{\"requiredFeatures\":[" + features + "],\"requiredLimits\":{" + limits + "}}";
}

}  // namespace

extern "C" {

// There is one instance, navigator.gpu, and it needs no handle of the table: 1 stands for it in
// every function that takes an instance.
WGPUInstance wgpuCreateInstance(const WGPUInstanceDescriptor*) { return handle<WGPUInstance>(1); }
void wgpuInstanceAddRef(WGPUInstance) {}
void wgpuInstanceRelease(WGPUInstance) {}
WGPUBool wgpuHasInstanceFeature(WGPUInstanceFeatureName) { return false; }

WGPUBool wgpuInstanceHasWGSLLanguageFeature(WGPUInstance, WGPUWGSLLanguageFeatureName feature) {
  for (const auto& entry : kLanguageFeatures) {
    if (entry.value == feature) return etwg_js_has_language_feature(entry.name);
  }
  return false;
}

void wgpuInstanceGetWGSLLanguageFeatures(WGPUInstance,
                                         WGPUSupportedWGSLLanguageFeatures* features) {
  std::vector<WGPUWGSLLanguageFeatureName> found;
  for (const auto& entry : kLanguageFeatures) {
    if (etwg_js_has_language_feature(entry.name)) found.push_back(entry.value);
  }
  *features = {found.size(), copy(found)};
}

WGPUFuture wgpuInstanceRequestAdapter(WGPUInstance, const WGPURequestAdapterOptions* options,
                                      WGPURequestAdapterCallbackInfo info) {
  const auto pending = etwg_shim::expect([info](int status, int object, WGPUStringView text) {
    if (info.callback == nullptr) return;
    info.callback(status == 0   ? WGPURequestAdapterStatus_Success
                  : status == 1 ? WGPURequestAdapterStatus_Unavailable
                                : WGPURequestAdapterStatus_Error,
                  handle<WGPUAdapter>(object), text, info.userdata1, info.userdata2);
  });
  const char* power = nullptr;
  if (options != nullptr && options->powerPreference == WGPUPowerPreference_LowPower) {
    power = "low-power";
  }
  if (options != nullptr && options->powerPreference == WGPUPowerPreference_HighPerformance) {
    power = "high-performance";
  }
  etwg_js_request_adapter(pending.id, power, options != nullptr && options->forceFallbackAdapter);
  return pending.future;
}

WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter adapter, const WGPUDeviceDescriptor* descriptor,
                                    WGPURequestDeviceCallbackInfo info) {
  // The descriptor is the caller's and will be gone by then: only what is told later is kept.
  WGPUDeviceDescriptor kept = {};
  if (descriptor != nullptr) {
    kept.deviceLostCallbackInfo = descriptor->deviceLostCallbackInfo;
    kept.uncapturedErrorCallbackInfo = descriptor->uncapturedErrorCallbackInfo;
  }
  const auto pending = etwg_shim::expect([info, kept](int status, int object, WGPUStringView text) {
    if (status == 0) etwg_shim::add_device(object, &kept);
    if (info.callback == nullptr) return;
    info.callback(status == 0 ? WGPURequestDeviceStatus_Success : WGPURequestDeviceStatus_Error,
                  handle<WGPUDevice>(object), text, info.userdata1, info.userdata2);
  });
  const std::string json = requirements(descriptor);
  const etwg_shim::Text label(descriptor != nullptr ? descriptor->label : WGPUStringView{});
  etwg_js_request_device(id(adapter), pending.id, json.c_str(), label.data, label.length);
  return pending.future;
}

WGPUStatus wgpuAdapterGetLimits(WGPUAdapter adapter, WGPULimits* limits) {
  return get_limits(id(adapter), limits);
}
WGPUStatus wgpuDeviceGetLimits(WGPUDevice device, WGPULimits* limits) {
  return get_limits(id(device), limits);
}
WGPUBool wgpuAdapterHasFeature(WGPUAdapter adapter, WGPUFeatureName feature) {
  return has_feature(id(adapter), feature);
}
WGPUBool wgpuDeviceHasFeature(WGPUDevice device, WGPUFeatureName feature) {
  return has_feature(id(device), feature);
}
void wgpuAdapterGetFeatures(WGPUAdapter adapter, WGPUSupportedFeatures* features) {
  get_features(id(adapter), features);
}
void wgpuDeviceGetFeatures(WGPUDevice device, WGPUSupportedFeatures* features) {
  get_features(id(device), features);
}
WGPUStatus wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo* info) {
  return get_info(id(adapter), info);
}
WGPUStatus wgpuDeviceGetAdapterInfo(WGPUDevice device, WGPUAdapterInfo* info) {
  return get_info(id(device), info);
}

void wgpuAdapterInfoFreeMembers(WGPUAdapterInfo info) {
  for (const WGPUStringView& text :
       {info.vendor, info.architecture, info.device, info.description}) {
    std::free(const_cast<char*>(text.data));
  }
}
void wgpuSupportedFeaturesFreeMembers(WGPUSupportedFeatures features) {
  std::free(const_cast<WGPUFeatureName*>(features.features));
}
void wgpuSupportedWGSLLanguageFeaturesFreeMembers(WGPUSupportedWGSLLanguageFeatures features) {
  std::free(const_cast<WGPUWGSLLanguageFeatureName*>(features.features));
}

}  // extern "C"
