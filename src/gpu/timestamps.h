#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/buffer.h"
#include "gpu/device.h"
#include "gpu/handle.h"
#include "gpu/transfer.h"

namespace executorch::backends::webgpu {

// When each compute pass of a profiled run began and ended on the GPU.
class Timestamps {
 public:
  struct Span {
    uint64_t begin_ns, end_ns;  // on the GPU's own clock
  };

  // Room for `max_spans` passes; kNotSupported if the device has no timestamps.
  static Result<Timestamps> create(Device& device, uint32_t max_spans);

  uint32_t count() const { return count_; }
  // Forgets the spans and a read-back that was started, for the next run.
  void reset();

  // After the last submit: starts the read-back. The Timestamps must stay until it finishes.
  Completion map();
  // The spans in the order they were recorded, once `map` has finished; unmaps.
  Result<std::vector<Span>> read();

  // For CommandStream: the writes of the next pass; false when there is no room left.
  bool next(WGPUPassTimestampWrites& out);
  // For CommandStream: records the copy of what was written since the last call to the host.
  void resolve(WGPUCommandEncoder encoder);

 private:
  std::vector<Handle<WGPUQuerySet>> sets_;  // of kSetQueries queries
  Buffer resolved_buffer_;
  Readback readback_;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;     // spans handed out
  uint32_t resolved_ = 0;  // of those, resolved
};

}  // namespace executorch::backends::webgpu
