#pragma once

#include <utility>

#include "gpu/api.h"

namespace executorch::backends::webgpu {

template <typename T>
struct HandleTraits;

#define ETWG_HANDLE_TRAITS(Name)                                            \
  template <>                                                               \
  struct HandleTraits<WGPU##Name> {                                         \
    static void release(WGPU##Name object) { wgpu##Name##Release(object); } \
  }

ETWG_HANDLE_TRAITS(Instance);
ETWG_HANDLE_TRAITS(Adapter);
ETWG_HANDLE_TRAITS(Device);
ETWG_HANDLE_TRAITS(Queue);
ETWG_HANDLE_TRAITS(Buffer);
ETWG_HANDLE_TRAITS(ShaderModule);
ETWG_HANDLE_TRAITS(BindGroupLayout);
ETWG_HANDLE_TRAITS(PipelineLayout);
ETWG_HANDLE_TRAITS(ComputePipeline);
ETWG_HANDLE_TRAITS(BindGroup);
ETWG_HANDLE_TRAITS(CommandEncoder);
ETWG_HANDLE_TRAITS(ComputePassEncoder);
ETWG_HANDLE_TRAITS(CommandBuffer);
ETWG_HANDLE_TRAITS(QuerySet);

#undef ETWG_HANDLE_TRAITS

// Owns one reference to a WebGPU object; move-only, releases on destruction.
template <typename T>
class Handle {
 public:
  Handle() = default;
  // Takes over the reference that a wgpu...Create... call returned.
  explicit Handle(T object) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) reset(std::exchange(other.object_, nullptr));
    return *this;
  }
  ~Handle() { reset(); }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

  void reset(T object = nullptr) {
    if (object_ != nullptr) HandleTraits<T>::release(object_);
    object_ = object;
  }

 private:
  T object_ = nullptr;
};

}  // namespace executorch::backends::webgpu
