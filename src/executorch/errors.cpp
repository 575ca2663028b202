#include "executorch/errors.h"

#include <executorch/runtime/platform/log.h>

#include "executorch_webgpu/c_api.h"

namespace executorch::backends::webgpu {

namespace {

std::string& last_error() {
  thread_local std::string message;
  return message;
}

}  // namespace

runtime::Error to_executorch(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidProgram:
      return runtime::Error::InvalidProgram;
    case ErrorCode::kInvalidArgument:
      return runtime::Error::InvalidArgument;
    case ErrorCode::kNotSupported:
      return runtime::Error::NotSupported;
    case ErrorCode::kNotFound:
      return runtime::Error::NotFound;
    case ErrorCode::kOutOfMemory:
      return runtime::Error::MemoryAllocationFailed;
    case ErrorCode::kDeviceLost:
      return runtime::Error::AccessFailed;
    case ErrorCode::kInternal:
      break;
  }
  return runtime::Error::Internal;
}

runtime::Error report(std::string_view what, const Error& error) {
  last_error() = fmt::format("{}: {}", what, error.message);
  ET_LOG(Error, "WebGPU backend: %s", last_error().c_str());
  return to_executorch(error.code);
}

}  // namespace executorch::backends::webgpu

extern "C" ETWEBGPU_EXPORT const char* etwebgpu_last_error(void) {
  return executorch::backends::webgpu::last_error().c_str();
}
