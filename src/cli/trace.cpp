#include "cli/trace.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace executorch::backends::webgpu::cli {

namespace {

using nlohmann::json;

json name_event(const char* what, size_t track, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", track}, {"args", {{"name", name}}}};
}

}  // namespace

Status write_trace(const std::string& path, const std::string& adapter,
                   const std::vector<Profile>& calls) {
  uint64_t start = UINT64_MAX;
  for (const Profile& call : calls) {
    for (const ProfileEntry& entry : call) start = std::min(start, entry.begin_ns);
  }
  json events = json::array({name_event("process_name", 0, adapter)});
  for (size_t track = 0; track < calls.size(); ++track) {
    events.push_back(name_event("thread_name", track, fmt::format("delegate call {}", track)));
    for (const ProfileEntry& entry : calls[track]) {
      // The format counts in microseconds.
      events.push_back({{"name", entry.kernel},
                        {"cat", entry.op},
                        {"ph", "X"},
                        {"pid", 1},
                        {"tid", track},
                        {"ts", static_cast<double>(entry.begin_ns - start) * 1e-3},
                        {"dur", static_cast<double>(entry.end_ns - entry.begin_ns) * 1e-3},
                        {"args",
                         {{"operator", entry.op},
                          {"debug_id", entry.debug_id},
                          {"bytes", entry.bytes},
                          {"flops", entry.flops}}}});
    }
  }
  std::ofstream file(path);
  file << json{{"displayTimeUnit", "ns"}, {"traceEvents", events}}.dump() << "\n";
  if (!file.flush()) return fail(ErrorCode::kInvalidArgument, "{}: cannot be written", path);
  return {};
}

}  // namespace executorch::backends::webgpu::cli
