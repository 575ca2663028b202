// The shim by itself: adds two vectors, on the plain API, with what our gpu layer relies on around
// it: error scopes, a compilation error, an uncaptured error, timestamps, mapping in both
// directions, device loss. Prints "ok" or names the check that failed; exits from the event loop.

#include <emscripten/emscripten.h>
#include <webgpu/webgpu.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint32_t kCount = 1000;
constexpr uint64_t kBytes = kCount * sizeof(float);

struct State {
  WGPUInstance instance = nullptr;
  WGPUAdapter adapter = nullptr;
  WGPUDevice device = nullptr;
  WGPUQueue queue = nullptr;
  WGPUBindGroupLayout layout = nullptr;
  WGPUBuffer result = nullptr;
  WGPUQuerySet queries = nullptr;
  WGPUBuffer ticks = nullptr;
  bool timestamps = false;
  int uncaptured = 0;
  bool expect_loss = false;
};

State state;

void check(bool ok, const char* what, WGPUStringView detail = {nullptr, 0}) {
  if (ok) return;
  std::printf("FAILED: %s %s\n", what, detail.data != nullptr ? detail.data : "");
  emscripten_force_exit(1);
}

WGPUStringView text(const char* value) { return {value, WGPU_STRLEN}; }

WGPUBuffer make_buffer(uint64_t size, WGPUBufferUsage usage, const char* label,
                       bool mapped = false) {
  WGPUBufferDescriptor descriptor = {};
  descriptor.label = text(label);
  descriptor.size = size;
  descriptor.usage = usage;
  descriptor.mappedAtCreation = mapped;
  return wgpuDeviceCreateBuffer(state.device, &descriptor);
}

WGPUShaderModule make_module(const char* code) {
  WGPUShaderSourceWGSL source = {};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = text(code);
  WGPUShaderModuleDescriptor descriptor = {};
  descriptor.nextInChain = &source.chain;
  descriptor.label = text("module");
  return wgpuDeviceCreateShaderModule(state.device, &descriptor);
}

void lose_device() {
  state.expect_loss = true;
  wgpuDeviceDestroy(state.device);  // its callback ends the program
}

void check_uncaptured_error() {
  // Two usages that exclude each other.
  WGPUBuffer wrong = make_buffer(16, WGPUBufferUsage_MapRead | WGPUBufferUsage_MapWrite, "wrong");
  wgpuBufferRelease(wrong);
  WGPUQueueWorkDoneCallbackInfo done = {};
  done.mode = WGPUCallbackMode_AllowSpontaneous;
  done.callback = [](WGPUQueueWorkDoneStatus status, WGPUStringView detail, void*, void*) {
    check(status == WGPUQueueWorkDoneStatus_Success, "onSubmittedWorkDone", detail);
    // The event may come a turn of the event loop later.
    emscripten_async_call(
        [](void*) {
          check(state.uncaptured == 1, "one uncaptured error");
          lose_device();
        },
        nullptr, 50);
  };
  wgpuQueueOnSubmittedWorkDone(state.queue, done);
}

void check_compilation_error() {
  wgpuDevicePushErrorScope(state.device, WGPUErrorFilter_Validation);
  WGPUShaderModule module =
      make_module("@compute @workgroup_size(1) fn main() { let x: f32 = 1u; }");
  WGPUPopErrorScopeCallbackInfo pop = {};
  pop.mode = WGPUCallbackMode_AllowSpontaneous;
  pop.callback = [](WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView detail,
                    void*, void*) {
    check(status == WGPUPopErrorScopeStatus_Success && type == WGPUErrorType_Validation,
          "the scope catches the compilation error", detail);
    check(detail.data != nullptr && detail.data[0] != 0, "the error has a message");
  };
  wgpuDevicePopErrorScope(state.device, pop);
  WGPUCompilationInfoCallbackInfo info = {};
  info.mode = WGPUCallbackMode_AllowSpontaneous;
  info.callback = [](WGPUCompilationInfoRequestStatus status, const WGPUCompilationInfo* found,
                     void*, void*) {
    check(status == WGPUCompilationInfoRequestStatus_Success && found->messageCount == 1,
          "one compilation message");
    check(found->messages[0].type == WGPUCompilationMessageType_Error, "it is an error");
    check(found->messages[0].lineNum == 1 && found->messages[0].linePos > 1, "it has a position");
    check_uncaptured_error();
  };
  wgpuShaderModuleGetCompilationInfo(module, info);
  wgpuShaderModuleRelease(module);
}

void check_ticks() {
  if (!state.timestamps) return check_compilation_error();
  WGPUBufferMapCallbackInfo map = {};
  map.mode = WGPUCallbackMode_AllowSpontaneous;
  map.callback = [](WGPUMapAsyncStatus status, WGPUStringView detail, void*, void*) {
    check(status == WGPUMapAsyncStatus_Success, "mapping the timestamps", detail);
    uint64_t ticks[2] = {};
    check(wgpuBufferReadMappedRange(state.ticks, 0, ticks, sizeof ticks) == WGPUStatus_Success,
          "ReadMappedRange");
    check(ticks[1] >= ticks[0] && ticks[1] > 0, "time passes");
    wgpuBufferUnmap(state.ticks);
    check_compilation_error();
  };
  wgpuBufferMapAsync(state.ticks, WGPUMapMode_Read, 0, 16, map);
}

void check_sums() {
  WGPUBufferMapCallbackInfo map = {};
  map.mode = WGPUCallbackMode_AllowSpontaneous;
  map.callback = [](WGPUMapAsyncStatus status, WGPUStringView detail, void*, void*) {
    check(status == WGPUMapAsyncStatus_Success, "mapping the result", detail);
    const auto* sums =
        static_cast<const float*>(wgpuBufferGetConstMappedRange(state.result, 0, kBytes));
    check(sums != nullptr, "the mapped range");
    check(wgpuBufferGetConstMappedRange(state.result, 4, 4) == sums + 1,
          "a part of it is the same");
    check(wgpuBufferGetMappedRange(state.result, 0, 4) == nullptr, "read mapping is not writable");
    check(wgpuBufferGetConstMappedRange(state.result, 0, kBytes + 4) == nullptr,
          "no more than mapped");
    for (uint32_t i = 0; i < kCount; ++i) {
      if (sums[i] != static_cast<float>(3 * i)) {
        std::printf("sum %u is %f\n", i, static_cast<double>(sums[i]));
        check(false, "sums");
      }
    }
    wgpuBufferUnmap(state.result);
    check(wgpuBufferGetMapState(state.result) == WGPUBufferMapState_Unmapped, "unmapped");
    check_ticks();
  };
  wgpuBufferMapAsync(state.result, WGPUMapMode_Read, 0, kBytes, map);
  check(wgpuBufferGetMapState(state.result) == WGPUBufferMapState_Pending, "mapping is pending");
}

void run(WGPUComputePipeline pipeline) {
  WGPUBuffer a = make_buffer(kBytes, WGPUBufferUsage_Storage, "a", true);
  WGPUBuffer b = make_buffer(kBytes, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst, "b");
  WGPUBuffer out = make_buffer(kBytes, WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc, "out");
  state.result = make_buffer(kBytes, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, "result");
  auto* values = static_cast<float*>(wgpuBufferGetMappedRange(a, 0, WGPU_WHOLE_MAP_SIZE));
  std::vector<float> doubles(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<float>(i);
    doubles[i] = static_cast<float>(2 * i);
  }
  wgpuBufferUnmap(a);
  wgpuQueueWriteBuffer(state.queue, b, 0, doubles.data(), kBytes);

  WGPUBindGroupEntry entries[3] = {};
  const WGPUBuffer buffers[] = {a, b, out};
  for (uint32_t i = 0; i < 3; ++i) {
    entries[i].binding = i;
    entries[i].buffer = buffers[i];
    entries[i].size = WGPU_WHOLE_SIZE;
  }
  WGPUBindGroupDescriptor group_descriptor = {};
  group_descriptor.layout = state.layout;
  group_descriptor.entryCount = 3;
  group_descriptor.entries = entries;
  WGPUBindGroup group = wgpuDeviceCreateBindGroup(state.device, &group_descriptor);

  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(state.device, nullptr);
  WGPUPassTimestampWrites writes = {};
  WGPUComputePassDescriptor pass_descriptor = {};
  WGPUBuffer resolved = nullptr;
  if (state.timestamps) {
    WGPUQuerySetDescriptor query_descriptor = {};
    query_descriptor.type = WGPUQueryType_Timestamp;
    query_descriptor.count = 2;
    state.queries = wgpuDeviceCreateQuerySet(state.device, &query_descriptor);
    resolved = make_buffer(16, WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc, "resolved");
    state.ticks = make_buffer(16, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, "ticks");
    writes.querySet = state.queries;
    writes.beginningOfPassWriteIndex = 0;
    writes.endOfPassWriteIndex = 1;
    pass_descriptor.timestampWrites = &writes;
  }
  WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, &pass_descriptor);
  wgpuComputePassEncoderSetPipeline(pass, pipeline);
  wgpuComputePassEncoderSetBindGroup(pass, 0, group, 0, nullptr);
  wgpuComputePassEncoderDispatchWorkgroups(pass, (kCount + 63) / 64, 1, 1);
  wgpuComputePassEncoderEnd(pass);
  wgpuComputePassEncoderRelease(pass);
  if (state.timestamps) {
    wgpuCommandEncoderResolveQuerySet(encoder, state.queries, 0, 2, resolved, 0);
    wgpuCommandEncoderCopyBufferToBuffer(encoder, resolved, 0, state.ticks, 0, 16);
    wgpuBufferRelease(resolved);
  }
  wgpuCommandEncoderCopyBufferToBuffer(encoder, out, 0, state.result, 0, kBytes);
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuCommandEncoderRelease(encoder);
  wgpuQueueSubmit(state.queue, 1, &commands);
  wgpuCommandBufferRelease(commands);
  wgpuBindGroupRelease(group);
  wgpuComputePipelineRelease(pipeline);
  for (WGPUBuffer buffer : buffers) wgpuBufferRelease(buffer);
  check_sums();
}

void build() {
  WGPUBindGroupLayoutEntry entries[3] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    entries[i].binding = i;
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type =
        i < 2 ? WGPUBufferBindingType_ReadOnlyStorage : WGPUBufferBindingType_Storage;
  }
  WGPUBindGroupLayoutDescriptor layout_descriptor = {};
  layout_descriptor.entryCount = 3;
  layout_descriptor.entries = entries;
  state.layout = wgpuDeviceCreateBindGroupLayout(state.device, &layout_descriptor);
  WGPUPipelineLayoutDescriptor pipeline_layout_descriptor = {};
  pipeline_layout_descriptor.bindGroupLayoutCount = 1;
  pipeline_layout_descriptor.bindGroupLayouts = &state.layout;
  WGPUPipelineLayout pipeline_layout =
      wgpuDeviceCreatePipelineLayout(state.device, &pipeline_layout_descriptor);

  WGPUShaderModule module = make_module(R"(
    @group(0) @binding(0) var<storage, read> a: array<f32>;
    @group(0) @binding(1) var<storage, read> b: array<f32>;
    @group(0) @binding(2) var<storage, read_write> sum: array<f32>;
    @compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3<u32>) {
      if (id.x < arrayLength(&sum)) { sum[id.x] = a[id.x] + b[id.x]; }
    })");
  WGPUComputePipelineDescriptor descriptor = {};
  descriptor.label = text("add");
  descriptor.layout = pipeline_layout;
  descriptor.compute.module = module;
  descriptor.compute.entryPoint = text("add");
  WGPUCreateComputePipelineAsyncCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowSpontaneous;
  callback.callback = [](WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline pipeline,
                         WGPUStringView detail, void*, void*) {
    check(status == WGPUCreatePipelineAsyncStatus_Success, "createComputePipelineAsync", detail);
    run(pipeline);
  };
  wgpuDeviceCreateComputePipelineAsync(state.device, &descriptor, callback);
  wgpuShaderModuleRelease(module);
  wgpuPipelineLayoutRelease(pipeline_layout);
}

void open_device() {
  WGPUAdapterInfo info = {};
  wgpuAdapterGetInfo(state.adapter, &info);
  std::printf("adapter: %s %s\n", info.vendor.data, info.description.data);
  wgpuAdapterInfoFreeMembers(info);
  WGPULimits limits = {};
  check(wgpuAdapterGetLimits(state.adapter, &limits) == WGPUStatus_Success, "adapter limits");
  check(limits.maxStorageBufferBindingSize >= 128u << 20,
        "the storage limit is at least the default");
  state.timestamps = wgpuAdapterHasFeature(state.adapter, WGPUFeatureName_TimestampQuery);

  const WGPUFeatureName features[] = {WGPUFeatureName_TimestampQuery};
  WGPUDeviceDescriptor descriptor = {};
  descriptor.label = text("test \"device\"");
  descriptor.requiredFeatureCount = state.timestamps ? 1 : 0;
  descriptor.requiredFeatures = features;
  descriptor.requiredLimits = &limits;
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.callback = [](const WGPUDevice* device,
                                                  WGPUDeviceLostReason reason,
                                                  WGPUStringView detail, void*, void*) {
    check(state.expect_loss && *device == state.device, "the device is lost when destroyed",
          detail);
    check(reason == WGPUDeviceLostReason_Destroyed, "the reason is that");
    std::printf("ok\n");
    emscripten_force_exit(0);
  };
  descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType type,
                                                       WGPUStringView detail, void*, void*) {
    check(type == WGPUErrorType_Validation, "an uncaptured error", detail);
    ++state.uncaptured;
  };
  WGPURequestDeviceCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowSpontaneous;
  callback.callback = [](WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView detail,
                         void*, void*) {
    check(status == WGPURequestDeviceStatus_Success, "requestDevice", detail);
    state.device = device;
    state.queue = wgpuDeviceGetQueue(device);
    WGPULimits got = {};
    wgpuDeviceGetLimits(device, &got);
    WGPULimits had = {};
    wgpuAdapterGetLimits(state.adapter, &had);
    check(got.maxBufferSize == had.maxBufferSize, "the device has the limits that were asked for");
    build();
  };
  wgpuAdapterRequestDevice(state.adapter, &descriptor, callback);
}

}  // namespace

int main() {
  state.instance = wgpuCreateInstance(nullptr);
  WGPURequestAdapterCallbackInfo callback = {};
  callback.mode = WGPUCallbackMode_AllowSpontaneous;
  callback.callback = [](WGPURequestAdapterStatus status, WGPUAdapter adapter,
                         WGPUStringView detail, void*, void*) {
    check(status == WGPURequestAdapterStatus_Success, "requestAdapter", detail);
    state.adapter = adapter;
    open_device();
  };
  wgpuInstanceRequestAdapter(state.instance, nullptr, callback);
  emscripten_exit_with_live_runtime();
}
