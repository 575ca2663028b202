#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "gpu/buffer.h"
#include "gpu/device.h"
#include "gpu/pipeline.h"
#include "plan/plan.h"

namespace executorch::backends::webgpu {

// Hands the bytes of a constant to `use`; they need to stay valid only during that call, so that
// host memory holds one constant at a time. Returns what `use` returns, or its own error.
using ConstantReader =
    std::function<Status(const Constant& constant, const std::function<Status(Bytes)>& use)>;

// The GPU memory of one loaded graph.
class Resources {
 public:
  static Result<Resources> create(Device& device, const Plan& plan);

  // Streams all constants to the GPU; may be called once.
  Status upload_constants(Device& device, const Plan& plan, const ConstantReader& reader);
  // Gives back what only the load stage needed, after it was submitted.
  void release_load_only(const Plan& plan);

  BindingEntry binding(const Place& place) const {
    return {buffers_[place.buffer].handle(), place.offset, place.size};
  }
  WGPUBuffer buffer(const Place& place) const { return buffers_[place.buffer].handle(); }
  const Buffer& params() const { return params_; }

 private:
  std::vector<Buffer> buffers_;  // as Plan::buffers
  Buffer params_;                // the uniform arena
};

}  // namespace executorch::backends::webgpu
