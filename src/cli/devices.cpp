#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "engine/devices_json.h"

namespace executorch::backends::webgpu::cli {

namespace {

using nlohmann::json;

void print_device(const json& device) {
  fmt::print("{} {}  {}{}\n", device["selected"].get<bool>() ? "*" : " ",
             device["index"].get<int>(), device["name"].get<std::string>(),
             device["type"] == "cpu" ? "  (runs on the CPU)" : "");
  for (const char* key : {"vendor", "architecture", "backend", "driver", "type"}) {
    fmt::print("      {:<14}{}\n", key, device[key].get<std::string>());
  }
  std::string features;
  for (const auto& feature : device["features"]) features += feature.get<std::string>() + " ";
  fmt::print("      {:<14}{}\n", "features", features);
  for (const auto& [name, value] : device["limits"].items()) {
    fmt::print("      {:<32}{}\n", name, value.dump());
  }
}

Outcome devices(bool as_json) {
  const std::string text = devices_json();
  const json found = json::parse(text);
  if (as_json) fmt::print("{}\n", text);
  if (found.contains("error")) {
    return fail(ErrorCode::kNotFound, "{}", found["error"].get<std::string>());
  }
  const auto& list = found["devices"];
  if (std::none_of(list.begin(), list.end(), [](const json& d) { return bool{d["selected"]}; })) {
    return fail(ErrorCode::kNotFound,
                "none of the {} adapters is what --adapter or "
                "ETWEBGPU_ADAPTER asks for",
                list.size());
  }
  if (as_json) return kOk;
  for (const json& device : found["devices"]) print_device(device);
  fmt::print("* is used unless --adapter or ETWEBGPU_ADAPTER says otherwise\n");
  return kOk;
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("devices", "List the adapters that WebGPU offers");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([=, &action] { action = [=] { return devices(*as_json); }; });
}

}  // namespace executorch::backends::webgpu::cli
