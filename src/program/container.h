#pragma once

#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/flatbuffer.h"
#include "base/result.h"
#include "program/program.h"

namespace executorch::backends::webgpu {

// What .pte and .ptd files have in common: a FlatBuffer, with a header spliced in after its
// identifier, followed by segments of data; and names for some of the segments.

struct Container {
  Bytes flatbuffer;
  Bytes segments;  // the region that segment offsets count from; empty when there is none
};

// Finds the parts of a .pte file (FlatBuffer identifier ET12, header eh00; the header may be
// absent).
Result<Container> split_program(Bytes file);
// Finds the parts of a .ptd file (FlatBuffer identifier FT01, header FH01).
Result<Container> split_data_file(Bytes file);

// The spans of the `segments` table (either schema's) within `region`.
template <typename Tables>
Result<std::vector<Bytes>> decode_segments(const Tables* tables, Bytes region) {
  std::vector<Bytes> segments;
  if (tables == nullptr) return segments;
  for (uint32_t i = 0; i < tables->size(); ++i) {
    const auto* table = tables->Get(i);
    const auto span = table == nullptr ? std::optional<Bytes>()
                                       : sub_bytes(region, table->offset(), table->size());
    if (!span) {
      return fail(ErrorCode::kInvalidProgram,
                  "segment {}: {} bytes at {} do not fit the {} bytes of segment data", i,
                  table == nullptr ? 0 : table->size(), table == nullptr ? 0 : table->offset(),
                  region.size());
    }
    segments.push_back(*span);
  }
  return segments;
}

inline constexpr uint32_t kMaxKeyLength = 4096;  // of named data: a hash, or a parameter's path

// The `named_data` table (either schema's), added to `named`.
template <typename Tables>
Status decode_named_data(const Tables* tables, const std::vector<Bytes>& segments,
                         NamedData& named) {
  if (tables == nullptr) return {};
  for (uint32_t i = 0; i < tables->size(); ++i) {
    const auto* table = tables->Get(i);
    if (table == nullptr || table->key() == nullptr || table->key()->size() > kMaxKeyLength) {
      return fail(ErrorCode::kInvalidProgram, "named data {}: no key, or one that is too long", i);
    }
    const std::string key = table->key()->str();
    if (table->segment_index() >= segments.size()) {
      return fail(ErrorCode::kInvalidProgram, "named data {}: segment {} of {}", key,
                  table->segment_index(), segments.size());
    }
    const Bytes data = segments[table->segment_index()];
    const auto [place, is_new] = named.emplace(key, data);
    // The same constant may be stored with a program and beside it; two contents for one name may
    // not.
    const bool same = is_new || (place->second.size() == data.size() &&
                                 std::equal(data.begin(), data.end(), place->second.begin()));
    if (!same) {
      return fail(ErrorCode::kInvalidProgram, "named data {}: given twice, with different bytes",
                  key);
    }
  }
  return {};
}

}  // namespace executorch::backends::webgpu
