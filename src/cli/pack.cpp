#include <cstdio>
#include <map>

#include "cli/manifest.h"
#include "cli/npy.h"
#include "cli/options.h"

namespace executorch::backends::webgpu::cli {

namespace {

struct Options {
  std::string folder;
  std::vector<std::string> filters;
  LoadOptions load;
  bool verbose = false;
};

Result<std::vector<OwnedInput>> read_values(const std::vector<PackValue>& values) {
  std::vector<OwnedInput> inputs;
  for (const PackValue& value : values) {
    if (const auto* integer = std::get_if<int64_t>(&value.value)) {
      inputs.emplace_back(*integer);
      continue;
    }
    ETWG_ASSIGN(HostArray array, read_npy(std::get<std::string>(value.value)));
    inputs.emplace_back(std::move(array));
  }
  return inputs;
}

Status check_output(const HostOutputValue& got, const PackValue& wanted) {
  const auto wrong = [](std::string_view what) { return fail(ErrorCode::kInternal, "{}", what); };
  if (const auto* integer = std::get_if<int64_t>(&wanted.value)) {
    const auto* found = std::get_if<int64_t>(&got);
    if (found == nullptr) return wrong("a tensor instead of an integer");
    if (*found != *integer) return wrong(fmt::format("{} instead of {}", *found, *integer));
    return {};
  }
  ETWG_ASSIGN(const HostArray array, read_npy(std::get<std::string>(wanted.value)));
  const auto* found = std::get_if<HostArray>(&got);
  if (found == nullptr) return wrong("an integer instead of a tensor");
  const Comparison comparison = compare(*found, array, wanted.tolerance);
  return comparison.wrong ? Status(wrong(*comparison.wrong)) : Status();
}

Status check_run(Session& session, const PackRun& run) {
  ETWG_ASSIGN(const auto inputs, read_values(run.inputs));
  ETWG_TRY(session.run(lend(inputs)));
  if (session.output_count() != run.outputs.size()) {
    return fail(ErrorCode::kInternal, "{} outputs instead of {}", session.output_count(),
                run.outputs.size());
  }
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    ETWG_ASSIGN(const HostOutputValue value, session.output(i));
    const Status status = check_output(value, run.outputs[i]);
    if (!status) return context(fmt::format("output {}", i), status.error());
  }
  return {};
}

Status check_case(const PackCase& test, const LoadOptions& load) {
  ETWG_ASSIGN(const Model model, Model::open(test.model, test.data));
  ETWG_ASSIGN(const auto session, model.load("forward", load));
  for (size_t i = 0; i < test.runs.size(); ++i) {
    const Status status = check_run(*session, test.runs[i]);
    if (!status) return context(fmt::format("run {}", i), status.error());
  }
  return {};
}

// Whether a case is wanted: all are unless there are filters.
bool selected(const PackCase& test, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  for (const std::string& filter : filters) {
    if (test.name.find(filter) != std::string::npos) return true;
  }
  return false;
}

Outcome pack(const Options& options) {
  ETWG_ASSIGN(const std::vector<PackCase> cases, read_manifest(options.folder));
  struct Tally {
    size_t passed = 0, failed = 0;
  };
  Tally all;
  std::map<std::string, Tally> families;
  size_t left_out = 0;
  for (const PackCase& test : cases) {
    if (!selected(test, options.filters)) continue;
    if (!test.delegated) {
      ++left_out;
      continue;
    }
    const Status status = check_case(test, options.load);
    ++(status ? all.passed : all.failed);
    ++(status ? families[test.family].passed : families[test.family].failed);
    if (!status) {
      std::string message = status.error().message;
      for (char& c : message) c = c == '\n' ? ' ' : c;
      fmt::print("FAILED {}: {}\n", test.name, message);
    } else if (options.verbose) {
      fmt::print("passed {}\n", test.name);
    }
    std::fflush(stdout);
  }
  if (all.passed + all.failed == 0) {
    return fail(ErrorCode::kNotFound, "no case of {} is selected", options.folder);
  }
  for (const auto& [family, tally] : families) {
    fmt::print("{:<12} {} passed, {} failed\n", family, tally.passed, tally.failed);
  }
  if (left_out > 0) fmt::print("{} cases need ExecuTorch and were left out\n", left_out);
  fmt::print("{} passed, {} failed\n", all.passed, all.failed);
  return all.failed == 0 ? kOk : kWrongNumbers;
}

}  // namespace

void add_pack(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("pack", "Check a pack of exported programs (for tests)");
  auto options = std::make_shared<Options>();
  command->add_option("folder", options->folder, "The folder with manifest.json")->required();
  command->add_option("--filter", options->filters, "Only cases whose name contains this")
      ->type_name("TEXT");
  command->add_flag("--verbose", options->verbose, "Print the cases that pass too");
  add_load_options(*command, options->load);
  command->callback([=, &action] { action = [=] { return pack(*options); }; });
}

}  // namespace executorch::backends::webgpu::cli
