#include "payload/payload.h"

#include "base/flatbuffer.h"
#include "payload/check.h"
#include "payload/decode.h"
#include "payload/header.h"

namespace executorch::backends::webgpu {
namespace {

// An id above INT32_MAX becomes negative, and is refused with the other ids that are out of range.
Result<std::vector<ValueId>> decode_ids(std::string_view what,
                                        const flatbuffers::Vector<uint32_t>* ids,
                                        DecodeBudget& budget) {
  std::vector<ValueId> list;
  if (!budget.take(count_of(ids))) {
    return fail(ErrorCode::kInvalidProgram, "list of {} {}: longer than the file", ids->size(),
                what);
  }
  list.reserve(count_of(ids));
  for (uint32_t i = 0; i < count_of(ids); ++i) list.push_back(static_cast<ValueId>(ids->Get(i)));
  return list;
}

Result<Graph> decode_graph(const vkgraph::VkGraph& table, uint64_t raw_size, DecodeBudget& budget) {
  Graph graph;
  if (count_of(table.shaders()) != 0) {
    return fail(ErrorCode::kNotSupported, "{} custom shaders; only named operators can run",
                table.shaders()->size());
  }
  for (uint32_t i = 0; i < count_of(table.constants()); ++i) {
    auto constant = decode_constant(table.constants()->Get(i), raw_size);
    if (!constant) return context(fmt::format("constant {}", i), std::move(constant.error()));
    graph.constants.push_back(std::move(*constant));
  }
  const uint32_t value_count = count_of(table.values());
  for (uint32_t i = 0; i < value_count; ++i) {
    auto value = decode_value(table.values()->Get(i), graph.constants, value_count, budget);
    if (!value) return context(fmt::format("value {}", i), std::move(value.error()));
    graph.values.push_back(std::move(*value));
  }
  for (uint32_t i = 0; i < count_of(table.chain()); ++i) {
    auto node = decode_node(table.chain()->Get(i), graph.values, budget);
    if (!node) return context(fmt::format("node {}", i), std::move(node.error()));
    graph.nodes.push_back(std::move(*node));
  }
  ETWG_ASSIGN(graph.inputs, decode_ids("inputs", table.input_ids(), budget));
  ETWG_ASSIGN(graph.outputs, decode_ids("outputs", table.output_ids(), budget));
  ETWG_TRY(check_graph(graph));
  return graph;
}

}  // namespace

Result<Payload> parse_payload(Bytes blob) {
  ETWG_ASSIGN(const BlobParts parts, split_blob(blob));
  ETWG_ASSIGN(const auto root,
              FlatBuffer<vkgraph::VkGraph>::open("delegate payload", parts.flatbuffer, "VK00"));
  DecodeBudget budget(parts.flatbuffer.size());
  auto graph = decode_graph(*root.operator->(), parts.raw.size(), budget);
  if (!graph) return context("delegate payload", std::move(graph.error()));
  return Payload{std::move(*graph), parts.raw};
}

}  // namespace executorch::backends::webgpu
