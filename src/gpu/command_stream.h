#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "gpu/device.h"
#include "gpu/handle.h"
#include "gpu/timestamps.h"

namespace executorch::backends::webgpu {

// Records one command buffer and submits it. Holds the device's lock from begin to submit, so
// record without waiting for anything in between. Use by one thread. Nothing is allocated in
// dispatch and copy beyond what WebGPU itself does.
class CommandStream {
 public:
  // With `timestamps` each dispatch is a compute pass of its own, one span each (those beyond the
  // capacity are not measured). `timestamps` and the device must outlive the stream.
  static Result<CommandStream> begin(Device& device, std::string_view label,
                                     Timestamps* timestamps = nullptr);
  CommandStream(CommandStream&&) = default;
  CommandStream& operator=(CommandStream&&) = delete;
  ~CommandStream();

  // Workgroup counts must not be over max_workgroups_per_dimension; a count of 0 runs nothing.
  // The pipeline must have been compiled.
  void dispatch(WGPUComputePipeline pipeline, WGPUBindGroup bind_group, uint32_t x, uint32_t y = 1,
                uint32_t z = 1);
  // Offsets and size are multiples of 4; source and target are different buffers. Ends the
  // current compute pass.
  void copy(WGPUBuffer source, uint64_t source_offset, WGPUBuffer target, uint64_t target_offset,
            uint64_t size);
  // Zeroes; offset and size are multiples of 4. Ends the current compute pass.
  void clear(WGPUBuffer target, uint64_t offset, uint64_t size);

  uint32_t dispatch_count() const { return dispatch_count_; }

  // Ends recording, submits, and gives up the device's lock. An error of recording is returned
  // here natively; where blocking is impossible it appears in the device's errors. Once only.
  Status submit();

 private:
  CommandStream() = default;
  void end_pass();

  Device* device_ = nullptr;
  Timestamps* timestamps_ = nullptr;
  std::unique_ptr<ErrorScope> scope_;  // holds the lock
  Handle<WGPUCommandEncoder> encoder_;
  Handle<WGPUComputePassEncoder> pass_;
  WGPUComputePipeline pipeline_ = nullptr;  // set on the current pass
  WGPUBindGroup bind_group_ = nullptr;      // set on the current pass
  uint32_t dispatch_count_ = 0;
};

}  // namespace executorch::backends::webgpu
