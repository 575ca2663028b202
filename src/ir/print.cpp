#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "ir/graph.h"

namespace executorch::backends::webgpu {
namespace {

// One alternative of Value after the other, through overloads; what is printed is also what a
// person would look for: ids as %7, plain numbers as they are.
class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string print() {
    line("graph: {} values, {} nodes, {} constants", graph_.values.size(), graph_.nodes.size(),
         graph_.constants.size());
    line("inputs: {}", ids(graph_.inputs));
    line("outputs: {}", ids(graph_.outputs));
    line("values:");
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      line("  %{:<4} {}{}", id, describe(graph_.values[id]), role(static_cast<ValueId>(id)));
    }
    line("nodes:");
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      line("  {:<4} {}  #{}", i, call(node), node.debug_id);
      for (const Node& follower : node.followers) {
        line("       + {}  #{}", call(follower), follower.debug_id);
      }
    }
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // A pass may have left an id that is out of range: a listing is how one finds it.
  bool in_range(ValueId id) const {
    return id >= 0 && static_cast<size_t>(id) < graph_.values.size();
  }

  std::string name(ValueId id) const {
    if (id == kNoValue) return "-";
    return fmt::format("%{}{}", id, in_range(id) ? "" : "?");
  }

  std::string ids(const std::vector<ValueId>& list) const {
    std::vector<std::string> names;
    for (ValueId id : list) names.push_back(name(id));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  static std::string describe(const Null&) { return "null"; }
  static std::string describe(int64_t value) { return fmt::format("int {}", value); }
  static std::string describe(double value) { return fmt::format("double {}", value); }
  static std::string describe(bool value) { return fmt::format("bool {}", value); }
  static std::string describe(const std::vector<int64_t>& list) {
    return fmt::format("ints [{}]", fmt::join(list, ", "));
  }
  static std::string describe(const std::vector<double>& list) {
    return fmt::format("doubles [{}]", fmt::join(list, ", "));
  }
  static std::string describe(const std::vector<bool>& list) {
    std::string items;
    for (bool item : list) items += fmt::format("{}{}", items.empty() ? "" : ", ", item);
    return fmt::format("bools [{}]", items);
  }
  static std::string describe(const std::string& value) {
    return fmt::format("string \"{}\"", value);
  }
  static std::string describe(const SymInt&) { return "symint"; }
  std::string describe(const ValueList& list) const {
    return fmt::format("list [{}]", ids(list.items));
  }
  std::string describe(const Tensor& tensor) const {
    std::string text = fmt::format("{}{}", name_of(tensor.dtype), to_string(tensor.max_dims));
    if (tensor.staging != tensor.dtype) {
      text += fmt::format(" (host: {})", name_of(tensor.staging));
    }
    if (tensor.constant < 0) return text;
    text += fmt::format(", constant {}", tensor.constant);
    if (static_cast<size_t>(tensor.constant) >= graph_.constants.size()) return text + "?";
    const Constant& constant = graph_.constants[static_cast<size_t>(tensor.constant)];
    constexpr size_t kShown = 8;  // characters of a hash that are enough to tell it from others
    const std::string where = constant.key.empty() ? fmt::format("at {}", constant.offset)
                                                   : constant.key.substr(0, kShown);
    return text + fmt::format(" ({}, {} bytes)", where, constant.nbytes);
  }
  std::string describe(const Value& value) const {
    return std::visit([this](const auto& held) { return this->describe(held); }, value);
  }

  std::string role(ValueId id) const {
    const auto holds = [id](const std::vector<ValueId>& list) {
      return std::find(list.begin(), list.end(), id) != list.end();
    };
    return fmt::format("{}{}", holds(graph_.inputs) ? ", input" : "",
                       holds(graph_.outputs) ? ", output" : "");
  }

  // Tensors, lists of values and run-time integers by name, everything else by what it is.
  std::string argument(ValueId id) const {
    if (!in_range(id)) return name(id);
    const Value& value = graph_.value(id);
    if (std::holds_alternative<Tensor>(value) || std::holds_alternative<SymInt>(value)) {
      return name(id);
    }
    if (const auto* list = std::get_if<ValueList>(&value)) {
      std::vector<std::string> items;
      for (ValueId item : list->items) {
        // A list in a list is not valid; printing one must end all the same.
        const bool nested = in_range(item) && std::holds_alternative<ValueList>(graph_.value(item));
        items.push_back(nested ? name(item) : argument(item));
      }
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    const std::string text = describe(value);
    const size_t space = text.find(' ');
    return space == std::string::npos ? text : text.substr(space + 1);  // without the kind
  }

  std::string call(const Node& node) const {
    std::vector<std::string> args;
    for (ValueId arg : node.args) args.push_back(argument(arg));
    return fmt::format("{} = {}({})", ids(node.outputs), node.op, fmt::join(args, ", "));
  }

  const Graph& graph_;
  std::string text_;
};

}  // namespace

std::string to_string(const Graph& graph) { return Printer(graph).print(); }

}  // namespace executorch::backends::webgpu
