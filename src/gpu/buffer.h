#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "gpu/device.h"
#include "gpu/handle.h"

namespace executorch::backends::webgpu {

// GPU memory. Destroyed (not just released) with the object, so that memory returns at once; the
// caller keeps it until the work that uses it was submitted.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  // Zero-filled memory of `size` bytes, rounded up to a multiple of 4 and at least 4.
  // kOutOfMemory, naming label, size and limit, when it is over the device's limits or refused.
  static Result<Buffer> create(Device& device, uint64_t size, WGPUBufferUsage usage,
                               std::string_view label);
  // The same, mapped for writing: fill mapped_data(), then unmap() before the GPU uses it.
  static Result<Buffer> create_mapped(Device& device, uint64_t size, WGPUBufferUsage usage,
                                      std::string_view label);

  WGPUBuffer handle() const { return buffer_.get(); }
  uint64_t size() const { return size_; }
  explicit operator bool() const { return static_cast<bool>(buffer_); }

  // Copies `bytes` (a multiple of 4 of them) to the buffer's beginning; what is submitted later
  // sees them. They have been read when it returns.
  void write(Device& device, std::span<const std::byte> bytes) const;

  // The whole buffer's mapped bytes for writing; null when it is not mapped.
  std::byte* mapped_data() const;
  void unmap() const;

 private:
  static Result<Buffer> create(Device& device, uint64_t size, WGPUBufferUsage usage,
                               std::string_view label, bool mapped);

  Handle<WGPUBuffer> buffer_;
  uint64_t size_ = 0;
};

// Starts mapping `size` bytes from offset 0 of a MapRead or MapWrite buffer. The buffer must live
// until it finishes (destroying it finishes it with an error).
Completion map_async(Device& device, const Buffer& buffer, WGPUMapMode mode, uint64_t size);

}  // namespace executorch::backends::webgpu
