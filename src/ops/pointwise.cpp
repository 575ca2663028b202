#include "ops/pointwise.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/checked.h"
#include "kernels/wgsl.h"
#include "ops/broadcast.h"
#include "ops/pointwise_table.h"
#include "ops/rules.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

namespace {

// Emits the statements of a chain of pointwise nodes over the elements of one output.
class ChainEmitter {
 public:
  ChainEmitter(KernelBuilder& kernel, const Graph& graph) : kernel_(kernel), graph_(graph) {
    kernel_.module("pointwise_math");
  }

  // Makes `value` (a chain's result so far) readable as `variable`, a V or I by its type.
  void bind(ValueId value, std::string variable) { variables_[value] = std::move(variable); }

  // The statements that compute `node`; its value is bound to a new variable.
  std::string statements(const NodeView& node) {
    if (traits_of(node.node().op).kind == OpKind::kView) {
      bind(node.output(), variable(node.id(0)));
      return "";
    }
    const PointwiseRow& row = *find_row(node);
    const bool as_float = computes_float(node, row);
    const bool as_bool = !row.bool_text.empty() && node.tensor(0)->dtype == DType::kBool;
    const std::string_view text = as_bool    ? row.bool_text
                                  : as_float ? row.float_text
                                             : row.int_text;
    const char* type = as_float ? "V" : "I";
    add_modules(text);
    std::string expression;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '#') {
        expression += type;
      } else if (text[i] == '$' || text[i] == '?') {
        const bool condition = text[i] == '?';
        expression += operand(node, static_cast<size_t>(text[++i] - '0'), as_float, condition);
      } else {
        expression += text[i];
      }
    }
    const std::string variable = fmt::format("v{}", count_++);
    const DType dtype = node.output_tensor().dtype;
    // A cast to float16 rounds even where the next node of the chain casts back.
    if (row.is_cast() && as_float && dtype == DType::kFloat16) {
      expression = fmt::format("etwg_round_f16({})", expression);
    }
    bind(node.output(), variable);
    return fmt::format("  let {} = {};\n", variable,
                       converted(expression, row.condition ? 'B' : (as_float ? 'V' : 'I'), dtype));
  }

  // The text that reads `value`, which the chain has bound.
  const std::string& variable(ValueId value) const { return variables_.at(value); }

  static bool computes_float(const NodeView& node, const PointwiseRow& row) {
    if (row.int_text.empty()) return true;
    if (row.float_text.empty()) return false;
    if (is_float(node.output_tensor().dtype)) return true;
    for (size_t arg = 0; arg < node.arg_count(); ++arg) {
      if (!uses(row.float_text, arg)) continue;
      if (const Tensor* tensor = node.tensor(arg)) {
        if (is_float(tensor->dtype)) return true;
      } else if (const auto number = node.number(arg)) {
        if (*number != std::floor(*number)) return true;
        if (row.condition && !fits_int32(*number)) return true;
      }
    }
    return false;
  }

  // Whether the row's texts read argument `arg`.
  static bool uses_arg(const PointwiseRow& row, size_t arg) {
    return uses(row.float_text, arg) || uses(row.int_text, arg);
  }

 private:
  // The less common functions lie in modules of their own.
  void add_modules(std::string_view text) {
    for (size_t at = text.find("etwg_"); at != std::string_view::npos;
         at = text.find("etwg_", at + 1)) {
      const std::string_view name = text.substr(at, text.find('(', at) - at);
      const std::string definition = fmt::format("fn {}(", name);
      for (const std::string_view module : {"pointwise_divide", "pointwise_inverse"}) {
        if (wgsl_source(module).find(definition) != std::string_view::npos) kernel_.module(module);
      }
    }
  }

  static bool uses(std::string_view text, size_t arg) {
    const std::string key = fmt::format("${}", arg);
    return text.find(key) != std::string_view::npos;
  }

  std::string operand(const NodeView& node, size_t arg, bool as_float, bool condition) {
    if (node.tensor(arg) == nullptr) return number(*node.number(arg), as_float);
    const ValueId value = node.id(arg);
    std::string text = read(value, node.output());
    const bool value_is_float = kernel_.is_float_value(value);
    if (condition) return fmt::format("!({} == {}(0))", text, value_is_float ? "V" : "I");
    if (value_is_float == as_float) return text;
    return fmt::format("{}({})", as_float ? "V" : "I", text);
  }

  // Numbers other than 0 and 1 are parameters, so that pipelines are shared between values.
  std::string number(double value, bool as_float) {
    const char* type = as_float ? "V" : "I";
    if ((value == 0 && !std::signbit(value)) || value == 1) {
      return fmt::format("{}({})", type, static_cast<int>(value));
    }
    const std::string name = fmt::format("number{}", numbers_++);
    if (as_float) {
      kernel_.param_f32(name, static_cast<float>(value));
    } else {
      // Only bounds of a clamp may be out of range: no element reaches them.
      const double bounded = std::clamp(value, -2147483648.0, 2147483647.0);
      kernel_.param_i32(name, [v = static_cast<int32_t>(bounded)](const LiveValues&) { return v; });
    }
    return fmt::format("{}(p.{})", type, name);
  }

  // The value of a tensor at group/element `i` of `out`, a value of the chain.
  std::string read(ValueId value, ValueId out) {
    if (const auto it = variables_.find(value); it != variables_.end()) return it->second;
    if (const auto it = broadcasts_.find({value, out}); it != broadcasts_.end()) return it->second;
    const std::string name = fmt::format("operand{}", operands_++);
    const Shape& from = graph_.tensor(value)->max_dims;
    const Shape& to = graph_.tensor(out)->max_dims;
    if (same_elements(from, to)) {
      kernel_.input(name, value);
      return variables_[value] = fmt::format("{}_v(i)", name);
    }
    if (from.numel() == 1) {
      kernel_.input(name, value);
      return variables_[value] =
                 fmt::format("{}({}1(0u))", kernel_.is_float_value(value) ? "V" : "I", name);
    }
    emit_view(kernel_, name, value, broadcast_map(graph_, value, out));
    return broadcasts_[{value, out}] = fmt::format("{}_view(i)", name);
  }

  static bool same_elements(const Shape& from, const Shape& to) {
    if (from.rank() > to.rank()) return false;
    for (int i = 0; i < to.rank(); ++i) {
      if (from.last(i) != to.last(i)) return false;
    }
    return true;
  }

  // `text` of type V, I or B (conditions) as the V or I that holds a value of `dtype`.
  static std::string converted(const std::string& text, char type, DType dtype) {
    if (is_float(dtype)) return type == 'V' ? text : fmt::format("V({})", text);
    if (dtype == DType::kBool) {
      return type == 'B' ? fmt::format("I({})", text)
                         : fmt::format("I(!(({}) == {}(0)))", text, type == 'V' ? "V" : "I");
    }
    std::string integer = type == 'I' ? text : fmt::format("I({})", text);
    if (dtype == DType::kUInt8) return fmt::format("(({}) & I(255))", integer);
    if (dtype == DType::kInt8) return fmt::format("((({}) << U(24u)) >> U(24u))", integer);
    return integer;
  }

  KernelBuilder& kernel_;
  const Graph& graph_;
  std::map<ValueId, std::string> variables_;
  std::map<std::pair<ValueId, ValueId>, std::string> broadcasts_;
  int count_ = 0, operands_ = 0, numbers_ = 0;
};

std::string follower_statements(ChainEmitter& chain, const NodeView& node) {
  std::string text;
  for (const Node& follower : node.node().followers) {
    text += chain.statements(NodeView(node.graph(), follower));
  }
  return text;
}

Status check_pointwise(const NodeView& node) {
  const PointwiseRow* row = find_row(node);
  if (row == nullptr) return node.error(ErrorCode::kNotSupported, "mode is not known");
  bool any_float = is_float(node.output_tensor().dtype);
  for (size_t arg = 0; arg < node.arg_count(); ++arg) {
    if (node.tensor(arg) != nullptr) any_float = any_float || is_float(node.tensor(arg)->dtype);
  }
  if (row->float_text.empty() && any_float) {
    return node.error(ErrorCode::kNotSupported, "is defined for integers only");
  }
  if (ChainEmitter::computes_float(node, *row) && !row->condition) return {};
  for (size_t arg = 0; arg < node.arg_count(); ++arg) {
    const auto number = ChainEmitter::uses_arg(*row, arg) ? node.number(arg) : std::nullopt;
    if (!number || fits_int32(*number) || row->clamps) continue;
    // Far from every int32 a comparison is right in float32; near the ends it is in neither type.
    const bool far = row->condition && !(std::abs(*number) < 4294967296.0);
    if (any_float || far) continue;
    return node.error(ErrorCode::kNotSupported,
                      "{} is not within the 32 bits of an integer on the GPU", *number);
  }
  return {};
}

// A cast to the same type moves nothing.
bool is_identity(const NodeView& node) {
  return find_row(node)->float_text == "$0" && node.node().followers.empty() &&
         node.tensor(0)->dtype == node.output_tensor().dtype;
}

Status lower_pointwise(const NodeView& node, Lowering& lowering) {
  const ValueId result = node.node().result();
  if (is_identity(node)) {
    lowering.alias(result, node.id(0));
    return {};
  }
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "pointwise", Lanes::k4, general);
    ChainEmitter chain(kernel, node.graph());
    std::string text = chain.statements(node);  // first: followers read what it binds
    text += follower_statements(chain, node);
    kernel.output("out", result);
    kernel.code(fmt::format("fn compute(i: u32) {{\n{}  out_put(i, {});\n}}\n", text,
                            chain.variable(result)));
    emit_groups(kernel, result);
    return kernel.finish();
  });
  return {};
}

}  // namespace

void emit_store(KernelBuilder& kernel, const NodeView& node) {
  const ValueId result = node.node().result();
  ChainEmitter chain(kernel, node.graph());
  chain.bind(node.output(), "value");
  const std::string text = follower_statements(chain, node);
  kernel.output("out", result);
  kernel.code(fmt::format("fn store(i: u32, value: {}) {{\n{}  out_put(i, {});\n}}\n",
                          kernel.is_float_value(node.output()) ? "V" : "I", text,
                          chain.variable(result)));
}

void emit_groups(KernelBuilder& kernel, ValueId tensor) {
  const auto groups = [tensor](const LiveValues& live) {
    return div_up(static_cast<uint64_t>(live.numel(tensor)), 4);
  };
  kernel.param("groups",
               [groups](const LiveValues& live) { return static_cast<uint32_t>(groups(live)); });
  kernel.body("pointwise");
  kernel.invocations(groups);
}

void emit_by_element(KernelBuilder& kernel, bool as_float) {
  kernel.code(fmt::format("alias Four = {};\n", as_float ? "V" : "I"));
  kernel.module("by_element");
}

bool can_store_single(const NodeView& node, const Capabilities& caps) {
  return KernelBuilder::can_store_single(node.graph().tensor(node.node().result())->dtype, caps);
}

std::span<const Op> pointwise_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> rows;
    for (const PointwiseRow& row : pointwise_rows()) {
      if (!rows.empty() && rows.back().name == row.name) continue;  // another variant
      rows.push_back({row.name, row.signature, OpKind::kPointwise, true, check_pointwise,
                      infer_broadcast, lower_pointwise});
    }
    return rows;
  }();
  return ops;
}

}  // namespace executorch::backends::webgpu
