#include "gpu/buffer.h"

#include <memory>
#include <string>
#include <utility>

#include "base/checked.h"

namespace executorch::backends::webgpu {

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    if (buffer_) wgpuBufferDestroy(buffer_.get());
    buffer_ = std::move(other.buffer_);
    size_ = other.size_;
  }
  return *this;
}

Buffer::~Buffer() {
  if (buffer_) wgpuBufferDestroy(buffer_.get());
}

Result<Buffer> Buffer::create(Device& device, uint64_t size, WGPUBufferUsage usage,
                              std::string_view label, bool mapped) {
  const uint64_t limit = device.capabilities().max_buffer_size;
  if (size > limit) {
    return fail(ErrorCode::kOutOfMemory,
                "buffer \"{}\" needs {} bytes, more than the {} that GPU \"{}\" allows in one "
                "buffer",
                label, size, limit, device.adapter().name);
  }
  WGPUBufferDescriptor descriptor = {};
  descriptor.label = view(label);
  descriptor.usage = usage;
  descriptor.size = size == 0 ? 4 : round_up(size, 4);
  descriptor.mappedAtCreation = mapped;

  const std::string what = fmt::format("buffer \"{}\" of {} bytes", label, size);
  ErrorScope scope(device, what);
  Buffer out;
  out.buffer_ = Handle<WGPUBuffer>(wgpuDeviceCreateBuffer(device.handle(), &descriptor));
  out.size_ = descriptor.size;
  ETWG_TRY(scope.finish());
  if (!out.buffer_) return fail(ErrorCode::kOutOfMemory, "{} could not be allocated", what);
  if (mapped && out.mapped_data() == nullptr) {
    ETWG_TRY(device.health());
    return fail(ErrorCode::kOutOfMemory, "{} could not be mapped", what);
  }
  return out;
}

Result<Buffer> Buffer::create(Device& device, uint64_t size, WGPUBufferUsage usage,
                              std::string_view label) {
  return create(device, size, usage, label, false);
}

Result<Buffer> Buffer::create_mapped(Device& device, uint64_t size, WGPUBufferUsage usage,
                                     std::string_view label) {
  return create(device, size, usage, label, true);
}

void Buffer::write(Device& device, std::span<const std::byte> bytes) const {
  const auto guard = device.lock();
  wgpuQueueWriteBuffer(device.queue(), buffer_.get(), 0, bytes.data(), bytes.size());
}

std::byte* Buffer::mapped_data() const {
  return static_cast<std::byte*>(
      wgpuBufferGetMappedRange(buffer_.get(), 0, static_cast<size_t>(size_)));
}

void Buffer::unmap() const { wgpuBufferUnmap(buffer_.get()); }

Completion map_async(Device& device, const Buffer& buffer, WGPUMapMode mode, uint64_t size) {
  Completion completion;
  WGPUBufferMapCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = new Completion(completion);
  info.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* userdata, void*) {
    std::unique_ptr<Completion> done(static_cast<Completion*>(userdata));
    if (status == WGPUMapAsyncStatus_Success) {
      done->finish({});
    } else {
      done->finish(
          fail(ErrorCode::kInternal, "mapping a GPU buffer failed: {}", to_string(message)));
    }
  };
  const auto guard = device.lock();
  completion.add_future(
      wgpuBufferMapAsync(buffer.handle(), mode, 0, static_cast<size_t>(round_up(size, 4)), info));
  return completion;
}

}  // namespace executorch::backends::webgpu
