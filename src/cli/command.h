#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace executorch::backends::webgpu::cli {

// What the process returns.
inline constexpr int kOk = 0;
inline constexpr int kWrongNumbers = 1;
inline constexpr int kFailed = 2;  // usage, input files, programs that cannot be run

// The exit code of a subcommand that did its work, or the error that main prints.
using Outcome = Result<int>;
// Set by the subcommand that was chosen.
using Action = std::function<Outcome()>;

// One function a subcommand, each in the file of its name: describes the options to `app` and,
// when the subcommand is chosen, sets `action`.
void add_devices(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_ops(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);

}  // namespace executorch::backends::webgpu::cli
