// Recording and submitting.

#include <vector>

#include "shim.h"

using etwg_shim::handle;
using etwg_shim::id;
using etwg_shim::Text;

namespace {

// JavaScript's index of a timestamp, or -1 for none.
int query_index(uint32_t index) {
  return index == WGPU_QUERY_SET_INDEX_UNDEFINED ? -1 : static_cast<int>(index);
}

}  // namespace

extern "C" {

WGPUCommandEncoder wgpuDeviceCreateCommandEncoder(WGPUDevice device,
                                                  const WGPUCommandEncoderDescriptor* descriptor) {
  const Text label(descriptor != nullptr ? descriptor->label : WGPUStringView{});
  return handle<WGPUCommandEncoder>(etwg_js_create_encoder(id(device), label.data, label.length));
}

WGPUComputePassEncoder wgpuCommandEncoderBeginComputePass(
    WGPUCommandEncoder encoder, const WGPUComputePassDescriptor* descriptor) {
  const Text label(descriptor != nullptr ? descriptor->label : WGPUStringView{});
  WGPUPassTimestampWrites writes = {};
  if (descriptor != nullptr && descriptor->timestampWrites != nullptr) {
    writes = *descriptor->timestampWrites;
  }
  return handle<WGPUComputePassEncoder>(etwg_js_begin_pass(
      id(encoder), id(writes.querySet), query_index(writes.beginningOfPassWriteIndex),
      query_index(writes.endOfPassWriteIndex), label.data, label.length));
}

void wgpuCommandEncoderCopyBufferToBuffer(WGPUCommandEncoder encoder, WGPUBuffer source,
                                          uint64_t source_offset, WGPUBuffer destination,
                                          uint64_t destination_offset, uint64_t size) {
  etwg_js_copy_buffer(id(encoder), id(source), static_cast<double>(source_offset), id(destination),
                      static_cast<double>(destination_offset), static_cast<double>(size));
}

void wgpuCommandEncoderClearBuffer(WGPUCommandEncoder encoder, WGPUBuffer buffer, uint64_t offset,
                                   uint64_t size) {
  etwg_js_clear_buffer(id(encoder), id(buffer), static_cast<double>(offset),
                       size == WGPU_WHOLE_SIZE ? -1 : static_cast<double>(size));
}

void wgpuCommandEncoderResolveQuerySet(WGPUCommandEncoder encoder, WGPUQuerySet query_set,
                                       uint32_t first, uint32_t count, WGPUBuffer destination,
                                       uint64_t offset) {
  etwg_js_resolve_queries(id(encoder), id(query_set), static_cast<int>(first),
                          static_cast<int>(count), id(destination), static_cast<double>(offset));
}

void wgpuCommandEncoderPushDebugGroup(WGPUCommandEncoder encoder, WGPUStringView label) {
  const Text text(label);
  etwg_js_debug_group(id(encoder), text.data != nullptr ? text.data : "", text.length);
}

void wgpuCommandEncoderPopDebugGroup(WGPUCommandEncoder encoder) {
  etwg_js_debug_group(id(encoder), nullptr, 0);
}

WGPUCommandBuffer wgpuCommandEncoderFinish(WGPUCommandEncoder encoder,
                                           const WGPUCommandBufferDescriptor* descriptor) {
  const Text label(descriptor != nullptr ? descriptor->label : WGPUStringView{});
  return handle<WGPUCommandBuffer>(etwg_js_finish(id(encoder), label.data, label.length));
}

void wgpuComputePassEncoderSetPipeline(WGPUComputePassEncoder pass, WGPUComputePipeline pipeline) {
  etwg_js_set_pipeline(id(pass), id(pipeline));
}

void wgpuComputePassEncoderSetBindGroup(WGPUComputePassEncoder pass, uint32_t index,
                                        WGPUBindGroup group, size_t offset_count,
                                        const uint32_t* offsets) {
  etwg_js_set_bind_group(id(pass), static_cast<int>(index), id(group), offsets,
                         static_cast<int>(offset_count));
}

void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder pass, uint32_t x, uint32_t y,
                                              uint32_t z) {
  etwg_js_dispatch(id(pass), x, y, z);
}

void wgpuComputePassEncoderDispatchWorkgroupsIndirect(WGPUComputePassEncoder pass,
                                                      WGPUBuffer buffer, uint64_t offset) {
  etwg_js_dispatch_indirect(id(pass), id(buffer), static_cast<double>(offset));
}

void wgpuComputePassEncoderPushDebugGroup(WGPUComputePassEncoder pass, WGPUStringView label) {
  const Text text(label);
  etwg_js_debug_group(id(pass), text.data != nullptr ? text.data : "", text.length);
}

void wgpuComputePassEncoderPopDebugGroup(WGPUComputePassEncoder pass) {
  etwg_js_debug_group(id(pass), nullptr, 0);
}

void wgpuComputePassEncoderEnd(WGPUComputePassEncoder pass) { etwg_js_end_pass(id(pass)); }

void wgpuQueueWriteBuffer(WGPUQueue queue, WGPUBuffer buffer, uint64_t offset, const void* data,
                          size_t size) {
  etwg_js_write_buffer(id(queue), id(buffer), static_cast<double>(offset), data,
                       static_cast<double>(size));
}

void wgpuQueueSubmit(WGPUQueue queue, size_t count, const WGPUCommandBuffer* commands) {
  std::vector<int> handles;
  for (size_t i = 0; i < count; ++i) handles.push_back(id(commands[i]));
  etwg_js_submit(id(queue), handles.data(), static_cast<int>(count));
}

}  // extern "C"
