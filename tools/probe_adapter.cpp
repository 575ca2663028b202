// Prints the adapter that Dawn picks: "gpu|cpu <tab> device (driver, backend)". Exit code 1, and
// the reason, when Dawn accepts none. For setup.sh, which needs to know before anything of this
// repository is built.
#include <webgpu/webgpu.h>

#include <cstdio>
#include <string>

namespace {

std::string text(WGPUStringView view) {
  if (view.data == nullptr) return "";
  return view.length == WGPU_STRLEN ? std::string(view.data) : std::string(view.data, view.length);
}

struct Answer {
  bool done = false;
  WGPUAdapter adapter = nullptr;
  std::string message;
};

void on_adapter(WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView message, void* user,
                void*) {
  auto* answer = static_cast<Answer*>(user);
  *answer = {true, adapter, text(message)};
}

const char* backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan:
      return "Vulkan";
    case WGPUBackendType_Metal:
      return "Metal";
    case WGPUBackendType_D3D12:
      return "D3D12";
    default:
      return "other";
  }
}

}  // namespace

int main() {
  WGPUInstance instance = wgpuCreateInstance(nullptr);
  if (instance == nullptr) {
    std::fprintf(stderr, "Dawn made no instance\n");
    return 1;
  }
  WGPURequestAdapterOptions options = WGPU_REQUEST_ADAPTER_OPTIONS_INIT;
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  Answer answer;
  WGPURequestAdapterCallbackInfo callback = WGPU_REQUEST_ADAPTER_CALLBACK_INFO_INIT;
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = on_adapter;
  callback.userdata1 = &answer;
  wgpuInstanceRequestAdapter(instance, &options, callback);
  while (!answer.done) wgpuInstanceProcessEvents(instance);
  if (answer.adapter == nullptr) {
    std::fprintf(stderr, "no adapter: %s\n", answer.message.c_str());
    return 1;
  }
  WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
  wgpuAdapterGetInfo(answer.adapter, &info);
  std::printf("%s\t%s (%s, %s)\n", info.adapterType == WGPUAdapterType_CPU ? "cpu" : "gpu",
              text(info.device).c_str(), text(info.description).c_str(),
              backend_name(info.backendType));
  wgpuAdapterInfoFreeMembers(info);
  return 0;
}
