#include "gpu/device.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "gpu/blob_cache.h"
#include "gpu/error_log.h"
#include "gpu/pipeline.h"

namespace executorch::backends::webgpu {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The devices of this process that somebody holds. Never destroyed: devices may be released from
// exit handlers.
struct DeviceRegistry {
  struct Entry {
    std::string adapter;    // which adapter it turned out to be
    DeviceOptions options;  // with the environment filled in
    std::weak_ptr<Device> device;
  };
  std::mutex mutex;
  std::vector<Entry> entries;

  static DeviceRegistry& get() {
    static DeviceRegistry* registry = new DeviceRegistry();
    return *registry;
  }

  // A live device for the options; `adapter` empty: whatever the selector led to last time.
  std::shared_ptr<Device> find(const DeviceOptions& options, std::string_view adapter) {
    std::lock_guard<std::mutex> guard(mutex);
    std::erase_if(entries, [](const Entry& entry) { return entry.device.expired(); });
    for (const Entry& entry : entries) {
      DeviceOptions wanted = options;
      if (!adapter.empty()) wanted.adapter = entry.options.adapter;
      if (!(entry.options == wanted) || (!adapter.empty() && entry.adapter != adapter)) continue;
      std::shared_ptr<Device> device = entry.device.lock();
      if (device != nullptr && device->health()) return device;
    }
    return nullptr;
  }

  void add(std::string adapter, const DeviceOptions& options,
           const std::shared_ptr<Device>& device) {
    std::lock_guard<std::mutex> guard(mutex);
    entries.push_back({std::move(adapter), options, device});
  }
};

std::string identity(const AdapterInfo& info) {
  return fmt::format("{}|{}|{}|{:x}:{:x}", info.name, info.driver, info.backend, info.vendor_id,
                     info.device_id);
}

}  // namespace

// The steps of opening a device that is not in the registry.
struct DeviceRequest {
  using Callback = std::function<void(Result<std::shared_ptr<Device>>)>;

  static void open(Adapter adapter, const DeviceOptions& options, Callback callback);

 private:
  static Capabilities read_capabilities(WGPUDevice device, const AdapterInfo& adapter);
};

Capabilities DeviceRequest::read_capabilities(WGPUDevice device, const AdapterInfo& adapter) {
  Capabilities caps = adapter.capabilities;
  WGPULimits limits = {};
  if (wgpuDeviceGetLimits(device, &limits) == WGPUStatus_Success) fill_limits(limits, caps);
  caps.f16 = wgpuDeviceHasFeature(device, WGPUFeatureName_ShaderF16);
  caps.subgroups = wgpuDeviceHasFeature(device, WGPUFeatureName_Subgroups);
  caps.timestamps = wgpuDeviceHasFeature(device, WGPUFeatureName_TimestampQuery);
  if (!caps.subgroups) caps.subgroup_min_size = caps.subgroup_max_size = 0;
  return caps;
}

void DeviceRequest::open(Adapter adapter, const DeviceOptions& options, Callback callback) {
  const Capabilities& has = adapter.info.capabilities;
  std::vector<WGPUFeatureName> features;
  if (has.f16 && options.f16) features.push_back(WGPUFeatureName_ShaderF16);
  if (has.subgroups && options.subgroups) features.push_back(WGPUFeatureName_Subgroups);
  if (has.timestamps && options.timestamps) features.push_back(WGPUFeatureName_TimestampQuery);

  WGPULimits limits = {};
  wgpuAdapterGetLimits(adapter.handle.get(), &limits);

  WGPUDeviceDescriptor descriptor = {};
  descriptor.label = view("executorch-webgpu");
  if (!options.default_limits) descriptor.requiredLimits = &limits;

#if ETWG_DAWN
  // Waiting for one run while another thread records needs Dawn's own locking.
  if (wgpuAdapterHasFeature(adapter.handle.get(), WGPUFeatureName_ImplicitDeviceSynchronization)) {
    features.push_back(WGPUFeatureName_ImplicitDeviceSynchronization);
  }
  // Dawn rounds timestamps to 65.5 us, longer than most kernels run.
  static constexpr const char* kDisabled[] = {"timestamp_quantization"};
  WGPUDawnTogglesDescriptor toggles = WGPU_DAWN_TOGGLES_DESCRIPTOR_INIT;
  toggles.disabledToggleCount = 1;
  toggles.disabledToggles = kDisabled;
  descriptor.nextInChain = &toggles.chain;
  WGPUDawnCacheDeviceDescriptor cache = WGPU_DAWN_CACHE_DEVICE_DESCRIPTOR_INIT;
  if (BlobCache* blobs = BlobCache::open(options.cache_dir); blobs != nullptr) {
    blobs->describe(cache);
    toggles.chain.next = &cache.chain;
  }
#endif
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();

  std::shared_ptr<Device> device(new Device());
  device->adapter_ = std::move(adapter.info);
  using Log = std::shared_ptr<Device::ErrorLog>;
  auto* log = new Log(device->errors_);  // freed by the lost callback, which comes exactly once
  descriptor.uncapturedErrorCallbackInfo.userdata1 = log;
  descriptor.uncapturedErrorCallbackInfo.callback =
      [](WGPUDevice const*, WGPUErrorType type, WGPUStringView message, void* userdata, void*) {
        (*static_cast<Log*>(userdata))->record(make_error(type, message));
      };
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.userdata1 = log;
  descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason,
                                                  WGPUStringView message, void* userdata, void*) {
    std::unique_ptr<Log> owned(static_cast<Log*>(userdata));
    std::lock_guard<std::mutex> guard((*owned)->mutex);
    (*owned)->lost = true;
    (*owned)->lost_reason = to_string(message);
  };

  struct Call {
    std::shared_ptr<Device> device;
    Completion completion;
  };
  Completion completion;
  WGPURequestDeviceCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = new Call{device, completion};
  info.callback = [](WGPURequestDeviceStatus status, WGPUDevice created, WGPUStringView message,
                     void* userdata, void*) {
    std::unique_ptr<Call> call(static_cast<Call*>(userdata));
    call->device->device_.reset(created);
    if (status == WGPURequestDeviceStatus_Success) {
      call->completion.finish({});
    } else {
      call->completion.finish(fail(ErrorCode::kNotSupported, "{}", to_string(message)));
    }
  };
  completion.add_future(wgpuAdapterRequestDevice(adapter.handle.get(), &descriptor, info));
#if ETWG_CAN_BLOCK
  completion.wait();
#endif
  completion.on_done(
      [device, as_gpu = options.as_gpu, callback = std::move(callback)](const Status& status) {
        if (!status) {
          callback(context(fmt::format("cannot open GPU \"{}\"", device->adapter_.name),
                           status.error()));
          return;
        }
        device->capabilities_ = read_capabilities(device->device_.get(), device->adapter_);
        if (as_gpu) device->capabilities_.processor = false;
        device->queue_.reset(wgpuDeviceGetQueue(device->device_.get()));
        device->pipelines_ = std::make_unique<PipelineCache>(*device);
        callback(device);
      });
}

Device::Device() : errors_(std::make_shared<ErrorLog>()) {}

Device::~Device() {
  if (pipelines_ != nullptr) pipelines_->wait_all();
}

void Device::acquire_async(const DeviceOptions& requested,
                           std::function<void(Result<std::shared_ptr<Device>>)> callback) {
  DeviceOptions options = requested;
  if (options.adapter.empty()) options.adapter = environment("ETWEBGPU_ADAPTER");
  if (options.cache_dir.empty()) options.cache_dir = environment("ETWEBGPU_CACHE_DIR");
  if (std::shared_ptr<Device> device = DeviceRegistry::get().find(options, {})) {
    callback(std::move(device));
    return;
  }
  request_adapters_async(
      [options, callback = std::move(callback)](Result<std::vector<Adapter>> adapters) {
        if (!adapters) {
          callback(tl::unexpected<Error>(std::move(adapters.error())));
          return;
        }
        std::vector<AdapterInfo> infos;
        for (const Adapter& adapter : *adapters) infos.push_back(adapter.info);
        Result<size_t> chosen = choose_adapter(infos, options.adapter);
        if (!chosen) {
          callback(tl::unexpected<Error>(std::move(chosen.error())));
          return;
        }
        const std::string which = identity(infos[*chosen]);
        if (std::shared_ptr<Device> device = DeviceRegistry::get().find(options, which)) {
          DeviceRegistry::get().add(which, options, device);  // this selector leads there, too
          callback(std::move(device));
          return;
        }
        DeviceRequest::open(std::move((*adapters)[*chosen]), options,
                            [options, which, callback](Result<std::shared_ptr<Device>> device) {
                              if (device) DeviceRegistry::get().add(which, options, *device);
                              callback(std::move(device));
                            });
      });
}

Result<std::shared_ptr<Device>> Device::acquire(const DeviceOptions& options) {
  static std::mutex* one_at_a_time = new std::mutex();  // or two threads would open two devices
  std::lock_guard<std::mutex> guard(*one_at_a_time);
  auto out = std::make_shared<Result<std::shared_ptr<Device>>>(
      fail(ErrorCode::kNotSupported,
           "this platform cannot wait for a GPU device; use the asynchronous call"));
  acquire_async(options,
                [out](Result<std::shared_ptr<Device>> device) { *out = std::move(device); });
  return *out;
}

Status Device::health() const {
  std::lock_guard<std::mutex> guard(errors_->mutex);
  if (!errors_->lost) return {};
  return fail(ErrorCode::kDeviceLost, "GPU \"{}\" was lost: {}", adapter_.name,
              errors_->lost_reason);
}

uint64_t Device::error_count() const {
  std::lock_guard<std::mutex> guard(errors_->mutex);
  return errors_->count;
}

Status Device::error_since(uint64_t count) const {
  ETWG_TRY(health());
  std::lock_guard<std::mutex> guard(errors_->mutex);
  if (errors_->count <= count) return {};
  const uint64_t first_kept = errors_->count - errors_->newest.size();
  const Error& error = errors_->newest[count < first_kept ? 0 : count - first_kept];
  return context(fmt::format("GPU \"{}\" reported an error", adapter_.name), error);
}

void Device::destroy() {
  pipelines_->wait_all();
  wgpuDeviceDestroy(device_.get());
}

Completion Device::queue_done() {
  Completion completion;
  WGPUQueueWorkDoneCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.userdata1 = new Completion(completion);
  info.callback = [](WGPUQueueWorkDoneStatus status, WGPUStringView message, void* userdata,
                     void*) {
    std::unique_ptr<Completion> done(static_cast<Completion*>(userdata));
    if (status == WGPUQueueWorkDoneStatus_Success) {
      done->finish({});
    } else {
      done->finish(
          fail(ErrorCode::kInternal, "waiting for the GPU failed: {}", to_string(message)));
    }
  };
  auto guard = lock();
  completion.add_future(wgpuQueueOnSubmittedWorkDone(queue_.get(), info));
  return completion;
}

void Device::poll() {
#if ETWG_CAN_BLOCK
  if (Result<WGPUInstance> inst = instance()) wgpuInstanceProcessEvents(*inst);
#endif
}

}  // namespace executorch::backends::webgpu
