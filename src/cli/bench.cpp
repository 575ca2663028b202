#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/options.h"

namespace executorch::backends::webgpu::cli {

namespace {

struct Options {
  ModelOptions model;
  LoadOptions load;
  std::vector<std::string> inputs, live;
  size_t runs = 20;
  bool as_json = false;
};

struct Figures {
  std::string adapter;
  size_t dispatches = 0;
  double device_ms = 0;  // to get the device, which all programs of a process share
  double load_ms = 0;    // from opening the file to being ready to run
  double first_run_ms = 0, median_run_ms = 0, fastest_run_ms = 0;
  uint64_t gpu_memory_bytes = 0;
  double host_us_per_dispatch = 0;  // encoding and submitting
};

class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

uint64_t host_ns(const Session& session) {
  uint64_t sum = 0;
  for (size_t i = 0; i < session.call_count(); ++i) sum += session.executable(i).record_ns();
  return sum;
}

Result<Figures> measure(const Options& options) {
  Figures figures;
  const Stopwatch device_watch;
  ETWG_ASSIGN(const auto device, Device::acquire(options.load.device));
  figures.device_ms = device_watch.ms();
  figures.adapter = device->adapter().name;

  const Stopwatch load_watch;
  ETWG_ASSIGN(const Model model, options.model.open());
  ETWG_ASSIGN(const auto session, model.load(options.model.method, options.load));
  figures.load_ms = load_watch.ms();
  figures.gpu_memory_bytes = session->gpu_bytes();

  ETWG_ASSIGN(const auto owned, given_or_random(options.inputs, options.live, session->method()));
  const std::vector<HostInput> inputs = lend(owned);
  const Stopwatch first_watch;
  ETWG_TRY(session->run(inputs));
  figures.first_run_ms = first_watch.ms();
  figures.dispatches = dispatch_count(*session);

  std::vector<double> times, host_times;
  for (size_t i = 0; i < options.runs; ++i) {
    const Stopwatch watch;
    ETWG_TRY(session->run(inputs));
    times.push_back(watch.ms());
    host_times.push_back(static_cast<double>(host_ns(*session)) * 1e-3);
  }
  figures.median_run_ms = median(times);
  figures.fastest_run_ms = times.empty() ? 0 : *std::min_element(times.begin(), times.end());
  figures.host_us_per_dispatch =
      median(host_times) / static_cast<double>(std::max<size_t>(figures.dispatches, 1));
  return figures;
}

Outcome bench(const Options& options) {
  ETWG_ASSIGN(const Figures f, measure(options));
  if (options.as_json) {
    fmt::print("{}\n", nlohmann::json{{"adapter", f.adapter},
                                      {"dispatches", f.dispatches},
                                      {"device_ms", f.device_ms},
                                      {"load_ms", f.load_ms},
                                      {"first_run_ms", f.first_run_ms},
                                      {"median_run_ms", f.median_run_ms},
                                      {"fastest_run_ms", f.fastest_run_ms},
                                      {"runs", options.runs},
                                      {"gpu_memory_bytes", f.gpu_memory_bytes},
                                      {"host_us_per_dispatch", f.host_us_per_dispatch}}
                           .dump(1));
    return kOk;
  }
  fmt::print("adapter                {}\n", f.adapter);
  fmt::print("dispatches             {}\n", f.dispatches);
  fmt::print("device                 {:.2f} ms\n", f.device_ms);
  fmt::print("load                   {:.2f} ms\n", f.load_ms);
  fmt::print("first run              {:.3f} ms\n", f.first_run_ms);
  fmt::print("median of {:<5} runs   {:.3f} ms (fastest {:.3f})\n", options.runs, f.median_run_ms,
             f.fastest_run_ms);
  fmt::print("GPU memory             {:.2f} MiB\n",
             static_cast<double>(f.gpu_memory_bytes) / (1 << 20));
  fmt::print("host time a dispatch   {:.2f} us to encode and submit\n", f.host_us_per_dispatch);
  return kOk;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("bench", "Time a program (random inputs at the maximum sizes if none)");
  auto options = std::make_shared<Options>();
  add_model_options(*command, options->model);
  add_random_inputs_options(*command, options->inputs, options->live);
  add_load_options(*command, options->load);
  command->add_option("--runs", options->runs, "Runs after the first one (default: 20)")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--chunk", options->load.executable.dispatches_per_submit,
                      "At most so many dispatches a submit (default: all in one)");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([=, &action] { action = [=] { return bench(*options); }; });
}

}  // namespace executorch::backends::webgpu::cli
