#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "gpu/completion.h"
#include "gpu/device.h"
#include "gpu/handle.h"

namespace executorch::backends::webgpu {

enum class BindingKind : uint8_t {
  kReadOnlyStorage,  // var<storage, read>
  kStorage,          // var<storage, read_write>
  kUniform,          // var<uniform>; its offset is part of the bind group
};

struct PipelineDesc {
  std::string_view label;   // the kernel's name, for error messages
  std::string_view source;  // whole WGSL module
  std::string_view entry_point = "main";
  std::span<const BindingKind> bindings = {};  // of group 0: binding i has kind bindings[i]
};

// A compute pipeline that may still be compiling.
class Pipeline {
 public:
  const std::string& label() const { return label_; }
  // Finishes when it is compiled; its error has the compiler's message and the label.
  const Completion& compiled() const { return compiled_; }
  // Null until `compiled` has finished with success.
  WGPUComputePipeline handle() const { return pipeline_.get(); }
  WGPUBindGroupLayout bind_layout() const { return bind_layout_; }
  size_t binding_count() const { return binding_count_; }

 private:
  friend class PipelineCache;
  struct Build;
  std::string label_;
  Completion compiled_;
  Handle<WGPUShaderModule> module_;  // kept, so that no compiler thread frees it (see wait_all)
  Handle<WGPUComputePipeline> pipeline_;
  WGPUBindGroupLayout bind_layout_ = nullptr;  // owned by the cache
  size_t binding_count_ = 0;
};

// The device's pipelines, keyed by source, entry point and bindings. Thread-safe.
class PipelineCache {
 public:
  explicit PipelineCache(Device& device) : device_(device) {}

  // The pipeline for `desc`; starts compiling it if it is new. Compilations run in parallel: ask
  // for all of a graph's first, then wait for each. A pipeline whose compilation failed is tried
  // again at the next call.
  Result<std::shared_ptr<Pipeline>> get(const PipelineDesc& desc);

  size_t size() const;

  // Waits for every compilation that is still running. Dawn deadlocks when a device is destroyed
  // meanwhile, so the Device calls this first.
  void wait_all() const;

 private:
  struct Layout {
    Handle<WGPUBindGroupLayout> bind;
    Handle<WGPUPipelineLayout> pipeline;
  };
  Result<Layout*> layout(std::span<const BindingKind> bindings);

  Device& device_;  // whose lock guards what follows
  std::map<std::vector<BindingKind>, Layout> layouts_;
  std::unordered_map<std::string, std::shared_ptr<Pipeline>> pipelines_;
};

struct BindingEntry {
  WGPUBuffer buffer;
  uint64_t offset = 0;
  uint64_t size = WGPU_WHOLE_SIZE;
};

// Binds entries[i] to binding i of the pipeline's group 0. The pipeline need not be compiled yet.
Result<Handle<WGPUBindGroup>> create_bind_group(Device& device, const Pipeline& pipeline,
                                                std::span<const BindingEntry> entries,
                                                std::string_view label);

}  // namespace executorch::backends::webgpu
