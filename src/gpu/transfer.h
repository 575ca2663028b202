#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/buffer.h"
#include "gpu/completion.h"
#include "gpu/device.h"

namespace executorch::backends::webgpu {

// Streams constants of any size to the GPU through two staging chunks, so that host memory grows
// by the chunks only. Use by one thread; the Device must outlive it.
class Uploader {
 public:
  static constexpr uint64_t kChunkBytes = 8ull << 20;

  explicit Uploader(Device& device) : device_(&device) {}
  Uploader(Uploader&&) = default;
  Uploader& operator=(Uploader&&) = default;

  // Copies `data` to `target` at `offset` (a multiple of 4; the target needs CopyDst and room for
  // the size rounded up to 4, the padding being zero). The bytes have been read when it returns,
  // they may not have arrived yet. Blocks while both chunks are in flight (natively).
  Status write(const Buffer& target, uint64_t offset, std::span<const std::byte> data);

  // Submits what is left. What is submitted to the queue later sees every write.
  Status flush();

 private:
  struct Copy {
    WGPUBuffer target;
    uint64_t target_offset, chunk_offset, size;
  };
  struct Chunk {
    Buffer buffer;
    Completion mapped = Completion::done();
    std::byte* data = nullptr;  // null while in flight
  };
  Status open_chunk();

  Device* device_;
  Chunk chunks_[2];
  int current_ = 0;
  uint64_t used_ = 0;  // bytes of the current chunk
  std::vector<Copy> copies_;
};

// The inputs of a run: one mapped staging buffer, filled by the host, copied from by the run's
// commands and mapped again behind the run. A ring of up to three, so that runs can overlap.
// Use by one thread; the Device must outlive it.
//
//   auto bytes = ring.acquire();  memcpy(bytes->data(), ...);
//   WGPUBuffer source = ring.seal();  stream.copy(source, ...);  stream.submit();
//   ring.recycle();
class StagingRing {
 public:
  // `size` is the bytes of one run's inputs.
  StagingRing(Device& device, uint64_t size, std::string label)
      : device_(&device), size_(size), label_(std::move(label)) {}

  // Mapped memory of `size` bytes. Waits for the oldest run when all buffers are in flight; where
  // blocking is impossible the ring grows instead.
  Result<std::span<std::byte>> acquire();
  // Ends writing; the buffer can now be the source of recorded copies.
  WGPUBuffer seal();
  // To be called after the submit that copies from the sealed buffer (or when it was given up).
  void recycle();

 private:
  struct Slot {
    Buffer buffer;
    Completion mapped = Completion::done();
  };
  Device* device_;
  uint64_t size_;
  std::string label_;
  std::vector<std::unique_ptr<Slot>> slots_;  // in the order of their last use, oldest first
  std::unique_ptr<Slot> current_;
};

// The outputs of a run: one buffer the GPU copies to and the host maps.
class Readback {
 public:
  static Result<Readback> create(Device& device, uint64_t size, std::string_view label);

  WGPUBuffer buffer() const { return buffer_.handle(); }
  uint64_t size() const { return buffer_.size(); }

  // Starts mapping the first `size` bytes, to be called after the submit that fills them.
  // Only one mapping at a time; the Readback must stay until it finishes.
  Completion map(uint64_t size);
  // The bytes, once the mapping is finished and until unmap.
  Result<std::span<const std::byte>> data() const;
  void unmap();

 private:
  Device* device_ = nullptr;
  Buffer buffer_;
  uint64_t mapped_ = 0;
};

}  // namespace executorch::backends::webgpu
