// Calls that answer later, and what a device reports by itself.

#include <emscripten/emscripten.h>

#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "shim.h"

namespace etwg_shim {
namespace {

std::unordered_map<int, Settle>& pending_calls() {
  static std::unordered_map<int, Settle> calls;
  return calls;
}

struct DeviceCallbacks {
  WGPUDeviceLostCallbackInfo lost = {};
  WGPUUncapturedErrorCallbackInfo error = {};
};

std::unordered_map<int, DeviceCallbacks>& devices() {
  static std::unordered_map<int, DeviceCallbacks> callbacks;
  return callbacks;
}

WGPUErrorType error_type(int kind) {
  switch (kind) {
    case 0:
      return WGPUErrorType_NoError;
    case 1:
      return WGPUErrorType_Validation;
    case 2:
      return WGPUErrorType_OutOfMemory;
    case 3:
      return WGPUErrorType_Internal;
    default:
      return WGPUErrorType_Unknown;
  }
}

}  // namespace

Text::Text(WGPUStringView view) : data(view.data), length(0) {
  if (data != nullptr) {
    length = static_cast<int>(view.length == WGPU_STRLEN ? std::strlen(data) : view.length);
  }
}

OwnedText::~OwnedText() { std::free(data_); }

char* OwnedText::release() { return std::exchange(data_, nullptr); }

Pending expect(Settle settle) {
  static int last = 0;
  const int id = ++last;
  pending_calls().emplace(id, std::move(settle));
  return {id, WGPUFuture{static_cast<uint64_t>(id)}};
}

bool is_pending(WGPUFuture future) {
  return pending_calls().count(static_cast<int>(future.id)) != 0;
}

void add_device(int device, const WGPUDeviceDescriptor* descriptor) {
  devices()[device] = {descriptor->deviceLostCallbackInfo, descriptor->uncapturedErrorCallbackInfo};
}

}  // namespace etwg_shim

extern "C" {

EMSCRIPTEN_KEEPALIVE void etwg_shim_settle(int pending, int status, int object) {
  etwg_shim::OwnedText text(etwg_js_take_text());
  auto node = etwg_shim::pending_calls().extract(pending);
  if (!node.empty()) node.mapped()(status, object, text.view());
}

EMSCRIPTEN_KEEPALIVE void etwg_shim_uncaptured(int device, int kind) {
  etwg_shim::OwnedText text(etwg_js_take_text());
  const auto found = etwg_shim::devices().find(device);
  if (found == etwg_shim::devices().end()) return;
  const WGPUUncapturedErrorCallbackInfo info = found->second.error;
  if (info.callback == nullptr) return;
  const auto handle = etwg_shim::handle<WGPUDevice>(device);
  info.callback(&handle, etwg_shim::error_type(kind), text.view(), info.userdata1, info.userdata2);
}

EMSCRIPTEN_KEEPALIVE void etwg_shim_lost(int device, int destroyed, int released) {
  etwg_shim::OwnedText text(etwg_js_take_text());
  const auto found = etwg_shim::devices().find(device);
  if (found == etwg_shim::devices().end()) return;
  const WGPUDeviceLostCallbackInfo info = found->second.lost;
  if (released) etwg_shim::devices().erase(found);
  if (info.callback == nullptr) return;
  const auto handle = etwg_shim::handle<WGPUDevice>(released ? 0 : device);
  info.callback(&handle, destroyed ? WGPUDeviceLostReason_Destroyed : WGPUDeviceLostReason_Unknown,
                text.view(), info.userdata1, info.userdata2);
}

void wgpuDevicePushErrorScope(WGPUDevice device, WGPUErrorFilter filter) {
  const char* name = filter == WGPUErrorFilter_OutOfMemory ? "out-of-memory"
                     : filter == WGPUErrorFilter_Internal  ? "internal"
                                                           : "validation";
  etwg_js_push_error_scope(etwg_shim::id(device), name);
}

WGPUFuture wgpuDevicePopErrorScope(WGPUDevice device, WGPUPopErrorScopeCallbackInfo info) {
  const auto pending = etwg_shim::expect([info](int status, int kind, WGPUStringView text) {
    if (info.callback == nullptr) return;
    const bool ok = status == 0;
    info.callback(ok ? WGPUPopErrorScopeStatus_Success : WGPUPopErrorScopeStatus_Error,
                  ok ? etwg_shim::error_type(kind) : WGPUErrorType_Unknown, text, info.userdata1,
                  info.userdata2);
  });
  etwg_js_pop_error_scope(etwg_shim::id(device), pending.id);
  return pending.future;
}

WGPUFuture wgpuQueueOnSubmittedWorkDone(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo info) {
  const auto pending = etwg_shim::expect([info](int status, int, WGPUStringView text) {
    if (info.callback == nullptr) return;
    info.callback(status == 0 ? WGPUQueueWorkDoneStatus_Success : WGPUQueueWorkDoneStatus_Error,
                  text, info.userdata1, info.userdata2);
  });
  etwg_js_work_done(etwg_shim::id(queue), pending.id);
  return pending.future;
}

// Everything is called back spontaneously, whatever mode was asked for: there is nothing to
// process.
void wgpuInstanceProcessEvents(WGPUInstance) {}

// Looks only: a page cannot wait for a promise without giving up control.
WGPUWaitStatus wgpuInstanceWaitAny(WGPUInstance, size_t count, WGPUFutureWaitInfo* futures,
                                   uint64_t timeout_ns) {
  bool any = count == 0;
  for (size_t i = 0; i < count; ++i) {
    futures[i].completed = !etwg_shim::is_pending(futures[i].future);
    any = any || futures[i].completed;
  }
  if (any) return WGPUWaitStatus_Success;
  return timeout_ns == 0 ? WGPUWaitStatus_TimedOut : WGPUWaitStatus_Error;
}

}  // extern "C"
