#include "gpu/pipeline.h"

#include <utility>

namespace executorch::backends::webgpu {
namespace {

std::string cache_key(const PipelineDesc& desc) {
  std::string key;
  key.reserve(desc.source.size() + desc.entry_point.size() + desc.bindings.size() + 2);
  for (BindingKind kind : desc.bindings) key += static_cast<char>('0' + static_cast<int>(kind));
  key += '\0';
  key += desc.entry_point;
  key += '\0';
  key += desc.source;
  return key;
}

WGPUBufferBindingType binding_type(BindingKind kind) {
  switch (kind) {
    case BindingKind::kReadOnlyStorage:
      return WGPUBufferBindingType_ReadOnlyStorage;
    case BindingKind::kStorage:
      return WGPUBufferBindingType_Storage;
    case BindingKind::kUniform:
      return WGPUBufferBindingType_Uniform;
  }
  return WGPUBufferBindingType_Undefined;
}

}  // namespace

// One compilation, as its callback knows it.
struct Pipeline::Build {
  std::shared_ptr<Pipeline> pipeline;
  Completion module;  // the module's own errors: they have the source line, so they go first

  void finish(Handle<WGPUComputePipeline> compiled, Status status) {
    if (status) pipeline->pipeline_ = std::move(compiled);
    module.on_done([target = pipeline, status = std::move(status)](const Status& parsed) {
      target->compiled_.finish(parsed ? status : parsed);
    });
  }
};

Result<PipelineCache::Layout*> PipelineCache::layout(std::span<const BindingKind> bindings) {
  std::vector<BindingKind> key(bindings.begin(), bindings.end());
  if (auto found = layouts_.find(key); found != layouts_.end()) return &found->second;

  std::vector<WGPUBindGroupLayoutEntry> entries(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = binding_type(bindings[i]);
  }
  WGPUBindGroupLayoutDescriptor bind = {};
  bind.entryCount = entries.size();
  bind.entries = entries.data();

  ErrorScope scope(device_, fmt::format("bind group layout of {} bindings", bindings.size()));
  Layout layout;
  layout.bind.reset(wgpuDeviceCreateBindGroupLayout(device_.handle(), &bind));
  const WGPUBindGroupLayout groups[] = {layout.bind.get()};
  WGPUPipelineLayoutDescriptor pipeline = {};
  pipeline.bindGroupLayoutCount = 1;
  pipeline.bindGroupLayouts = groups;
  layout.pipeline.reset(wgpuDeviceCreatePipelineLayout(device_.handle(), &pipeline));
  ETWG_TRY(scope.finish());
  return &layouts_.emplace(std::move(key), std::move(layout)).first->second;
}

Result<std::shared_ptr<Pipeline>> PipelineCache::get(const PipelineDesc& desc) {
  const auto guard = device_.lock();
  std::string key = cache_key(desc);
  if (auto found = pipelines_.find(key); found != pipelines_.end()) {
    const Completion& compiled = found->second->compiled();
    if (!compiled.ready() || compiled.wait()) return found->second;
    pipelines_.erase(found);
  }
  ETWG_TRY(device_.health());
  Result<Layout*> layout = this->layout(desc.bindings);
  if (!layout) return context(fmt::format("kernel \"{}\"", desc.label), layout.error());

  auto pipeline = std::make_shared<Pipeline>();
  pipeline->label_ = desc.label;
  pipeline->bind_layout_ = (*layout)->bind.get();
  pipeline->binding_count_ = desc.bindings.size();

  ErrorScope scope(device_, fmt::format("kernel \"{}\"", desc.label));
  WGPUShaderSourceWGSL source = {};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(desc.source);
  WGPUShaderModuleDescriptor module_descriptor = {};
  module_descriptor.nextInChain = &source.chain;
  module_descriptor.label = view(desc.label);
  pipeline->module_.reset(wgpuDeviceCreateShaderModule(device_.handle(), &module_descriptor));
  const Completion parsed = scope.finish_async();
  // Where its outcome is known at once there is nothing to compile after an error.
  if ((ETWG_CAN_BLOCK || parsed.ready()) && !parsed.wait()) {
    pipeline->compiled_.finish(parsed.wait());
    return pipeline;
  }

  WGPUComputePipelineDescriptor descriptor = {};
  descriptor.label = view(desc.label);
  descriptor.layout = (*layout)->pipeline.get();
  descriptor.compute.module = pipeline->module_.get();
  descriptor.compute.entryPoint = view(desc.entry_point);

  WGPUCreateComputePipelineAsyncCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = new Pipeline::Build{pipeline, parsed};
  info.callback = [](WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline compiled,
                     WGPUStringView message, void* userdata, void*) {
    std::unique_ptr<Pipeline::Build> build(static_cast<Pipeline::Build*>(userdata));
    Handle<WGPUComputePipeline> handle(compiled);
    if (status == WGPUCreatePipelineAsyncStatus_Success) {
      build->finish(std::move(handle), {});
    } else {
      build->finish({}, fail(ErrorCode::kInternal, "kernel \"{}\": {}", build->pipeline->label(),
                             to_string(message)));
    }
  };
  pipeline->compiled_.add_future(
      wgpuDeviceCreateComputePipelineAsync(device_.handle(), &descriptor, info));
  pipelines_.emplace(std::move(key), pipeline);
  return pipeline;
}

size_t PipelineCache::size() const {
  const auto guard = device_.lock();
  return pipelines_.size();
}

void PipelineCache::wait_all() const {
#if ETWG_CAN_BLOCK
  std::vector<Completion> running;
  {
    const auto guard = device_.lock();
    for (const auto& [key, pipeline] : pipelines_) running.push_back(pipeline->compiled());
  }
  for (const Completion& compiled : running) compiled.wait();
#endif
}

Result<Handle<WGPUBindGroup>> create_bind_group(Device& device, const Pipeline& pipeline,
                                                std::span<const BindingEntry> entries,
                                                std::string_view label) {
  if (entries.size() != pipeline.binding_count()) {
    return fail(ErrorCode::kInternal, "bind group \"{}\" has {} entries, kernel \"{}\" takes {}",
                label, entries.size(), pipeline.label(), pipeline.binding_count());
  }
  std::vector<WGPUBindGroupEntry> list(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    list[i].binding = static_cast<uint32_t>(i);
    list[i].buffer = entries[i].buffer;
    list[i].offset = entries[i].offset;
    list[i].size = entries[i].size;
  }
  WGPUBindGroupDescriptor descriptor = {};
  descriptor.label = view(label);
  descriptor.layout = pipeline.bind_layout();
  descriptor.entryCount = list.size();
  descriptor.entries = list.data();
  ErrorScope scope(device,
                   fmt::format("bind group \"{}\" of kernel \"{}\"", label, pipeline.label()));
  Handle<WGPUBindGroup> out(wgpuDeviceCreateBindGroup(device.handle(), &descriptor));
  ETWG_TRY(scope.finish());
  return out;
}

}  // namespace executorch::backends::webgpu
