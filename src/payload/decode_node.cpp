#include "payload/decode.h"

namespace executorch::backends::webgpu {
namespace {

Status check_output(ValueId id, const std::vector<Value>& values) {
  const Value& value = values[static_cast<size_t>(id)];
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->constant < 0) return {};
    return invalid("writes value {}, which is constant {}", id, tensor->constant);
  }
  // Arithmetic on sizes has a SymInt as its result, or an Int where the exporter knew the number.
  if (std::holds_alternative<SymInt>(value) || std::holds_alternative<int64_t>(value)) return {};
  return invalid("writes value {}, which is neither a tensor nor an integer", id);
}

}  // namespace

Result<Node> decode_node(const vkgraph::OperatorCall* call, const std::vector<Value>& values,
                         DecodeBudget& budget) {
  if (call == nullptr) return invalid("absent");
  Node node;
  node.debug_id = call->node_id();
  const flatbuffers::String* name = call->name();
  if (name == nullptr || name->size() == 0) return invalid("has no operator name");
  if (name->size() > kMaxNameLength) {
    return invalid("has an operator name of {} characters", name->size());
  }
  node.op = name->str();

  const flatbuffers::Vector<int32_t>* ids = call->args();
  const uint32_t count = ids == nullptr ? 0 : ids->size();
  if (count == 0 || count > kMaxArgs) {
    return invalid("({}) has {} arguments, not 1 to {}", node.op, count, kMaxArgs);
  }
  for (ValueId id : *ids) {
    if (id < 0 || static_cast<size_t>(id) >= values.size()) {
      return invalid("({}) names value {} of {}", node.op, id, values.size());
    }
    node.args.push_back(id);
  }
  // The last argument is what the operator writes.
  const ValueId last = node.args.back();
  node.args.pop_back();
  if (const auto* list = std::get_if<ValueList>(&values[static_cast<size_t>(last)])) {
    if (list->items.empty()) return invalid("({}) has an empty list of outputs", node.op);
    if (!budget.take(list->items.size())) {
      return invalid("({}): the lists together are longer than the file", node.op);
    }
    node.outputs = list->items;
  } else {
    node.outputs.push_back(last);
  }
  for (ValueId id : node.outputs) {
    if (auto ok = check_output(id, values); !ok) {
      return invalid("({}) {}", node.op, ok.error().message);
    }
  }
  return node;
}

}  // namespace executorch::backends::webgpu
