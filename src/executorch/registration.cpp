// Registers the backend under both of its names when the library is loaded.

#include <executorch/runtime/platform/log.h>

#include <string>

#include "engine/devices_json.h"
#include "executorch/backend.h"
#include "executorch_webgpu/c_api.h"

namespace executorch::backends::webgpu {

namespace {

std::string register_all() {
  static WebGPUBackend backend;
  std::string ids;
  for (const char* id : {"VulkanBackend", "WebGPUBackend"}) {
    const runtime::Error error = runtime::register_backend({id, &backend});
    if (error == runtime::Error::Ok) {
      ids.append(ids.empty() ? "" : ",").append(id);
    } else if (runtime::get_backend_class(id) != nullptr) {
      ET_LOG(Info, "WebGPU backend: another backend holds the name %s and keeps it", id);
    } else {
      ET_LOG(Error, "WebGPU backend: %s could not be registered, error %d", id,
             static_cast<int>(error));
    }
  }
  return ids;
}

const std::string& registered_ids() {
  static const std::string ids = register_all();
  return ids;
}

}  // namespace

}  // namespace executorch::backends::webgpu

extern "C" {

const int etwebgpu_backend_registration =
    static_cast<int>(executorch::backends::webgpu::registered_ids().size());

const char* etwebgpu_backend_ids(void) {
  return executorch::backends::webgpu::registered_ids().c_str();
}

const char* etwebgpu_devices_json(void) {
  thread_local std::string json;
  json = executorch::backends::webgpu::devices_json();
  return json.c_str();
}
}
