#include "ops/live_args.h"

namespace executorch::backends::webgpu {

LiveInteger live_integer(const NodeView& node, size_t arg) {
  if (node.is_symbolic(arg)) {
    return [id = node.id(arg)](const LiveValues& live) -> std::optional<int64_t> {
      return live.integer(id);
    };
  }
  return [value = node.integer(arg, LiveValues(Graph()))](const LiveValues&) { return value; };
}

LiveIntegers live_integers(const NodeView& node, size_t arg) {
  if (!node.is_symbolic(arg)) {
    return [values = node.fixed_integers(arg)](const LiveValues&) { return values; };
  }
  const auto* list = std::get_if<ValueList>(&node.value(arg));
  std::vector<ValueId> ids = list == nullptr ? std::vector<ValueId>{node.id(arg)} : list->items;
  return [ids = std::move(ids)](const LiveValues& live) {
    std::vector<int64_t> values;
    for (ValueId id : ids) values.push_back(live.integer(id));
    return values;
  };
}

}  // namespace executorch::backends::webgpu
