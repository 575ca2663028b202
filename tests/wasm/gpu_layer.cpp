// The gpu layer as wasm, in callbacks throughout: opens a device, uploads, runs a kernel with
// timestamps, reads back, has a kernel refused and a device lost. Prints "ok" or names the check
// that failed.

#include <emscripten/emscripten.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer.h"
#include "gpu/command_stream.h"
#include "gpu/device.h"
#include "gpu/pipeline.h"
#include "gpu/timestamps.h"
#include "gpu/transfer.h"

namespace executorch::backends::webgpu {
namespace {

constexpr uint32_t kCount = 3'000'000;  // 12 MB: more than one chunk of the uploader
constexpr WGPUBufferUsage kStorage =
    WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;

constexpr char kAffine[] = R"(
struct Params { scale: u32, offset: u32, count: u32, stride: u32 }
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> target_: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.y * params.stride + id.x;
  if (i < params.count) { target_[i] = source[i] * params.scale + params.offset; }
}
)";
constexpr BindingKind kBindings[] = {BindingKind::kReadOnlyStorage, BindingKind::kStorage,
                                     BindingKind::kUniform};

[[noreturn]] void fail_test(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  emscripten_force_exit(1);
  __builtin_unreachable();
}

void check(bool ok, const char* what) {
  if (!ok) fail_test(what);
}

void must(const Status& status) {
  if (!status) fail_test(status.error().message);
}

template <typename T>
T must(Result<T> result) {
  if (!result) fail_test(result.error().message);
  return std::move(*result);
}

// What the test holds from one callback to the next.
struct Run {
  std::shared_ptr<Device> device;
  std::shared_ptr<Pipeline> pipeline;
  std::shared_ptr<Pipeline> refused;
  Buffer source, target, params;
  Handle<WGPUBindGroup> group;
  std::optional<Readback> readback;
  std::optional<Timestamps> timestamps;
  uint64_t errors_before = 0;
};

Run run;

void lose_device() {
  run.device->destroy();
  // Its loss arrives from the event loop.
  emscripten_async_call(
      [](void*) {
        const Status health = run.device->health();
        check(!health && health.error().code == ErrorCode::kDeviceLost,
              "a destroyed device says so");
        Device::acquire_async({}, [](Result<std::shared_ptr<Device>> device) {
          check(must(device) != run.device, "a lost device is not given out again");
          run = {};
          std::printf("ok\n");
          emscripten_force_exit(0);
        });
      },
      nullptr, 50);
}

void check_refusal() {
  run.refused = must(run.device->pipelines().get(
      {.label = "wrong_kernel",
       .source = "@compute @workgroup_size(1) fn main() { let x: f32 = 1u; }"}));
  run.refused->compiled().on_done([](const Status& compiled) {
    check(!compiled, "a wrong kernel is refused");
    check(compiled.error().message.find("wrong_kernel") != std::string::npos, "by its name");
    std::printf("%s\n", compiled.error().message.c_str());
    lose_device();
  });
}

void check_spans() {
  if (!run.timestamps) return check_refusal();
  run.timestamps->map().on_done([](const Status& mapped) {
    must(mapped);
    const auto spans = must(run.timestamps->read());
    check(spans.size() == 1 && spans[0].end_ns >= spans[0].begin_ns, "one span");
    check_refusal();
  });
}

void read_back() {
  run.readback->map(run.target.size()).on_done([](const Status& mapped) {
    must(mapped);
    must(run.device->error_since(run.errors_before));
    const auto bytes = must(run.readback->data());
    check(bytes.size() == kCount * 4ull, "size");
    for (uint32_t i = 0; i < kCount; ++i) {
      uint32_t value;
      std::memcpy(&value, bytes.data() + i * 4ull, 4);
      if (value != i * 3 + 5) fail_test(fmt::format("value {} is {}", i, value));
    }
    run.readback->unmap();
    check_spans();
  });
}

void dispatch() {
  run.errors_before = run.device->error_count();
  auto stream = must(
      CommandStream::begin(*run.device, "affine", run.timestamps ? &*run.timestamps : nullptr));
  stream.dispatch(run.pipeline->handle(), run.group.get(), 4096, (kCount / 64 + 4095) / 4096);
  stream.copy(run.target.handle(), 0, run.readback->buffer(), 0, run.target.size());
  must(stream.submit());
  read_back();
}

void prepare() {
  Device& device = *run.device;
  run.pipeline =
      must(device.pipelines().get({.label = "affine", .source = kAffine, .bindings = kBindings}));
  std::vector<uint32_t> values(kCount);
  std::iota(values.begin(), values.end(), 0u);
  const std::vector<uint32_t> params = {3, 5, kCount, 4096 * 64};
  run.source = must(Buffer::create(device, kCount * 4ull, kStorage, "source"));
  run.target = must(Buffer::create(device, kCount * 4ull, kStorage, "target"));
  run.params =
      must(Buffer::create(device, 16, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, "params"));
  Uploader uploader(device);
  must(uploader.write(run.source, 0, std::as_bytes(std::span(values))));
  must(uploader.write(run.params, 0, std::as_bytes(std::span(params))));
  must(uploader.flush());
  const BindingEntry entries[] = {
      {run.source.handle()}, {run.target.handle()}, {run.params.handle()}};
  run.group = must(create_bind_group(device, *run.pipeline, entries, "affine"));
  run.readback = must(Readback::create(device, run.target.size(), "readback"));
  if (device.capabilities().timestamps) run.timestamps = must(Timestamps::create(device, 4));
  run.pipeline->compiled().on_done([](const Status& compiled) {
    must(compiled);
    dispatch();
  });
}

}  // namespace
}  // namespace executorch::backends::webgpu

int main() {
  using namespace executorch::backends::webgpu;
  Device::acquire_async({}, [](Result<std::shared_ptr<Device>> device) {
    run.device = must(std::move(device));
    const AdapterInfo& adapter = run.device->adapter();
    std::printf("adapter: %s (%s)\n", adapter.name.c_str(), adapter.backend.c_str());
    prepare();
  });
  emscripten_exit_with_live_runtime();
}
