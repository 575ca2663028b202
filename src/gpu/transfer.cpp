#include "gpu/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "gpu/command_stream.h"

namespace executorch::backends::webgpu {

#if ETWG_CAN_BLOCK

Status Uploader::open_chunk() {
  Chunk& chunk = chunks_[current_];
  if (chunk.data != nullptr) return {};
  if (!chunk.buffer) {
    ETWG_ASSIGN(chunk.buffer,
                Buffer::create_mapped(*device_, kChunkBytes,
                                      WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc,
                                      "upload staging"));
  } else if (Status mapped = chunk.mapped.wait(); !mapped) {
    ETWG_TRY(device_->health());
    return mapped;
  }
  chunk.data = chunk.buffer.mapped_data();
  if (chunk.data == nullptr) {
    return fail(ErrorCode::kOutOfMemory, "the upload staging buffer could not be mapped");
  }
  return {};
}

Status Uploader::write(const Buffer& target, uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    ETWG_TRY(open_chunk());
    const size_t size = std::min<size_t>(data.size(), kChunkBytes - used_);
    const size_t padded = round_up(size, 4);
    std::byte* staged = chunks_[current_].data + used_;
    std::memcpy(staged, data.data(), size);
    std::memset(staged + size, 0, padded - size);
    copies_.push_back({target.handle(), offset, used_, padded});
    used_ += padded;
    offset += padded;
    data = data.subspan(size);
    if (used_ == kChunkBytes) ETWG_TRY(flush());
  }
  return {};
}

Status Uploader::flush() {
  if (copies_.empty()) return {};
  Chunk& chunk = chunks_[current_];
  chunk.buffer.unmap();
  chunk.data = nullptr;
  ETWG_ASSIGN(CommandStream stream, CommandStream::begin(*device_, "upload"));
  for (const Copy& copy : copies_) {
    stream.copy(chunk.buffer.handle(), copy.chunk_offset, copy.target, copy.target_offset,
                copy.size);
  }
  copies_.clear();
  used_ = 0;
  ETWG_TRY(stream.submit());
  chunk.mapped = map_async(*device_, chunk.buffer, WGPUMapMode_Write, kChunkBytes);
  current_ ^= 1;
  return {};
}

#else

// Nothing may wait for a chunk here; the browser stages the bytes itself.
Status Uploader::write(const Buffer& target, uint64_t offset, std::span<const std::byte> data) {
  const auto guard = device_->lock();
  while (data.size() >= 4) {
    const size_t size = std::min<size_t>(data.size() / 4 * 4, kChunkBytes);
    wgpuQueueWriteBuffer(device_->queue(), target.handle(), offset, data.data(), size);
    offset += size;
    data = data.subspan(size);
  }
  if (!data.empty()) {
    std::byte tail[4] = {};
    std::memcpy(tail, data.data(), data.size());
    wgpuQueueWriteBuffer(device_->queue(), target.handle(), offset, tail, sizeof(tail));
  }
  return device_->health();
}

Status Uploader::flush() { return device_->health(); }

#endif

Result<std::span<std::byte>> StagingRing::acquire() {
  constexpr size_t kMaxSlots = 3;
  while (current_ == nullptr) {
    if (!slots_.empty() && !slots_.front()->mapped.ready()) device_->poll();
    const bool ready = !slots_.empty() && slots_.front()->mapped.ready();
    if (!ready && (slots_.size() < kMaxSlots || !ETWG_CAN_BLOCK)) {
      auto slot = std::make_unique<Slot>();
      ETWG_ASSIGN(slot->buffer,
                  Buffer::create_mapped(
                      *device_, size_, WGPUBufferUsage_MapWrite | WGPUBufferUsage_CopySrc, label_));
      current_ = std::move(slot);
      break;
    }
    std::unique_ptr<Slot> slot = std::move(slots_.front());
    slots_.erase(slots_.begin());
    if (slot->mapped.wait()) {
      current_ = std::move(slot);
    } else {
      ETWG_TRY(device_->health());  // else: a fresh buffer takes the place of this one
    }
  }
  std::byte* data = current_->buffer.mapped_data();
  if (data == nullptr) {
    current_.reset();
    ETWG_TRY(device_->health());
    return fail(ErrorCode::kOutOfMemory, "staging buffer \"{}\" of {} bytes could not be mapped",
                label_, size_);
  }
  return std::span<std::byte>(data, static_cast<size_t>(size_));
}

WGPUBuffer StagingRing::seal() {
  current_->buffer.unmap();
  return current_->buffer.handle();
}

void StagingRing::recycle() {
  if (current_ == nullptr) return;
  current_->mapped =
      map_async(*device_, current_->buffer, WGPUMapMode_Write, current_->buffer.size());
  slots_.push_back(std::move(current_));
}

Result<Readback> Readback::create(Device& device, uint64_t size, std::string_view label) {
  Readback out;
  out.device_ = &device;
  ETWG_ASSIGN(
      out.buffer_,
      Buffer::create(device, size, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, label));
  return out;
}

Completion Readback::map(uint64_t size) {
  mapped_ = size;
  return map_async(*device_, buffer_, WGPUMapMode_Read, size);
}

Result<std::span<const std::byte>> Readback::data() const {
  const auto size = static_cast<size_t>(mapped_);
  if (size == 0) return std::span<const std::byte>();
  const void* data =
      wgpuBufferGetConstMappedRange(buffer_.handle(), 0, static_cast<size_t>(round_up(mapped_, 4)));
  if (data == nullptr) {
    ETWG_TRY(device_->health());
    return fail(ErrorCode::kInternal, "the outputs were read before their buffer was mapped");
  }
  return std::span<const std::byte>(static_cast<const std::byte*>(data), size);
}

void Readback::unmap() {
  buffer_.unmap();
  mapped_ = 0;
}

}  // namespace executorch::backends::webgpu
