// Buffers. JavaScript's mapped memory is not part of the wasm heap: a mapped range has a copy
// there, made when the range is asked for and, when writable, written back by unmap.
// wgpuBufferReadMappedRange and wgpuBufferWriteMappedRange go without that copy.

#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "shim.h"

using etwg_shim::handle;
using etwg_shim::id;
using etwg_shim::Text;

namespace {

struct Range {
  uint64_t offset;
  uint64_t size;
  char* data;
  bool writable;
};

struct BufferState {
  uint64_t size = 0;
  WGPUBufferUsage usage = 0;
  WGPUBufferMapState map_state = WGPUBufferMapState_Unmapped;
  WGPUMapMode mode = 0;
  uint64_t map_offset = 0;
  uint64_t map_size = 0;
  bool fresh = false;  // mapped at creation: all zero, nothing to copy in
  int mapping = 0;     // counts mapAsync, unmap and destroy: a late answer knows that it is late
  std::vector<Range> ranges;
};

std::unordered_map<int, BufferState>& buffers() {
  static std::unordered_map<int, BufferState> states;
  return states;
}

void end_mapping(BufferState& state) {
  for (const Range& range : state.ranges) std::free(range.data);
  state.ranges.clear();
  state.map_state = WGPUBufferMapState_Unmapped;
  state.fresh = false;
  ++state.mapping;
}

bool copy_mapped(int buffer, const BufferState& state, uint64_t offset, uint64_t size,
                 const void* memory, bool to_buffer) {
  return etwg_js_copy_mapped(buffer, static_cast<double>(state.map_offset),
                             static_cast<double>(state.map_size), static_cast<double>(offset),
                             static_cast<double>(size), memory, to_buffer) != 0;
}

// Whether [offset, offset + size) is mapped; replaces WGPU_WHOLE_MAP_SIZE by what is left.
bool is_mapped(const BufferState& state, uint64_t offset, size_t* size) {
  if (state.map_state != WGPUBufferMapState_Mapped) return false;
  const uint64_t end = state.map_offset + state.map_size;
  if (offset < state.map_offset || offset > end) return false;
  if (*size == WGPU_WHOLE_MAP_SIZE) *size = static_cast<size_t>(end - offset);
  return *size <= end - offset;
}

void* mapped_range(int buffer, uint64_t offset, size_t size, bool writable) {
  BufferState& state = buffers()[buffer];
  if (!is_mapped(state, offset, &size)) return nullptr;
  if (writable && state.mode != WGPUMapMode_Write) return nullptr;
  for (Range& range : state.ranges) {
    if (offset < range.offset || offset + size > range.offset + range.size) continue;
    range.writable = range.writable || writable;
    return range.data + (offset - range.offset);
  }
  char* data = static_cast<char*>(state.fresh ? std::calloc(size, 1) : std::malloc(size));
  if (data == nullptr) return nullptr;
  if (!state.fresh && !copy_mapped(buffer, state, offset, size, data, false)) {
    std::free(data);
    return nullptr;
  }
  state.ranges.push_back({offset, size, data, writable});
  return data;
}

}  // namespace

void etwg_shim::forget_mapping(int buffer) {
  auto node = buffers().extract(buffer);
  if (!node.empty()) end_mapping(node.mapped());
}

extern "C" {

WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice device, const WGPUBufferDescriptor* descriptor) {
  const Text label(descriptor->label);
  const int buffer = etwg_js_create_buffer(
      id(device), static_cast<int>(descriptor->usage), static_cast<double>(descriptor->size),
      static_cast<int>(descriptor->mappedAtCreation), label.data, label.length);
  if (buffer == 0) return nullptr;
  BufferState state;
  state.size = descriptor->size;
  state.usage = descriptor->usage;
  if (descriptor->mappedAtCreation) {
    state.map_state = WGPUBufferMapState_Mapped;
    state.mode = WGPUMapMode_Write;
    state.map_size = descriptor->size;
    state.fresh = true;
  }
  buffers()[buffer] = state;
  return handle<WGPUBuffer>(buffer);
}

WGPUFuture wgpuBufferMapAsync(WGPUBuffer buffer, WGPUMapMode mode, size_t offset, size_t size,
                              WGPUBufferMapCallbackInfo info) {
  const int key = id(buffer);
  BufferState& state = buffers()[key];
  if (size == WGPU_WHOLE_MAP_SIZE) size = static_cast<size_t>(state.size - offset);
  // A second request, or one of a mapped buffer, fails and leaves the state to the first.
  int mapping = -1;
  if (state.map_state == WGPUBufferMapState_Unmapped) {
    mapping = ++state.mapping;
    state.map_state = WGPUBufferMapState_Pending;
    state.mode = mode;
    state.map_offset = offset;
    state.map_size = size;
  }
  const auto pending =
      etwg_shim::expect([info, key, mapping](int status, int, WGPUStringView text) {
        const auto found = buffers().find(key);
        if (found != buffers().end() && found->second.mapping == mapping) {
          found->second.map_state =
              status == 0 ? WGPUBufferMapState_Mapped : WGPUBufferMapState_Unmapped;
        }
        if (info.callback == nullptr) return;
        info.callback(status == 0   ? WGPUMapAsyncStatus_Success
                      : status == 2 ? WGPUMapAsyncStatus_Aborted
                                    : WGPUMapAsyncStatus_Error,
                      text, info.userdata1, info.userdata2);
      });
  etwg_js_map_async(key, pending.id, static_cast<int>(mode), static_cast<double>(offset),
                    static_cast<double>(size));
  return pending.future;
}

void* wgpuBufferGetMappedRange(WGPUBuffer buffer, size_t offset, size_t size) {
  return mapped_range(id(buffer), offset, size, true);
}

const void* wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t offset, size_t size) {
  return mapped_range(id(buffer), offset, size, false);
}

WGPUStatus wgpuBufferReadMappedRange(WGPUBuffer buffer, size_t offset, void* data, size_t size) {
  const BufferState& state = buffers()[id(buffer)];
  const bool ok =
      is_mapped(state, offset, &size) && copy_mapped(id(buffer), state, offset, size, data, false);
  return ok ? WGPUStatus_Success : WGPUStatus_Error;
}

WGPUStatus wgpuBufferWriteMappedRange(WGPUBuffer buffer, size_t offset, const void* data,
                                      size_t size) {
  BufferState& state = buffers()[id(buffer)];
  const bool ok = is_mapped(state, offset, &size) && state.mode == WGPUMapMode_Write &&
                  copy_mapped(id(buffer), state, offset, size, data, true);
  state.fresh = state.fresh && !ok;
  return ok ? WGPUStatus_Success : WGPUStatus_Error;
}

void wgpuBufferUnmap(WGPUBuffer buffer) {
  BufferState& state = buffers()[id(buffer)];
  for (const Range& range : state.ranges) {
    if (range.writable) copy_mapped(id(buffer), state, range.offset, range.size, range.data, true);
  }
  end_mapping(state);
  etwg_js_unmap(id(buffer));
}

void wgpuBufferDestroy(WGPUBuffer buffer) {
  end_mapping(buffers()[id(buffer)]);
  etwg_js_destroy(id(buffer));
}

WGPUBufferMapState wgpuBufferGetMapState(WGPUBuffer buffer) {
  return buffers()[id(buffer)].map_state;
}

uint64_t wgpuBufferGetSize(WGPUBuffer buffer) { return buffers()[id(buffer)].size; }

WGPUBufferUsage wgpuBufferGetUsage(WGPUBuffer buffer) { return buffers()[id(buffer)].usage; }

}  // extern "C"
