// What a device makes, except buffers: shader modules, layouts, pipelines, bind groups, query sets.

#include <string>
#include <vector>

#include "shim.h"

using etwg_shim::handle;
using etwg_shim::id;
using etwg_shim::OwnedText;
using etwg_shim::Text;

namespace {

WGPUCompilationMessageType message_type(double type) {
  return type == 0   ? WGPUCompilationMessageType_Error
         : type == 1 ? WGPUCompilationMessageType_Warning
                     : WGPUCompilationMessageType_Info;
}

// {"name": value, …} of pipeline constants, whose names are WGSL identifiers or numbers; "" for
// none.
std::string constants_of(const WGPUComputeState& compute) {
  std::string json;
  for (size_t i = 0; i < compute.constantCount; ++i) {
    const Text key(compute.constants[i].key);
    json += (i == 0 ? "{\"" : ",\"") + std::string(key.data, key.length) +
            "\":" + std::to_string(compute.constants[i].value);
  }
  if (!json.empty()) json += '}';
  return json;
}

int buffer_type(WGPUBufferBindingType type) {
  return type == WGPUBufferBindingType_Storage           ? 1
         : type == WGPUBufferBindingType_ReadOnlyStorage ? 2
                                                         : 0;
}

}  // namespace

extern "C" {

WGPUQueue wgpuDeviceGetQueue(WGPUDevice device) {
  return handle<WGPUQueue>(etwg_js_get_queue(id(device)));
}

void wgpuDeviceDestroy(WGPUDevice device) { etwg_js_destroy(id(device)); }

WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice device,
                                              const WGPUShaderModuleDescriptor* descriptor) {
  WGPUStringView code = {};
  for (const WGPUChainedStruct* link = descriptor->nextInChain; link != nullptr;
       link = link->next) {
    if (link->sType == WGPUSType_ShaderSourceWGSL) {
      code = reinterpret_cast<const WGPUShaderSourceWGSL*>(link)->code;
    }
  }
  const Text source(code);
  const Text label(descriptor->label);
  return handle<WGPUShaderModule>(etwg_js_create_shader_module(
      id(device), source.data, source.length, label.data, label.length));
}

WGPUFuture wgpuShaderModuleGetCompilationInfo(WGPUShaderModule module,
                                              WGPUCompilationInfoCallbackInfo info) {
  const auto pending = etwg_shim::expect([info](int status, int count, WGPUStringView) {
    if (info.callback == nullptr) return;
    if (status != 0) {
      info.callback(WGPUCompilationInfoRequestStatus_CallbackCancelled, nullptr, info.userdata1,
                    info.userdata2);
      return;
    }
    std::vector<std::string> texts;
    std::vector<WGPUCompilationMessage> messages;
    texts.reserve(count);  // the messages point into it
    for (int i = 0; i < count; ++i) {
      double numbers[5];
      const OwnedText text(etwg_js_compilation_message(i, numbers));
      texts.emplace_back(text.view().data);
      WGPUCompilationMessage message = {};
      message.message = {texts.back().data(), texts.back().size()};
      message.type = message_type(numbers[0]);
      message.lineNum = static_cast<uint64_t>(numbers[1]);
      message.linePos = static_cast<uint64_t>(numbers[2]);
      message.offset = static_cast<uint64_t>(numbers[3]);
      message.length = static_cast<uint64_t>(numbers[4]);
      messages.push_back(message);
    }
    WGPUCompilationInfo result = {};
    result.messageCount = messages.size();
    result.messages = messages.data();
    info.callback(WGPUCompilationInfoRequestStatus_Success, &result, info.userdata1,
                  info.userdata2);
  });
  etwg_js_compilation_info(id(module), pending.id);
  return pending.future;
}

// Buffer bindings only: others are laid out as buffers and fail validation where they are used.
WGPUBindGroupLayout wgpuDeviceCreateBindGroupLayout(
    WGPUDevice device, const WGPUBindGroupLayoutDescriptor* descriptor) {
  std::vector<double> entries;
  entries.reserve(descriptor->entryCount * 5);
  for (size_t i = 0; i < descriptor->entryCount; ++i) {
    const WGPUBindGroupLayoutEntry& entry = descriptor->entries[i];
    entries.insert(entries.end(),
                   {static_cast<double>(entry.binding), static_cast<double>(entry.visibility),
                    static_cast<double>(buffer_type(entry.buffer.type)),
                    static_cast<double>(entry.buffer.hasDynamicOffset),
                    static_cast<double>(entry.buffer.minBindingSize)});
  }
  const Text label(descriptor->label);
  return handle<WGPUBindGroupLayout>(etwg_js_create_bind_group_layout(
      id(device), entries.data(), static_cast<int>(descriptor->entryCount), label.data,
      label.length));
}

WGPUPipelineLayout wgpuDeviceCreatePipelineLayout(WGPUDevice device,
                                                  const WGPUPipelineLayoutDescriptor* descriptor) {
  std::vector<int> layouts;
  for (size_t i = 0; i < descriptor->bindGroupLayoutCount; ++i) {
    layouts.push_back(id(descriptor->bindGroupLayouts[i]));
  }
  const Text label(descriptor->label);
  return handle<WGPUPipelineLayout>(etwg_js_create_pipeline_layout(
      id(device), layouts.data(), static_cast<int>(layouts.size()), label.data, label.length));
}

WGPUComputePipeline wgpuDeviceCreateComputePipeline(
    WGPUDevice device, const WGPUComputePipelineDescriptor* descriptor) {
  const Text entry(descriptor->compute.entryPoint);
  const Text label(descriptor->label);
  const std::string constants = constants_of(descriptor->compute);
  return handle<WGPUComputePipeline>(etwg_js_create_compute_pipeline(
      id(device), id(descriptor->layout), id(descriptor->compute.module), entry.data, entry.length,
      constants.empty() ? nullptr : constants.c_str(), label.data, label.length));
}

WGPUFuture wgpuDeviceCreateComputePipelineAsync(WGPUDevice device,
                                                const WGPUComputePipelineDescriptor* descriptor,
                                                WGPUCreateComputePipelineAsyncCallbackInfo info) {
  const auto pending = etwg_shim::expect([info](int status, int object, WGPUStringView text) {
    if (info.callback == nullptr) return;
    info.callback(status == 0   ? WGPUCreatePipelineAsyncStatus_Success
                  : status == 1 ? WGPUCreatePipelineAsyncStatus_ValidationError
                                : WGPUCreatePipelineAsyncStatus_InternalError,
                  handle<WGPUComputePipeline>(object), text, info.userdata1, info.userdata2);
  });
  const Text entry(descriptor->compute.entryPoint);
  const Text label(descriptor->label);
  const std::string constants = constants_of(descriptor->compute);
  etwg_js_create_compute_pipeline_async(
      id(device), pending.id, id(descriptor->layout), id(descriptor->compute.module), entry.data,
      entry.length, constants.empty() ? nullptr : constants.c_str(), label.data, label.length);
  return pending.future;
}

WGPUBindGroupLayout wgpuComputePipelineGetBindGroupLayout(WGPUComputePipeline pipeline,
                                                          uint32_t group) {
  return handle<WGPUBindGroupLayout>(
      etwg_js_pipeline_bind_group_layout(id(pipeline), static_cast<int>(group)));
}

WGPUBindGroup wgpuDeviceCreateBindGroup(WGPUDevice device,
                                        const WGPUBindGroupDescriptor* descriptor) {
  std::vector<double> entries;
  entries.reserve(descriptor->entryCount * 4);
  for (size_t i = 0; i < descriptor->entryCount; ++i) {
    const WGPUBindGroupEntry& entry = descriptor->entries[i];
    entries.insert(entries.end(),
                   {static_cast<double>(entry.binding), static_cast<double>(id(entry.buffer)),
                    static_cast<double>(entry.offset),
                    entry.size == WGPU_WHOLE_SIZE ? -1.0 : static_cast<double>(entry.size)});
  }
  const Text label(descriptor->label);
  return handle<WGPUBindGroup>(etwg_js_create_bind_group(
      id(device), id(descriptor->layout), entries.data(), static_cast<int>(descriptor->entryCount),
      label.data, label.length));
}

// Timestamps only; null for the occlusion queries of rendering.
WGPUQuerySet wgpuDeviceCreateQuerySet(WGPUDevice device, const WGPUQuerySetDescriptor* descriptor) {
  if (descriptor->type != WGPUQueryType_Timestamp) return nullptr;
  const Text label(descriptor->label);
  return handle<WGPUQuerySet>(etwg_js_create_query_set(
      id(device), static_cast<int>(descriptor->count), label.data, label.length));
}

void wgpuQuerySetDestroy(WGPUQuerySet query_set) { etwg_js_destroy(id(query_set)); }

}  // extern "C"
