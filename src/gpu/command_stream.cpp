#include "gpu/command_stream.h"

#include <utility>

namespace executorch::backends::webgpu {

Result<CommandStream> CommandStream::begin(Device& device, std::string_view label,
                                           Timestamps* timestamps) {
  ETWG_TRY(device.health());
  CommandStream out;
  out.device_ = &device;
  out.timestamps_ = timestamps;
  out.scope_ = std::make_unique<ErrorScope>(device, fmt::format("commands \"{}\"", label));
  WGPUCommandEncoderDescriptor descriptor = {};
  descriptor.label = view(label);
  out.encoder_.reset(wgpuDeviceCreateCommandEncoder(device.handle(), &descriptor));
  return out;
}

// A stream that was not submitted leaves no trace but the errors its scope caught, which nobody
// wants to hear of then.
CommandStream::~CommandStream() { end_pass(); }

void CommandStream::end_pass() {
  if (!pass_) return;
  wgpuComputePassEncoderEnd(pass_.get());
  pass_.reset();
  pipeline_ = nullptr;
  bind_group_ = nullptr;
}

void CommandStream::dispatch(WGPUComputePipeline pipeline, WGPUBindGroup bind_group, uint32_t x,
                             uint32_t y, uint32_t z) {
  if (x == 0 || y == 0 || z == 0) return;
  if (timestamps_ != nullptr) end_pass();
  if (!pass_) {
    WGPUPassTimestampWrites writes = {};
    WGPUComputePassDescriptor descriptor = {};
    if (timestamps_ != nullptr && timestamps_->next(writes)) descriptor.timestampWrites = &writes;
    pass_.reset(wgpuCommandEncoderBeginComputePass(encoder_.get(), &descriptor));
  }
  if (pipeline != pipeline_) {
    wgpuComputePassEncoderSetPipeline(pass_.get(), pipeline);
    pipeline_ = pipeline;
  }
  if (bind_group != bind_group_) {
    wgpuComputePassEncoderSetBindGroup(pass_.get(), 0, bind_group, 0, nullptr);
    bind_group_ = bind_group;
  }
  wgpuComputePassEncoderDispatchWorkgroups(pass_.get(), x, y, z);
  ++dispatch_count_;
}

void CommandStream::copy(WGPUBuffer source, uint64_t source_offset, WGPUBuffer target,
                         uint64_t target_offset, uint64_t size) {
  if (size == 0) return;
  end_pass();
  wgpuCommandEncoderCopyBufferToBuffer(encoder_.get(), source, source_offset, target, target_offset,
                                       size);
}

void CommandStream::clear(WGPUBuffer target, uint64_t offset, uint64_t size) {
  if (size == 0) return;
  end_pass();
  wgpuCommandEncoderClearBuffer(encoder_.get(), target, offset, size);
}

Status CommandStream::submit() {
  if (scope_ == nullptr) {
    return fail(ErrorCode::kInternal, "a command stream was submitted twice");
  }
  end_pass();
  if (timestamps_ != nullptr) timestamps_->resolve(encoder_.get());
  const Handle<WGPUCommandBuffer> commands(wgpuCommandEncoderFinish(encoder_.get(), nullptr));
  const WGPUCommandBuffer list[] = {commands.get()};
  wgpuQueueSubmit(device_->queue(), 1, list);
  encoder_.reset();
  const std::unique_ptr<ErrorScope> scope = std::move(scope_);
  return scope->finish();
}

}  // namespace executorch::backends::webgpu
