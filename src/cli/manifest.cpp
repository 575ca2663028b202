#include "cli/manifest.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace executorch::backends::webgpu::cli {

namespace {

using nlohmann::json;

// These throw where a field is missing or of another type; read_manifest catches it.

PackValue parse_value(const json& entry, const std::filesystem::path& folder,
                      const Tolerance& tolerance) {
  PackValue value;
  if (entry.contains("int")) {
    value.value = entry["int"].get<int64_t>();
  } else {
    value.value = (folder / entry.at("file").get<std::string>()).string();
  }
  value.tolerance = {entry.value("atol", tolerance.atol), entry.value("rtol", tolerance.rtol)};
  return value;
}

PackCase parse_case(const json& entry, const std::filesystem::path& root) {
  PackCase result;
  result.name = entry.at("name").get<std::string>();
  result.family = entry.at("family").get<std::string>();
  const std::filesystem::path folder = root / result.name;
  result.model = (folder / entry.at("model").get<std::string>()).string();
  for (const json& file : entry.value("data", json::array())) {
    result.data.push_back((folder / file.get<std::string>()).string());
  }
  result.delegated = entry.at("delegated").get<bool>();
  const Tolerance tolerance = {entry.at("atol").get<double>(), entry.at("rtol").get<double>()};
  for (const json& run : entry.at("runs")) {
    PackRun parsed;
    for (const json& input : run.at("inputs")) {
      parsed.inputs.push_back(parse_value(input, folder, tolerance));
    }
    for (const json& output : run.at("outputs")) {
      parsed.outputs.push_back(parse_value(output, folder, tolerance));
    }
    result.runs.push_back(std::move(parsed));
  }
  return result;
}

}  // namespace

Result<std::vector<PackCase>> read_manifest(const std::string& folder) {
  const std::filesystem::path root = folder;
  const std::string path = (root / "manifest.json").string();
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, "{}: cannot be read", path);
  try {
    const json manifest = json::parse(file);
    if (manifest.at("version").get<int>() != 1) {
      return fail(ErrorCode::kInvalidArgument, "{}: its version is not 1", path);
    }
    std::vector<PackCase> cases;
    for (const json& entry : manifest.at("cases")) cases.push_back(parse_case(entry, root));
    return cases;
  } catch (const json::exception& problem) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", path, problem.what());
  }
}

}  // namespace executorch::backends::webgpu::cli
