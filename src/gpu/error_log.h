#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "gpu/device.h"

namespace executorch::backends::webgpu {

// What a device's callbacks report. Shared by the Device and its callbacks, so that a late
// callback finds it alive.
struct Device::ErrorLog {
  static constexpr size_t kKept = 64;  // messages; the count goes on

  std::mutex mutex;
  uint64_t count = 0;
  std::deque<Error> newest;  // the last is error number `count`
  bool lost = false;
  std::string lost_reason;

  void record(Error error) {
    std::lock_guard<std::mutex> guard(mutex);
    ++count;
    newest.push_back(std::move(error));
    if (newest.size() > kKept) newest.pop_front();
  }
};

// The Error for what WebGPU reports in a scope or without one.
inline Error make_error(WGPUErrorType type, WGPUStringView message) {
  return {type == WGPUErrorType_OutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kInternal,
          to_string(message)};
}

}  // namespace executorch::backends::webgpu
