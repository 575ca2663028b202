#include "ops/node_view.h"

#include <cmath>

namespace executorch::backends::webgpu {

namespace {

std::optional<double> number_of(const Value& value) {
  if (const auto* v = std::get_if<int64_t>(&value)) return static_cast<double>(*v);
  if (const auto* v = std::get_if<double>(&value)) return *v;
  if (const auto* v = std::get_if<bool>(&value)) return *v ? 1.0 : 0.0;
  return std::nullopt;
}

std::optional<int64_t> integer_of(const Graph& graph, ValueId id, const LiveValues& live) {
  const Value& value = graph.value(id);
  if (std::holds_alternative<SymInt>(value)) return live.integer(id);
  if (const auto* v = std::get_if<int64_t>(&value)) return *v;  // not through double: 64 bits
  const std::optional<double> number = number_of(value);
  if (!number) return std::nullopt;
  if (std::abs(*number) < 9.2e18) return static_cast<int64_t>(*number);
  return *number > 0 ? INT64_MAX : INT64_MIN;  // infinities are ends of a range; NaN is refused so
}

}  // namespace

std::optional<double> NodeView::number(size_t arg) const { return number_of(value(arg)); }

std::optional<int64_t> NodeView::integer(size_t arg, const LiveValues& live) const {
  return integer_of(graph_, id(arg), live);
}

bool NodeView::is_symbolic(size_t arg) const {
  if (std::holds_alternative<SymInt>(value(arg))) return true;
  const auto* list = std::get_if<ValueList>(&value(arg));
  if (list == nullptr) return false;
  for (ValueId item : list->items) {
    if (std::holds_alternative<SymInt>(graph_.value(item))) return true;
  }
  return false;
}

std::vector<int64_t> NodeView::integers(size_t arg, const LiveValues& live) const {
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value(arg))) return *list;
  std::vector<int64_t> out;
  if (const auto* list = std::get_if<ValueList>(&value(arg))) {
    for (ValueId item : list->items) out.push_back(integer_of(graph_, item, live).value_or(0));
  } else if (const auto* flags = std::get_if<std::vector<bool>>(&value(arg))) {
    for (bool flag : *flags) out.push_back(flag ? 1 : 0);
  } else if (const auto one = integer(arg, live)) {
    out.push_back(*one);
  }
  return out;
}

std::vector<int64_t> NodeView::fixed_integers(size_t arg) const {
  if (is_symbolic(arg)) return {};
  return integers(arg, LiveValues(Graph()));  // no live value is asked for
}

std::string NodeView::string(size_t arg) const {
  const auto* text = std::get_if<std::string>(&value(arg));
  return text == nullptr ? std::string() : *text;
}

}  // namespace executorch::backends::webgpu
