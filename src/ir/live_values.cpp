#include "ir/live_values.h"

namespace executorch::backends::webgpu {

LiveValues::LiveValues(const Graph& graph)
    : dims_(graph.values.size()), integers_(graph.values.size()) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (const auto* tensor = std::get_if<Tensor>(&value)) dims_[i] = tensor->max_dims;
    if (const auto* integer = std::get_if<int64_t>(&value)) integers_[i] = *integer;
    if (const auto* boolean = std::get_if<bool>(&value)) integers_[i] = *boolean ? 1 : 0;
    if (const auto* symbol = std::get_if<SymInt>(&value)) integers_[i] = symbol->max_value;
  }
}

}  // namespace executorch::backends::webgpu
