#include "ops/signature.h"

namespace executorch::backends::webgpu {

namespace {

std::string_view kind_of(const Value& value) {
  static constexpr std::string_view kNames[] = {
      "nothing",  "an integer",      "a number",          "a boolean",
      "a tensor", "an integer list", "a number list",     "a boolean list",
      "a list",   "a string",        "a symbolic integer"};
  static_assert(std::size(kNames) == std::variant_size_v<Value>);
  return kNames[value.index()];
}

bool is_number(const Value& value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<bool>(value);
}

bool is_integer(const Value& value) {
  return is_number(value) || std::holds_alternative<SymInt>(value);
}

bool all_items(const Graph& graph, const Value& value, bool (*accept)(const Value&)) {
  const auto* list = std::get_if<ValueList>(&value);
  if (list == nullptr) return false;
  for (ValueId item : list->items) {
    if (!accept(graph.value(item))) return false;
  }
  return true;
}

bool is_tensor(const Value& value) { return std::holds_alternative<Tensor>(value); }

bool matches(const Graph& graph, const Value& value, char letter) {
  switch (letter) {
    case 't':
      return is_tensor(value);
    case 'T':
      return all_items(graph, value, is_tensor);
    case 'n':
    case 'b':
      return is_number(value);
    case 'i':
      return is_integer(value);
    case 'l':
      return std::holds_alternative<std::vector<int64_t>>(value) || is_integer(value) ||
             std::holds_alternative<std::vector<bool>>(value) ||
             all_items(graph, value, is_integer);
    case 's':
      return std::holds_alternative<std::string>(value);
    default:
      return letter == '*';
  }
}

std::string_view expectation(char letter) {
  switch (letter) {
    case 't':
      return "a tensor";
    case 'T':
      return "a list of tensors";
    case 'n':
      return "a number";
    case 'b':
      return "a boolean";
    case 'i':
      return "an integer";
    case 'l':
      return "a list of integers";
    case 's':
      return "a string";
    default:
      return "something else";
  }
}

}  // namespace

Status match_signature(const NodeView& node, std::string_view signature) {
  const size_t arrow = signature.find("->");
  size_t arg = 0;
  for (size_t i = 0; i < arrow; ++i) {
    const char letter = signature[i];
    if (letter == ' ') continue;
    const bool optional = i + 1 < arrow && signature[i + 1] == '?';
    if (optional) ++i;
    if (arg >= node.arg_count()) {
      return node.error(ErrorCode::kInvalidProgram, "has {} arguments, too few", node.arg_count());
    }
    const Value& value = node.value(arg);
    if (!(optional && node.is_null(arg)) && !matches(node.graph(), value, letter)) {
      return node.error(ErrorCode::kInvalidProgram, "argument {} should be {} but is {}", arg,
                        expectation(letter), kind_of(value));
    }
    ++arg;
  }
  if (arg != node.arg_count()) {
    return node.error(ErrorCode::kInvalidProgram, "has {} arguments, expected {}", node.arg_count(),
                      arg);
  }
  size_t output = 0;
  for (char letter : signature.substr(arrow + 2)) {
    if (letter == ' ') continue;
    if (letter == 'T') {
      for (; output < node.node().outputs.size(); ++output) {
        if (node.graph().tensor(node.output(output)) != nullptr) continue;
        return node.error(ErrorCode::kInvalidProgram, "output {} is not a tensor", output);
      }
      continue;
    }
    if (output >= node.node().outputs.size()) {
      return node.error(ErrorCode::kInvalidProgram, "has {} outputs, too few", output);
    }
    const Value& value = node.graph().value(node.output(output));
    const bool ok = letter == 't' ? std::holds_alternative<Tensor>(value) : is_integer(value);
    if (!ok) {
      return node.error(ErrorCode::kInvalidProgram, "output {} should be {} but is {}", output,
                        expectation(letter), kind_of(value));
    }
    ++output;
  }
  if (output != node.node().outputs.size()) {
    return node.error(ErrorCode::kInvalidProgram, "has {} outputs, expected {}",
                      node.node().outputs.size(), output);
  }
  return {};
}

}  // namespace executorch::backends::webgpu
