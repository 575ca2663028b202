#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "ops/op.h"

namespace executorch::backends::webgpu::cli {

namespace {

const char* name_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCompute:
      return "compute";
    case OpKind::kPointwise:
      return "pointwise";
    case OpKind::kView:
      return "view";
    case OpKind::kSymbolic:
      return "symbolic";
  }
  return "?";
}

Outcome ops(bool as_json) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Op& op : all_ops()) {
    if (as_json) {
      rows.push_back({{"name", op.name},
                      {"signature", op.signature},
                      {"kind", name_of(op.kind)},
                      {"takes_followers", op.takes_followers}});
    } else {
      fmt::print("{:<44} {:<10} {}\n", op.name, name_of(op.kind), op.signature);
    }
  }
  if (as_json) {
    fmt::print("{}\n", nlohmann::json{{"ops", rows}}.dump(1));
  } else {
    fmt::print("{} operators\n", all_ops().size());
  }
  return kOk;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("ops", "List the operators that can run on the GPU");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([=, &action] { action = [=] { return ops(*as_json); }; });
}

}  // namespace executorch::backends::webgpu::cli
