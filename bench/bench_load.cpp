// How far host memory grows while constants are loaded from a mapped file, which should be no more
// than the largest constant and a fixed amount of staging:
//
//   bench_load [FOLDER FOR A TEMPORARY FILE] [CONSTANTS] [MIB EACH]
//
// Where the GPU's memory is the host's own (software adapters, integrated GPUs) it is counted, too.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/executable.h"
#include "program/file_map.h"

namespace executorch::backends::webgpu {
namespace {

// Bytes of this process in memory, mapped files included.
uint64_t resident() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, pages = 0;
  statm >> total >> pages;
  return pages * 4096;
}

// The largest value of resident() while it lives.
class Peak {
 public:
  Peak()
      : thread_([this] {
          while (!stop_) {
            peak_ = std::max<uint64_t>(peak_, resident());
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          }
        }) {}
  uint64_t finish() {
    stop_ = true;
    thread_.join();
    return peak_;
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> peak_ = 0;
  std::thread thread_;
};

// x + c for each constant, of which each is `rows` rows of 1024 floats.
Graph sums(int64_t constants, int64_t rows) {
  Graph graph;
  const auto tensor = [&](const Shape& dims, int32_t constant) {
    Tensor t;
    t.max_dims = dims;
    t.constant = constant;
    return graph.add(t);
  };
  const auto call = [&](const char* op, std::vector<ValueId> args, ValueId out) {
    Node node;
    node.op = op;
    node.args = std::move(args);
    node.outputs = {out};
    graph.nodes.push_back(std::move(node));
  };
  const ValueId x = tensor({1, 1024}, -1);
  graph.inputs.push_back(x);
  const ValueId one = graph.add(int64_t{1}), dim = graph.add(std::vector<int64_t>{0}),
                keep = graph.add(true);
  for (int64_t i = 0; i < constants; ++i) {
    const auto nbytes = static_cast<uint64_t>(rows) * 4096;
    graph.constants.push_back({std::to_string(i), 0, nbytes});
    const ValueId c = tensor({rows, 1024}, static_cast<int32_t>(i));
    const ValueId sum = tensor({rows, 1024}, -1), out = tensor({1, 1024}, -1);
    call("aten.add.Tensor", {c, x, one}, sum);
    call("aten.amax.default", {sum, dim, keep}, out);
    graph.outputs.push_back(out);
  }
  return graph;
}

Status measure(const std::string& path, int64_t constants, uint64_t each) {
  ETWG_ASSIGN(const auto device, Device::acquire({}));
  const auto load = [&](int64_t count, uint64_t bytes,
                        const ConstantReader& reader) -> Result<uint64_t> {
    ETWG_ASSIGN(Plan plan,
                make_plan(sums(count, static_cast<int64_t>(bytes / 4096)), device->capabilities()));
    const uint64_t before = resident();
    Peak peak;
    ETWG_ASSIGN(const auto executable, Executable::load(device, std::move(plan), reader));
    return peak.finish() - before;
  };
  ETWG_ASSIGN(const FileMap file, FileMap::open(path));
  const ConstantReader reader = [&](const Constant& constant,
                                    const std::function<Status(Bytes)>& use) {
    const uint64_t at = std::stoull(constant.key) * each;
    const Bytes bytes = file.bytes().subspan(at, constant.nbytes);
    Status status = use(bytes);
    file.forget(bytes);
    return status;
  };
  // What the driver and the compiler take the first time belongs to no program.
  ETWG_TRY(load(1, 4096, reader));
  ETWG_ASSIGN(const uint64_t grown, load(constants, each, reader));
  fmt::print(
      "{}: {} constants of {} MiB: host memory grew by {:.1f} MiB at most, largest constant + "
      "{:.1f} MiB\n",
      device->adapter().name, constants, each >> 20, static_cast<double>(grown) / (1 << 20),
      (static_cast<double>(grown) - static_cast<double>(each)) / (1 << 20));
  return {};
}

}  // namespace
}  // namespace executorch::backends::webgpu

int main(int argc, char** argv) {
  using namespace executorch::backends::webgpu;  // NOLINT: this is the program's own namespace
  const std::string folder = argc > 1 ? argv[1] : "/tmp";
  const int64_t constants = argc > 2 ? std::atoll(argv[2]) : 8;
  const uint64_t each = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 128) << 20;
  const std::string path = folder + "/bench_load.bin";
  {
    std::ofstream file(path, std::ios::binary);
    const std::vector<char> block(1 << 20, 1);
    for (uint64_t i = 0; i < static_cast<uint64_t>(constants) * (each >> 20); ++i) {
      file.write(block.data(), static_cast<std::streamsize>(block.size()));
    }
  }
  const Status status = measure(path, constants, each);
  std::filesystem::remove(path);
  if (status) return 0;
  fmt::print(stderr, "bench_load: {}\n", status.error().message);
  return 1;
}
