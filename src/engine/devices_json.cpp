#include "engine/devices_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "gpu/adapter.h"

namespace executorch::backends::webgpu {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string features(const AdapterInfo& info) {
  std::vector<std::string> names;
  for (const std::string& name : info.features) names.push_back(quoted(name));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string limits(const Capabilities& c) {
  return fmt::format(
      "{{\"max_storage_binding_size\": {}, \"max_buffer_size\": {}, "
      "\"max_storage_buffers_per_stage\": {}, \"max_invocations_per_workgroup\": {}, "
      "\"max_workgroup_storage\": {}, \"max_workgroups_per_dimension\": {}, "
      "\"subgroup_min_size\": {}, \"subgroup_max_size\": {}}}",
      c.max_storage_binding_size, c.max_buffer_size, c.max_storage_buffers_per_stage,
      c.max_invocations_per_workgroup, c.max_workgroup_storage, c.max_workgroups_per_dimension,
      c.subgroup_min_size, c.subgroup_max_size);
}

// The members of the object that describes an adapter.
std::string members(const AdapterInfo& info) {
  return fmt::format(
      "\"name\": {}, \"vendor\": {}, \"architecture\": {}, \"backend\": {}, \"driver\": {}, "
      "\"type\": {}, \"features\": {}, \"limits\": {}",
      quoted(info.name), quoted(info.vendor), quoted(info.architecture), quoted(info.backend),
      quoted(info.driver), quoted(name_of(info.type)), features(info), limits(info.capabilities));
}

}  // namespace

std::string device_json(const AdapterInfo& info) { return fmt::format("{{{}}}", members(info)); }

std::string devices_json() {
  const auto adapters = list_adapters();
  if (!adapters) return fmt::format("{{\"error\": {}}}", quoted(adapters.error().message));
  const char* selector = std::getenv("ETWEBGPU_ADAPTER");
  const auto chosen = choose_adapter(*adapters, selector == nullptr ? "" : selector);
  std::vector<std::string> rows;
  for (size_t i = 0; i < adapters->size(); ++i) {
    rows.push_back(fmt::format("{{\"index\": {}, \"selected\": {}, {}}}", i, chosen && *chosen == i,
                               members((*adapters)[i])));
  }
  return fmt::format("{{\"devices\": [{}]}}", fmt::join(rows, ", "));
}

}  // namespace executorch::backends::webgpu
