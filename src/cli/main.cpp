// etwebgpu: runs, measures and explains programs that are made of this library's delegates.

#include <cstdio>
#include <cstdlib>

#include "cli/command.h"

namespace executorch::backends::webgpu::cli {
namespace {

// One line, whatever the message was made of.
int report(std::string message) {
  for (char& c : message) c = c == '\n' ? ' ' : c;
  fmt::print(stderr, "etwebgpu: {}\n", message);
  return kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("Runs ExecuTorch programs (.pte) on the GPU through WebGPU, without ExecuTorch.",
               "etwebgpu");
  std::string adapter;
  app.add_option("--adapter", adapter,
                 "Which adapter: its number in `devices`, cpu, gpu, or a part of its name "
                 "(default: the environment variable ETWEBGPU_ADAPTER, then the best)");
  app.fallthrough();  // so that --adapter may stand after the subcommand too
  app.require_subcommand(1);
  Action action;
  for (const auto add :
       {add_devices, add_run, add_inspect, add_bench, add_profile, add_ops, add_pack}) {
    add(app, action);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& problem) {
    return report(problem.what());
  }
  // The engine's own way to choose, so that everything in the process agrees.
  if (!adapter.empty()) ::setenv("ETWEBGPU_ADAPTER", adapter.c_str(), 1);
  try {
    const Outcome outcome = action();
    return outcome ? *outcome : report(outcome.error().message);
  } catch (const std::exception& problem) {  // of the standard library: no memory, a full disk
    return report(problem.what());
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu::cli

int main(int argc, char** argv) { return executorch::backends::webgpu::cli::run(argc, argv); }
