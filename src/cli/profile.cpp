#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/ceilings.h"
#include "cli/options.h"
#include "cli/trace.h"

namespace executorch::backends::webgpu::cli {

namespace {

struct Options {
  ModelOptions model;
  LoadOptions load;
  std::vector<std::string> inputs, live;
  std::string trace;
  size_t runs = 5;
  bool as_json = false;
};

// Dispatches that a table shows as one row.
struct Row {
  std::string name;
  size_t dispatches = 0;
  uint64_t ns = 0, bytes = 0, flops = 0;

  void add(const ProfileEntry& entry) {
    ++dispatches;
    ns += entry.end_ns - entry.begin_ns;
    bytes += entry.bytes;
    flops += entry.flops;
  }
  // In bytes, or operations, a nanosecond: GB/s and GFLOP/s.
  double gbytes() const {
    return ns == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(ns);
  }
  double gflops() const {
    return ns == 0 ? 0 : static_cast<double>(flops) / static_cast<double>(ns);
  }
};

// Rows in the order of the time they take.
template <typename NameOf>
std::vector<Row> group(const std::vector<Profile>& calls, const NameOf& name_of) {
  std::map<std::string, Row> rows;
  for (size_t call = 0; call < calls.size(); ++call) {
    for (const ProfileEntry& entry : calls[call]) {
      Row& row = rows[name_of(call, entry)];
      row.add(entry);
    }
  }
  std::vector<Row> sorted;
  for (auto& [name, row] : rows) {
    row.name = name;
    sorted.push_back(row);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.ns > b.ns; });
  return sorted;
}

std::vector<Row> by_kernel(const std::vector<Profile>& calls) {
  return group(calls, [](size_t, const ProfileEntry& entry) { return entry.kernel; });
}

std::vector<Row> by_operator(const std::vector<Profile>& calls) {
  return group(calls, [&](size_t call, const ProfileEntry& entry) {
    return calls.size() == 1 ? fmt::format("{} #{}", entry.op, entry.debug_id)
                             : fmt::format("{} #{} of call {}", entry.op, entry.debug_id, call);
  });
}

uint64_t total_ns(const std::vector<Profile>& calls) {
  uint64_t sum = 0;
  for (const Profile& call : calls) {
    for (const ProfileEntry& entry : call) sum += entry.end_ns - entry.begin_ns;
  }
  return sum;
}

double share(double rate, double ceiling_per_second) {
  return ceiling_per_second > 0 ? 100 * rate * 1e9 / ceiling_per_second : 0;
}

void print_table(const char* title, const std::vector<Row>& rows, uint64_t total,
                 const Ceilings& ceilings) {
  size_t width = 24;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  fmt::print("\n{:<{}}{:>6} {:>11} {:>6} {:>14} {:>9} {:>6} {:>14} {:>10} {:>6}\n", title,
             width + 2, "count", "us", "share", "bytes", "GB/s", "of max", "flops", "GFLOP/s",
             "of max");
  for (const Row& row : rows) {
    fmt::print(
        "{:<{}}{:>6} {:>11.1f} {:>5.1f}% {:>14} {:>9.2f} {:>5.1f}% {:>14} {:>10.2f} {:>5.1f}%\n",
        row.name, width + 2, row.dispatches, static_cast<double>(row.ns) * 1e-3,
        total == 0 ? 0.0 : 100 * static_cast<double>(row.ns) / static_cast<double>(total),
        row.bytes, row.gbytes(), share(row.gbytes(), ceilings.bytes_per_second), row.flops,
        row.gflops(), share(row.gflops(), ceilings.flops_per_second));
  }
}

nlohmann::json to_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    list.push_back({{"name", row.name},
                    {"dispatches", row.dispatches},
                    {"us", static_cast<double>(row.ns) * 1e-3},
                    {"bytes", row.bytes},
                    {"flops", row.flops},
                    {"gbytes_per_s", row.gbytes()},
                    {"gflops_per_s", row.gflops()}});
  }
  return list;
}

std::vector<Profile> profiles_of(const Session& session) {
  std::vector<Profile> profiles;
  for (size_t i = 0; i < session.call_count(); ++i) {
    profiles.push_back(session.executable(i).profile());
  }
  return profiles;
}

struct Measurement {
  std::vector<Profile> calls;  // of the fastest run; empty profiles without timestamps
  double wall_ms = 0;          // of the fastest run
};

// The first run counts for nothing: drivers finish their work in it.
Result<Measurement> measure(Session& session, std::span<const HostInput> inputs, size_t runs) {
  ETWG_TRY(session.run(inputs));
  Measurement best;
  for (size_t i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ETWG_TRY(session.run(inputs));
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    best.wall_ms = i == 0 ? ms : std::min(best.wall_ms, ms);
    std::vector<Profile> calls = profiles_of(session);
    if (i == 0 || total_ns(calls) < total_ns(best.calls)) best.calls = std::move(calls);
  }
  return best;
}

void print_summary(const Session& session, const Measurement& measured, bool profiled,
                   const Ceilings& ceilings) {
  fmt::print("{}: {} dispatches, {:.3f} ms for the caller", adapter_name(session),
             dispatch_count(session), measured.wall_ms);
  if (!profiled) {
    fmt::print("\n");
    return;
  }
  const uint64_t total = total_ns(measured.calls);
  fmt::print(", {:.3f} ms on the GPU\n", static_cast<double>(total) * 1e-6);
  fmt::print("the device's ceilings, measured: {:.1f} GB/s (pointwise), {:.1f} GFLOP/s (product)\n",
             ceilings.bytes_per_second * 1e-9, ceilings.flops_per_second * 1e-9);
  print_table("kernel", by_kernel(measured.calls), total, ceilings);
  print_table("operator #debug id", by_operator(measured.calls), total, ceilings);
}

void print_json(const Session& session, const Measurement& measured, bool profiled,
                const Ceilings& ceilings) {
  nlohmann::json out = {{"adapter", adapter_name(session)},
                        {"dispatches", dispatch_count(session)},
                        {"wall_ms", measured.wall_ms},
                        {"profiled", profiled}};
  if (profiled) {
    out["gpu_ms"] = static_cast<double>(total_ns(measured.calls)) * 1e-6;
    out["ceilings"] = {{"gbytes_per_s", ceilings.bytes_per_second * 1e-9},
                       {"gflops_per_s", ceilings.flops_per_second * 1e-9}};
    out["kernels"] = to_json(by_kernel(measured.calls));
    out["operators"] = to_json(by_operator(measured.calls));
  }
  fmt::print("{}\n", out.dump(1));
}

Outcome profile(Options options) {
  ETWG_ASSIGN(const auto device, Device::acquire(options.load.device));
  ETWG_ASSIGN(const Model model, options.model.open());
  options.load.executable.profile = true;
  Ceilings ceilings;
  // Without timestamps the ceilings are the first thing to say so.
  if (auto measured = measure_ceilings(device)) {
    ceilings = *measured;
  } else if (measured.error().code == ErrorCode::kNotSupported) {
    fmt::print(stderr, "etwebgpu: no GPU times: {}\n", measured.error().message);
    options.load.executable.profile = false;
  } else {
    return tl::unexpected<Error>(measured.error());
  }
  const bool profiled = options.load.executable.profile;
  ETWG_ASSIGN(const auto session, model.load(options.model.method, options.load));
  ETWG_ASSIGN(const auto owned, given_or_random(options.inputs, options.live, session->method()));
  ETWG_ASSIGN(const Measurement measured, measure(*session, lend(owned), options.runs));
  if (profiled && !options.trace.empty()) {
    ETWG_TRY(write_trace(options.trace, adapter_name(*session), measured.calls));
  } else if (!options.trace.empty()) {
    fmt::print(stderr, "etwebgpu: {} is not written: a trace is made of GPU times\n",
               options.trace);
  }
  (options.as_json ? print_json : print_summary)(*session, measured, profiled, ceilings);
  return kOk;
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("profile", "Show where a program's GPU time goes");
  auto options = std::make_shared<Options>();
  add_model_options(*command, options->model);
  add_random_inputs_options(*command, options->inputs, options->live);
  add_load_options(*command, options->load);
  command->add_option("--trace", options->trace,
                      "Write a trace for Perfetto or Chrome to this file");
  command->add_option("--chunk", options->load.executable.dispatches_per_submit,
                      "At most so many dispatches a submit (default: all in one)");
  command->add_option("--runs", options->runs, "Runs, of which the fastest is shown (default: 5)")
      ->check(CLI::Range(1, 1000000));
  command->add_flag_callback(
      "--no-timestamps", [options] { options->load.device.timestamps = false; },
      "Leave timestamp queries off");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([=, &action] { action = [=] { return profile(*options); }; });
}

}  // namespace executorch::backends::webgpu::cli
