// The layer on webgpu.h, on whatever adapter ETWEBGPU_ADAPTER or the default selects.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gpu/adapter_diagnosis.h"
#include "gpu/buffer.h"
#include "gpu/command_stream.h"
#include "gpu/pipeline.h"
#include "gpu/timestamps.h"
#include "gpu/transfer.h"

namespace executorch::backends::webgpu {
namespace {

constexpr WGPUBufferUsage kStorage =
    WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;

constexpr char kAffine[] = R"(
struct Params { scale: u32, offset: u32, count: u32 }
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> target_: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.count) { target_[id.x] = source[id.x] * params.scale + params.offset; }
}
)";
constexpr BindingKind kAffineBindings[] = {BindingKind::kReadOnlyStorage, BindingKind::kStorage,
                                           BindingKind::kUniform};

template <typename T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(*result);
}

void must(const Status& status) { ASSERT_TRUE(status) << status.error().message; }

std::span<const std::byte> bytes_of(const std::vector<uint32_t>& values) {
  return std::as_bytes(std::span<const uint32_t>(values));
}

std::vector<uint32_t> read_back(Device& device, const Buffer& buffer) {
  Readback readback = must(Readback::create(device, buffer.size(), "test readback"));
  CommandStream stream = must(CommandStream::begin(device, "read back"));
  stream.copy(buffer.handle(), 0, readback.buffer(), 0, buffer.size());
  must(stream.submit());
  must(readback.map(buffer.size()).wait());
  const auto bytes = must(readback.data());
  std::vector<uint32_t> out(bytes.size() / sizeof(uint32_t));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  readback.unmap();
  return out;
}

// target = source * scale + offset, with all it takes to run it.
struct Affine {
  std::shared_ptr<Pipeline> pipeline;
  Buffer source, target, params;
  Handle<WGPUBindGroup> group;
  uint32_t count;

  Affine(Device& device, uint32_t n, uint32_t scale, uint32_t offset) : count(n) {
    pipeline = must(device.pipelines().get(
        {.label = "affine", .source = kAffine, .bindings = kAffineBindings}));
    std::vector<uint32_t> values(n);
    std::iota(values.begin(), values.end(), 0u);
    source = must(Buffer::create(device, n * 4ull, kStorage, "source"));
    target = must(Buffer::create(device, n * 4ull, kStorage, "target"));
    params = must(
        Buffer::create(device, 16, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, "params"));
    Uploader uploader(device);
    must(uploader.write(source, 0, bytes_of(values)));
    must(uploader.write(params, 0, bytes_of({scale, offset, n})));
    must(uploader.flush());
    const BindingEntry entries[] = {{source.handle()}, {target.handle()}, {params.handle(), 0, 16}};
    group = must(create_bind_group(device, *pipeline, entries, "affine"));
    must(pipeline->compiled().wait());
  }

  void record(CommandStream& stream) const {
    stream.dispatch(pipeline->handle(), group.get(), (count + 63) / 64);
  }
};

std::shared_ptr<Device> open_device(const DeviceOptions& options = {}) {
  return must(Device::acquire(options));
}

AdapterInfo named(std::string name, AdapterType type) {
  AdapterInfo info;
  info.name = std::move(name);
  info.type = type;
  info.backend = "Vulkan";
  return info;
}

TEST(ChooseAdapter, PrefersDiscreteThenIntegratedThenCpu) {
  const std::vector<AdapterInfo> all = {named("Soft", AdapterType::kCpu),
                                        named("Intel Iris", AdapterType::kIntegrated),
                                        named("NVIDIA Big", AdapterType::kDiscrete)};
  EXPECT_EQ(choose_adapter(all, "").value(), 2u);
  EXPECT_EQ(choose_adapter(all, "gpu").value(), 2u);
  EXPECT_EQ(choose_adapter(all, "CPU").value(), 0u);
  EXPECT_EQ(choose_adapter(all, "1").value(), 1u);
  EXPECT_EQ(choose_adapter(all, "iris").value(), 1u);
  EXPECT_EQ(choose_adapter({all[0], all[1]}, "").value(), 1u);
  EXPECT_EQ(choose_adapter({all[0]}, "").value(), 0u);
}

TEST(ChooseAdapter, SaysWhatThereIs) {
  const auto none = choose_adapter({named("Soft", AdapterType::kCpu)}, "radeon");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("radeon"), std::string::npos);
  EXPECT_NE(none.error().message.find("0: Soft (cpu, Vulkan)"), std::string::npos);
  EXPECT_FALSE(choose_adapter({named("Soft", AdapterType::kCpu)}, "gpu"));
  EXPECT_FALSE(choose_adapter({named("Soft 7", AdapterType::kCpu)}, "7"));
  EXPECT_FALSE(choose_adapter({}, ""));
}

TEST(Adapters, AreListedWithTheirLimits) {
  const auto adapters = must(list_adapters());
  ASSERT_FALSE(adapters.empty());
  for (const AdapterInfo& info : adapters) {
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.backend.empty());
    EXPECT_NE(info.backend, "Null");
    EXPECT_GE(info.capabilities.max_storage_binding_size, 128ull << 20);
    EXPECT_GE(info.capabilities.max_storage_buffers_per_stage, 8u);
    EXPECT_GE(info.capabilities.max_workgroups_per_dimension, 65535u);
    EXPECT_EQ(info.capabilities.subgroups, info.capabilities.subgroup_max_size > 0);
  }
}

#if defined(__linux__)
TEST(Adapters, AnAbsentOneIsExplainedByTheDriversLookedAt) {
  const char* before = std::getenv("VK_DRIVER_FILES");
  const std::string saved = before == nullptr ? "" : before;
  setenv("VK_DRIVER_FILES", "/drivers/of_another_gpu.json", 1);
  const std::string message = explain_no_adapter("nothing here");
  if (before == nullptr) {
    unsetenv("VK_DRIVER_FILES");
  } else {
    setenv("VK_DRIVER_FILES", saved.c_str(), 1);
  }
  EXPECT_NE(message.find("/drivers/of_another_gpu.json"), std::string::npos) << message;
  EXPECT_NE(message.find("nothing here"), std::string::npos) << message;
}
#endif

TEST(DeviceTest, UnknownAdapterIsRefusedByName) {
  const auto device = Device::acquire({.adapter = "no such adapter"});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, ErrorCode::kNotFound);
  EXPECT_NE(device.error().message.find("no such adapter"), std::string::npos);
}

TEST(DeviceTest, IsSharedPerAdapterAndOptions) {
  const auto a = open_device();
  EXPECT_EQ(a, open_device());
  // Another selector that leads to the same adapter leads to the same device.
  EXPECT_EQ(a, open_device({.adapter = a->adapter().name}));
  const auto plain = open_device({.default_limits = true, .f16 = false, .subgroups = false});
  EXPECT_NE(a, plain);
  EXPECT_FALSE(plain->capabilities().f16);
  EXPECT_FALSE(plain->capabilities().subgroups);
  EXPECT_EQ(plain->capabilities().subgroup_max_size, 0u);
  EXPECT_EQ(plain->capabilities().max_storage_binding_size, 128ull << 20);
  EXPECT_EQ(plain->capabilities().max_storage_buffers_per_stage, 8u);
  EXPECT_GE(a->capabilities().max_storage_binding_size,
            plain->capabilities().max_storage_binding_size);
}

TEST(DeviceTest, AcquireAsyncGivesTheSameDevice) {
  const auto blocking = open_device();
  std::shared_ptr<Device> device;
  Device::acquire_async({}, [&](Result<std::shared_ptr<Device>> opened) { device = must(opened); });
  EXPECT_EQ(device, blocking);
}

TEST(DeviceTest, ThreadsThatOpenAtOnceShareIt) {
  const DeviceOptions options = {.f16 = false, .timestamps = false};
  std::shared_ptr<Device> one, two;
  std::thread first([&] { one = open_device(options); });
  std::thread second([&] { two = open_device(options); });
  first.join();
  second.join();
  EXPECT_EQ(one, two);
}

TEST(DeviceTest, IsGoneWhenNobodyHoldsIt) {
  std::weak_ptr<Device> first = open_device({.f16 = false});
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(open_device({.f16 = false})->health());
}

TEST(DeviceTest, LossIsReportedAndTheNextAcquireWorks) {
  const DeviceOptions options = {.timestamps = false};  // a device no other test shares
  const auto lost = open_device(options);
  const Affine work(*lost, 100, 2, 1);
  Readback readback = must(Readback::create(*lost, 400, "results"));
  lost->destroy();
  lost->poll();
  const Status health = lost->health();
  ASSERT_FALSE(health);
  EXPECT_EQ(health.error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(lost->error_since(lost->error_count()).error().code, ErrorCode::kDeviceLost);
  EXPECT_FALSE(CommandStream::begin(*lost, "after the loss"));
  EXPECT_FALSE(Buffer::create(*lost, 64, kStorage, "after the loss"));
  EXPECT_FALSE(readback.map(400).wait());

  const auto next = open_device(options);
  EXPECT_NE(next, lost);
  const Affine again(*next, 100, 2, 1);
  CommandStream stream = must(CommandStream::begin(*next, "affine"));
  again.record(stream);
  must(stream.submit());
  EXPECT_EQ(read_back(*next, again.target)[99], 199u);
}

TEST(DeviceTest, AnUncaughtErrorFailsTheRunItBelongsTo) {
  const auto device = open_device();
  const uint64_t before = device->error_count();
  must(device->error_since(before));
  // A copy past the end, with no scope around it.
  const Buffer small = must(Buffer::create(*device, 16, kStorage, "small"));
  Handle<WGPUCommandEncoder> encoder(wgpuDeviceCreateCommandEncoder(device->handle(), nullptr));
  wgpuCommandEncoderClearBuffer(encoder.get(), small.handle(), 0, 4096);
  Handle<WGPUCommandBuffer> commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  must(device->queue_done().wait());
  EXPECT_EQ(device->error_count(), before + 1);
  const Status error = device->error_since(before);
  ASSERT_FALSE(error);
  EXPECT_NE(error.error().message.find("small"), std::string::npos) << error.error().message;
  must(device->error_since(device->error_count()));
  must(device->health());
}

TEST(BufferTest, OverTheLimitIsRefusedByNameAndSize) {
  const auto device = open_device({.default_limits = true});
  const auto buffer = Buffer::create(*device, 300ull << 20, kStorage, "lm_head.weight");
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, ErrorCode::kOutOfMemory);
  EXPECT_NE(buffer.error().message.find("lm_head.weight"), std::string::npos);
  EXPECT_NE(buffer.error().message.find("314572800"), std::string::npos);
  EXPECT_NE(buffer.error().message.find("268435456"), std::string::npos);
}

TEST(BufferTest, ARefusedUsageNamesTheBuffer) {
  const auto device = open_device();
  const auto buffer =
      Buffer::create(*device, 16, WGPUBufferUsage_MapRead | WGPUBufferUsage_Storage, "wrong usage");
  ASSERT_FALSE(buffer);
  EXPECT_NE(buffer.error().message.find("wrong usage"), std::string::npos);
  must(device->health());
}

TEST(Transfer, UploadsMoreThanTheStagingHolds) {
  const auto device = open_device();
  const uint32_t count = (20u << 20) / 4 + 3;  // beyond two chunks, not a multiple of one
  std::vector<uint32_t> values(count);
  for (uint32_t i = 0; i < count; ++i) values[i] = i * 2654435761u;
  const Buffer first = must(Buffer::create(*device, count * 4ull, kStorage, "first"));
  const Buffer second = must(Buffer::create(*device, count * 4ull, kStorage, "second"));
  Uploader uploader(*device);
  must(uploader.write(first, 0, bytes_of(values)));
  must(uploader.write(second, 8, bytes_of(values).first(values.size() * 4 - 8)));
  must(uploader.write(second, 0, bytes_of({7, 9})));
  must(uploader.flush());
  EXPECT_EQ(read_back(*device, first), values);
  const auto shifted = read_back(*device, second);
  EXPECT_EQ(shifted[0], 7u);
  EXPECT_EQ(shifted[1], 9u);
  EXPECT_TRUE(std::equal(values.begin(), values.end() - 2, shifted.begin() + 2));
}

TEST(Transfer, OddSizesArePaddedWithZeros) {
  const auto device = open_device();
  const Buffer buffer = must(Buffer::create(*device, 8, kStorage, "odd"));
  Uploader uploader(*device);
  const std::vector<uint32_t> ones = {0xffffffffu, 0xffffffffu};
  must(uploader.write(buffer, 0, bytes_of(ones)));
  must(uploader.write(buffer, 0, bytes_of(ones).first(5)));
  must(uploader.flush());
  EXPECT_EQ(read_back(*device, buffer), (std::vector<uint32_t>{0xffffffffu, 0xffu}));
}

TEST(Transfer, StagingRingServesRunAfterRun) {
  const auto device = open_device();
  const uint64_t before = device->error_count();
  const Buffer log = must(Buffer::create(*device, 4 * 50, kStorage, "log"));
  StagingRing ring(*device, 4, "inputs");
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 50; ++i) {
    const auto bytes = must(ring.acquire());
    ASSERT_EQ(bytes.size(), 4u);
    const uint32_t value = i * i;
    std::memcpy(bytes.data(), &value, 4);
    const WGPUBuffer source = ring.seal();
    CommandStream stream = must(CommandStream::begin(*device, "copy"));
    stream.copy(source, 0, log.handle(), i * 4, 4);
    must(stream.submit());
    ring.recycle();
    expected.push_back(value);
  }
  EXPECT_EQ(read_back(*device, log), expected);
  must(device->error_since(before));
}

TEST(PipelineTest, AKernelRunsRight) {
  const auto device = open_device();
  const uint64_t before = device->error_count();
  const Affine work(*device, 1000, 3, 5);
  CommandStream stream = must(CommandStream::begin(*device, "affine"));
  work.record(stream);
  EXPECT_EQ(stream.dispatch_count(), 1u);
  must(stream.submit());
  const auto out = read_back(*device, work.target);
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], i * 3 + 5);
  must(device->error_since(before));
}

TEST(PipelineTest, AreCachedBySourceAndBindings) {
  const auto device = open_device();
  PipelineCache& cache = device->pipelines();
  const PipelineDesc desc = {.label = "a", .source = kAffine, .bindings = kAffineBindings};
  const auto a = must(cache.get(desc));
  const size_t size = cache.size();
  PipelineDesc relabelled = desc;
  relabelled.label = "b";
  EXPECT_EQ(must(cache.get(relabelled)), a);
  EXPECT_EQ(cache.size(), size);
  const std::string other_source = std::string(kAffine) + "// another\n";
  PipelineDesc other = desc;
  other.source = other_source;
  EXPECT_NE(must(cache.get(other)), a);
  EXPECT_EQ(cache.size(), size + 1);
  must(a->compiled().wait());
}

TEST(PipelineTest, BadSourceNamesTheKernelAndTheLine) {
  const auto device = open_device();
  const uint64_t before = device->error_count();
  const PipelineDesc desc = {
      .label = "broken_kernel",
      .source = "@compute @workgroup_size(1)\nfn main() {\n  nonsense();\n}\n"};
  const auto pipeline = must(device->pipelines().get(desc));
  const Status status = pipeline->compiled().wait();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("broken_kernel"), std::string::npos);
  EXPECT_NE(status.error().message.find(":3:3"), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("nonsense"), std::string::npos);
  EXPECT_EQ(pipeline->handle(), nullptr);
  // It is an error of this load only, and is tried again.
  must(device->error_since(before));
  EXPECT_NE(must(device->pipelines().get(desc)), pipeline);
}

TEST(PipelineTest, AMissingEntryPointNamesTheKernel) {
  const auto device = open_device();
  const auto pipeline = must(device->pipelines().get({.label = "no_entry",
                                                      .source = kAffine,
                                                      .entry_point = "elsewhere",
                                                      .bindings = kAffineBindings}));
  const Status status = pipeline->compiled().wait();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("no_entry"), std::string::npos);
  EXPECT_NE(status.error().message.find("elsewhere"), std::string::npos);
}

TEST(PipelineTest, ABadBindGroupNamesTheKernel) {
  const auto device = open_device();
  const auto pipeline = must(
      device->pipelines().get({.label = "affine", .source = kAffine, .bindings = kAffineBindings}));
  const Buffer buffer = must(Buffer::create(*device, 1024, kStorage, "shared"));
  const BindingEntry few[] = {{buffer.handle()}};
  const auto missing = create_bind_group(*device, *pipeline, few, "too few");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("too few"), std::string::npos);
  const BindingEntry wrong[] = {{buffer.handle()}, {buffer.handle(), 256}, {buffer.handle()}};
  const auto usage = create_bind_group(*device, *pipeline, wrong, "storage as uniform");
  ASSERT_FALSE(usage);
  EXPECT_NE(usage.error().message.find("affine"), std::string::npos);
  EXPECT_NE(usage.error().message.find("storage as uniform"), std::string::npos);
}

TEST(CommandStreamTest, AnErrorWhileRecordingIsReturned) {
  const auto device = open_device();
  const uint64_t before = device->error_count();
  const Buffer small = must(Buffer::create(*device, 16, kStorage, "small"));
  CommandStream stream = must(CommandStream::begin(*device, "bad commands"));
  stream.clear(small.handle(), 0, 64);
  const Status status = stream.submit();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("bad commands"), std::string::npos);
  EXPECT_FALSE(stream.submit());
  must(device->error_since(before));
}

TEST(CommandStreamTest, AbandonedStreamsLeaveTheDeviceUsable) {
  const auto device = open_device();
  const Affine work(*device, 64, 1, 1);
  {
    CommandStream stream = must(CommandStream::begin(*device, "abandoned"));
    work.record(stream);
  }
  EXPECT_EQ(read_back(*device, work.target)[5], 0u);
}

TEST(CommandStreamTest, TwoThreadsShareADevice) {
  const auto device = open_device();
  const uint64_t before = device->error_count();
  std::atomic<int> wrong{0};
  const auto work = [&](uint32_t scale) {
    const Affine affine(*device, 5000, scale, 1);
    for (int run = 0; run < 40; ++run) {
      CommandStream stream = must(CommandStream::begin(*device, "threaded"));
      stream.clear(affine.target.handle(), 0, affine.target.size());
      affine.record(stream);
      must(stream.submit());
      const auto out = read_back(*device, affine.target);
      for (uint32_t i = 0; i < 5000; ++i) wrong += out[i] != i * scale + 1;
    }
  };
  std::thread one(work, 3), two(work, 7);
  one.join();
  two.join();
  EXPECT_EQ(wrong, 0);
  must(device->error_since(before));
}

TEST(CommandStreamTest, OneThreadWaitsWhileAnotherSubmits) {
  const auto device = open_device();
  std::atomic<bool> stop{false};
  const Affine affine(*device, 200000, 3, 1);
  std::thread waiter([&] {
    while (!stop) must(device->queue_done().wait());
  });
  for (int i = 0; i < 200; ++i) {
    CommandStream stream = must(CommandStream::begin(*device, "busy"));
    affine.record(stream);
    must(stream.submit());
  }
  stop = true;
  waiter.join();
  EXPECT_EQ(read_back(*device, affine.target)[1000], 3001u);
}

TEST(CompletionTest, CallsBackOnceItIsDone) {
  const auto device = open_device();
  std::atomic<int> calls{0};
  const Completion done = device->queue_done();
  done.on_done([&](const Status& status) { calls += status ? 1 : 100; });
  must(done.wait());
  EXPECT_EQ(calls, 1);
  done.on_done([&](const Status&) { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(done.ready());
}

TEST(TimestampsTest, SpansAreMonotoneAcrossSets) {
  const auto device = open_device();
  if (!device->capabilities().timestamps) {
    EXPECT_FALSE(Timestamps::create(*device, 4));
    return;
  }
  const Affine affine(*device, 4096, 3, 1);
  const uint32_t spans = 2048 + 70;  // more than one query set holds, in two submits
  Timestamps timestamps = must(Timestamps::create(*device, spans));
  for (uint32_t part : {30u, spans - 30u}) {
    CommandStream stream = must(CommandStream::begin(*device, "profiled", &timestamps));
    for (uint32_t i = 0; i < part; ++i) affine.record(stream);
    must(stream.submit());
  }
  must(timestamps.map().wait());
  const auto read = must(timestamps.read());
  ASSERT_EQ(read.size(), spans);
  uint64_t last = 1;
  uint64_t busy = 0;
  for (const Timestamps::Span& span : read) {
    EXPECT_GE(span.begin_ns, last);
    EXPECT_GE(span.end_ns, span.begin_ns);
    last = span.end_ns;
    busy += span.end_ns - span.begin_ns;
  }
  EXPECT_GT(busy, 0u);
  // What does not fit is run and not measured.
  CommandStream stream = must(CommandStream::begin(*device, "beyond", &timestamps));
  affine.record(stream);
  must(stream.submit());
  EXPECT_EQ(timestamps.count(), spans);
  timestamps.reset();
  EXPECT_EQ(timestamps.count(), 0u);
}

TEST(BlobCacheTest, APipelineIsKeptOnDisk) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("etwebgpu-cache-" + std::to_string(std::random_device()()));
  const DeviceOptions options = {.cache_dir = folder.string()};
  for (int round = 0; round < 3; ++round) {
    const auto device = open_device(options);
    const Affine affine(*device, 100, 3, 1);
    CommandStream stream = must(CommandStream::begin(*device, "cached"));
    affine.record(stream);
    must(stream.submit());
    EXPECT_EQ(read_back(*device, affine.target)[10], 31u);
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      ++files;
      // What a crash or another program left there must not matter.
      if (round == 1) std::filesystem::resize_file(entry, entry.file_size() / 2);
    }
    EXPECT_GT(files, 0u);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace executorch::backends::webgpu
