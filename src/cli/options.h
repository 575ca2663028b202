#pragma once

#include "cli/command.h"
#include "cli/model.h"

namespace executorch::backends::webgpu::cli {

// Options that several subcommands share, described in one place.
inline void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("model", options.path, "The program, a .pte file")->required();
  command
      .add_option("--data", options.data, "A .ptd file with data of the program; may be repeated")
      ->type_name("FILE");
  command.add_option("--method", options.method, "The method to use (default: forward)");
}

inline void add_inputs_option(CLI::App& command, std::vector<std::string>& inputs) {
  command
      .add_option("--input", inputs,
                  "An input: a .npy file, or an integer; repeated in the order of the inputs")
      ->type_name("FILE");
}

// Inputs that are made up where none are given.
inline void add_random_inputs_options(CLI::App& command, std::vector<std::string>& inputs,
                                      std::vector<std::string>& live) {
  add_inputs_option(command, inputs);
  command
      .add_option("--live", live,
                  "Sizes of each random input, as 1x37 (default: the largest); or an integer")
      ->type_name("SIZES")
      ->excludes("--input");
}

// How the engine may differ from the best it can do, to find what a difference comes from.
inline void add_load_options(CLI::App& command, LoadOptions& options) {
  command.add_flag_callback(
      "--no-subgroups", [&] { options.device.subgroups = false; }, "Leave subgroups off");
  command.add_flag_callback(
      "--no-f16", [&] { options.device.f16 = false; }, "Leave the feature shader-f16 off");
  command.add_flag("--default-limits", options.device.default_limits,
                   "Use no more than the limits that every WebGPU has");
  command.add_flag_callback(
      "--no-fuse", [&] { options.plan.fuse = false; }, "One kernel an operator");
}

}  // namespace executorch::backends::webgpu::cli
