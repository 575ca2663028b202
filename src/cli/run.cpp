#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/compare.h"
#include "cli/npy.h"
#include "cli/options.h"

namespace executorch::backends::webgpu::cli {

namespace {

struct Options {
  ModelOptions model;
  LoadOptions load;
  std::vector<std::string> inputs, check;
  std::string output;
  Tolerance tolerance;
  bool as_json = false;
};

struct Report {
  nlohmann::json outputs = nlohmann::json::array();
  bool right = true;
};

HostArray as_array(const HostOutputValue& value) {
  if (const auto* array = std::get_if<HostArray>(&value)) return *array;
  HostArray scalar(DType::kInt64, Shape{});
  const int64_t integer = std::get<int64_t>(value);
  std::memcpy(scalar.data.data(), &integer, sizeof(integer));
  return scalar;
}

Status report_output(const Options& options, size_t index, const HostArray& got, Report& report) {
  nlohmann::json row = {{"dtype", name_of(got.dtype)},
                        {"shape", std::vector<int64_t>(got.dims.begin(), got.dims.end())}};
  std::string line =
      fmt::format("output {}: {} {}", index, name_of(got.dtype), to_string(got.dims));
  if (!options.output.empty()) {
    const auto path = std::filesystem::path(options.output) / fmt::format("output{}.npy", index);
    ETWG_TRY(write_npy(path.string(), got));
    row["file"] = path.string();
    line += fmt::format(", in {}", path.string());
  }
  if (!options.check.empty()) {
    ETWG_ASSIGN(const HostArray wanted, read_npy(options.check[index]));
    const Comparison comparison = compare(got, wanted, options.tolerance);
    row["largest_error"] = comparison.largest_error;
    row["right"] = !comparison.wrong;
    if (comparison.wrong) row["wrong"] = *comparison.wrong;
    report.right = report.right && !comparison.wrong;
    line += comparison.wrong
                ? fmt::format(": WRONG: {}", *comparison.wrong)
                : fmt::format(": right, largest error {:.3g}", comparison.largest_error);
  }
  if (!options.as_json) fmt::print("{}\n", line);
  report.outputs.push_back(std::move(row));
  return {};
}

Outcome run(const Options& options) {
  ETWG_ASSIGN(const Model model, options.model.open());
  ETWG_ASSIGN(const auto session, model.load(options.model.method, options.load));
  ETWG_ASSIGN(const auto inputs, read_inputs(options.inputs, session->method()));
  if (!options.check.empty() && options.check.size() != session->output_count()) {
    return fail(ErrorCode::kInvalidArgument, "--check names {} files, the program has {} outputs",
                options.check.size(), session->output_count());
  }
  ETWG_TRY(session->run(lend(inputs)));
  if (!options.output.empty()) {
    std::error_code problem;
    std::filesystem::create_directories(options.output, problem);
    if (problem) {
      return fail(ErrorCode::kInvalidArgument, "{}: {}", options.output, problem.message());
    }
  }
  Report report;
  for (size_t i = 0; i < session->output_count(); ++i) {
    ETWG_ASSIGN(const HostOutputValue value, session->output(i));
    ETWG_TRY(report_output(options, i, as_array(value), report));
  }
  if (options.as_json) {
    fmt::print("{}\n", nlohmann::json{{"adapter", adapter_name(*session)},
                                      {"dispatches", dispatch_count(*session)},
                                      {"outputs", report.outputs},
                                      {"right", report.right}}
                           .dump(1));
  }
  return report.right ? kOk : kWrongNumbers;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Run a program on inputs");
  auto options = std::make_shared<Options>();
  add_model_options(*command, options->model);
  add_inputs_option(*command, options->inputs);
  add_load_options(*command, options->load);
  command->add_option("--output", options->output, "A folder to write output0.npy, ... to");
  command
      ->add_option("--check", options->check, "What each output should be, one .npy file an output")
      ->type_name("FILE");
  command->add_option("--atol", options->tolerance.atol, "Absolute error allowed (default: 1e-5)");
  command->add_option("--rtol", options->tolerance.rtol, "Relative error allowed (default: 1e-5)");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([=, &action] { action = [=] { return run(*options); }; });
}

}  // namespace executorch::backends::webgpu::cli
