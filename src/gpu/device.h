#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/capabilities.h"
#include "base/result.h"
#include "gpu/adapter.h"
#include "gpu/completion.h"
#include "gpu/handle.h"

namespace executorch::backends::webgpu {

class PipelineCache;

struct DeviceOptions {
  // See choose_adapter. Empty: the environment variable ETWEBGPU_ADAPTER, else the default.
  std::string adapter = {};
  // The limits every WebGPU implementation guarantees instead of the adapter's maxima (for tests).
  bool default_limits = false;
  // Features that the adapter has can be left off (for tests).
  bool f16 = true;
  bool subgroups = true;
  bool timestamps = true;
  // Runs the kernels meant for GPUs also where a processor plays one (for tests).
  bool as_gpu = false;
  // A folder to keep compiled pipelines in between processes (native only). Empty: the
  // environment variable ETWEBGPU_CACHE_DIR, else none. It is created if missing.
  std::string cache_dir = {};

  bool operator==(const DeviceOptions&) const = default;
};

// A WebGPU device with its queue and pipeline cache, shared by every graph that asks for the same
// adapter and options. All methods are thread-safe; objects made from it may be used from any
// thread as long as one object is used by one thread at a time.
class Device {
 public:
  // The shared device for these options; a new one if there is none or it was lost. Blocks.
  static Result<std::shared_ptr<Device>> acquire(const DeviceOptions& options = {});
  // The same without blocking, for the browser; the callback may run before this returns.
  static void acquire_async(const DeviceOptions& options,
                            std::function<void(Result<std::shared_ptr<Device>>)> callback);

  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const AdapterInfo& adapter() const { return adapter_; }
  // What the device was created with: the adapter's, less what the options left off.
  const Capabilities& capabilities() const { return capabilities_; }
  WGPUDevice handle() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }
  PipelineCache& pipelines() { return *pipelines_; }

  // kDeviceLost with the driver's reason once the device is lost.
  Status health() const;

  // Errors no scope caught, counted since creation. A run takes the count before it records and
  // asks error_since(count) after it has waited; concurrent runs on one device all see the error.
  uint64_t error_count() const;
  // The first error after `count`, or the device's loss; success if neither happened.
  Status error_since(uint64_t count) const;

  // Held while recording and submitting, and by creations inside; never while waiting. Recursive,
  // because WebGPU may call back during a submit.
  std::unique_lock<std::recursive_mutex> lock() {
    return std::unique_lock<std::recursive_mutex>(mutex_);
  }

  // Finishes when everything submitted so far has run.
  Completion queue_done();

  // Runs callbacks that are due, without waiting.
  void poll();

  // Loses the device at once, as a driver reset would (for tests).
  void destroy();

 private:
  friend struct DeviceRequest;
  friend class ErrorScope;
  struct ErrorLog;  // shared with WebGPU's callbacks, which may come after the Device is gone

  Device();

  AdapterInfo adapter_;
  Capabilities capabilities_;
  std::shared_ptr<ErrorLog> errors_;
  Handle<WGPUDevice> device_;
  Handle<WGPUQueue> queue_;
  std::unique_ptr<PipelineCache> pipelines_;
  std::recursive_mutex mutex_;
};

// Catches validation, out-of-memory and internal errors of what is created between construction
// and `finish`. Holds the device's lock meanwhile.
class ErrorScope {
 public:
  // `what` is put in front of the message: the label of the thing being created.
  ErrorScope(Device& device, std::string what);
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  // Ends the scope; finishes with the first error caught.
  Completion finish_async();
  // Ends the scope and returns the first error caught. Where blocking is impossible the answer is
  // not known yet: success is returned and an error, if one comes, goes to the device's errors
  // (error_since).
  Status finish();

 private:
  Device& device_;
  std::string what_;
  std::unique_lock<std::recursive_mutex> lock_;
  bool open_ = true;
};

}  // namespace executorch::backends::webgpu
