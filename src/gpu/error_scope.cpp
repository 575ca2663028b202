#include <atomic>
#include <memory>
#include <utility>

#include "gpu/error_log.h"

namespace executorch::backends::webgpu {

ErrorScope::ErrorScope(Device& device, std::string what)
    : device_(device), what_(std::move(what)), lock_(device.lock()) {
  wgpuDevicePushErrorScope(device_.handle(), WGPUErrorFilter_Internal);
  wgpuDevicePushErrorScope(device_.handle(), WGPUErrorFilter_OutOfMemory);
  wgpuDevicePushErrorScope(device_.handle(), WGPUErrorFilter_Validation);
}

ErrorScope::~ErrorScope() {
  if (open_) finish_async();
}

Completion ErrorScope::finish_async() {
  struct Pop {
    std::string what;
    std::shared_ptr<Device::ErrorLog> log;
    std::atomic<int> left = 3;
    Completion completion;
  };
  auto pop = std::make_shared<Pop>();
  pop->what = std::move(what_);
  pop->log = device_.errors_;
  open_ = false;
  for (int i = 0; i < 3; ++i) {
    WGPUPopErrorScopeCallbackInfo info = {};
    info.mode = WGPUCallbackMode_AllowSpontaneous;
    info.userdata1 = new std::shared_ptr<Pop>(pop);
    info.callback = [](WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView message,
                       void* userdata, void*) {
      std::unique_ptr<std::shared_ptr<Pop>> owned(static_cast<std::shared_ptr<Pop>*>(userdata));
      Pop& pop = **owned;
      if (status != WGPUPopErrorScopeStatus_Success) {
        pop.completion.finish(fail(ErrorCode::kDeviceLost, "{}: the GPU device is gone: {}",
                                   pop.what, to_string(message)));
      } else if (type != WGPUErrorType_NoError) {
        pop.completion.finish(context(pop.what, make_error(type, message)));
      }
      if (--pop.left == 0) pop.completion.finish({});
    };
    pop->completion.add_future(wgpuDevicePopErrorScope(device_.handle(), info));
  }
  lock_.unlock();
  return pop->completion;
}

Status ErrorScope::finish() {
  const std::shared_ptr<Device::ErrorLog> log = device_.errors_;
  const Completion completion = finish_async();
#if ETWG_CAN_BLOCK
  (void)log;
  ETWG_TRY(completion.wait());
  return device_.health();  // a lost device accepts everything and reports nothing
#else
  if (completion.ready()) return completion.wait();
  completion.on_done([log](const Status& status) {
    if (!status) log->record(status.error());
  });
  return {};
#endif
}

}  // namespace executorch::backends::webgpu
