#include "gpu/timestamps.h"

#include <algorithm>
#include <cstring>

namespace executorch::backends::webgpu {
namespace {

constexpr uint32_t kSetQueries = 4096;  // WebGPU's limit for one query set
constexpr uint32_t kSetSpans = kSetQueries / 2;
constexpr uint64_t kQueryBytes = 8;
constexpr uint32_t kResolveAlignment = 256 / kQueryBytes;  // queries; of a resolve's target

}  // namespace

Result<Timestamps> Timestamps::create(Device& device, uint32_t max_spans) {
  if (!device.capabilities().timestamps) {
    return fail(ErrorCode::kNotSupported, "GPU \"{}\" has no timestamp queries",
                device.adapter().name);
  }
  Timestamps out;
  out.capacity_ = max_spans;
  const uint64_t sets = (static_cast<uint64_t>(max_spans) + kSetSpans - 1) / kSetSpans;
  const uint64_t bytes = sets * kSetQueries * kQueryBytes;
  for (uint64_t i = 0; i < sets; ++i) {
    ErrorScope scope(device, "timestamp query set");
    WGPUQuerySetDescriptor descriptor = {};
    descriptor.label = view("timestamps");
    descriptor.type = WGPUQueryType_Timestamp;
    descriptor.count = kSetQueries;
    out.sets_.emplace_back(wgpuDeviceCreateQuerySet(device.handle(), &descriptor));
    ETWG_TRY(scope.finish());
  }
  ETWG_ASSIGN(out.resolved_buffer_,
              Buffer::create(device, bytes, WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc,
                             "resolved timestamps"));
  ETWG_ASSIGN(out.readback_, Readback::create(device, bytes, "timestamps"));
  return out;
}

void Timestamps::reset() {
  count_ = resolved_ = 0;
  readback_.unmap();
}

bool Timestamps::next(WGPUPassTimestampWrites& out) {
  if (count_ == capacity_) return false;
  const uint32_t query = count_ % kSetSpans * 2;
  out.querySet = sets_[count_ / kSetSpans].get();
  out.beginningOfPassWriteIndex = query;
  out.endOfPassWriteIndex = query + 1;
  ++count_;
  return true;
}

void Timestamps::resolve(WGPUCommandEncoder encoder) {
  while (resolved_ < count_) {
    const uint32_t set = resolved_ / kSetSpans;
    const uint32_t end = std::min(count_, (set + 1) * kSetSpans);
    // A resolve starts at an aligned query, so some may be resolved again, to the same value.
    const uint32_t first = resolved_ % kSetSpans * 2 / kResolveAlignment * kResolveAlignment;
    const uint32_t queries = (end - set * kSetSpans) * 2 - first;
    const uint64_t offset = (static_cast<uint64_t>(set) * kSetQueries + first) * kQueryBytes;
    wgpuCommandEncoderResolveQuerySet(encoder, sets_[set].get(), first, queries,
                                      resolved_buffer_.handle(), offset);
    wgpuCommandEncoderCopyBufferToBuffer(encoder, resolved_buffer_.handle(), offset,
                                         readback_.buffer(), offset, queries * kQueryBytes);
    resolved_ = end;
  }
}

Completion Timestamps::map() { return readback_.map(uint64_t{count_} * 2 * kQueryBytes); }

Result<std::vector<Timestamps::Span>> Timestamps::read() {
  std::vector<Span> out(count_);
  ETWG_ASSIGN(const auto bytes, readback_.data());
  // Sets are full but for the last, so spans lie side by side in the read-back buffer.
  static_assert(sizeof(Span) == 2 * kQueryBytes);
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(Span));
  readback_.unmap();
  return out;
}

}  // namespace executorch::backends::webgpu
