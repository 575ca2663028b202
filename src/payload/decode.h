#pragma once

#include <readers/schema_generated.h>

#include "base/budget.h"
#include "base/result.h"
#include "ir/graph.h"
#include "payload/limits.h"

namespace executorch::backends::webgpu {

// FlatBuffer tables into plain structs, each checked by itself. The errors do not say which value,
// node or constant they speak of: the caller, who knows, puts that in front.

// `raw_size` is the length of the payload's raw region.
Result<Constant> decode_constant(const vkgraph::VkBytes* bytes, uint64_t raw_size);

// `constants` are all of the graph's. A list's ids are in range of `value_count`.
Result<Value> decode_value(const vkgraph::VkValue* value, const std::vector<Constant>& constants,
                           size_t value_count, DecodeBudget& budget);

// `values` are all of the graph's.
Result<Node> decode_node(const vkgraph::OperatorCall* call, const std::vector<Value>& values,
                         DecodeBudget& budget);

}  // namespace executorch::backends::webgpu
