#pragma once

#include <cstdint>
#include <span>

#include "ir/graph.h"

namespace executorch::backends::webgpu {

// Edits that a fuzzer makes to a decoded graph: bytes altered at random rarely get past the reader,
// while these keep all that parse_payload promises and so reach the operators and the planner.
//
// They stand at the end of the fuzzed bytes: kEditBytes each, then a trailer that has their number.
inline constexpr size_t kEditBytes = 8;
inline constexpr size_t kTrailerBytes = 4;  // 'E' 'D' 'T' count

// The edits at the end of `data`; empty when there is no trailer.
std::span<const uint8_t> edits_of(std::span<const uint8_t> data);

// Applies them in turn; those that would break a promise are left out.
void edit_graph(Graph& graph, std::span<const uint8_t> edits);

}  // namespace executorch::backends::webgpu
