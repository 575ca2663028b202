#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/live_values.h"

namespace executorch::backends::webgpu {

// Typed access to the arguments of a node. The accessors that return plain values may be called
// once the operator's signature has been matched (see signature.h); indices count schema arguments.
class NodeView {
 public:
  NodeView(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  size_t arg_count() const { return node_.args.size(); }

  ValueId id(size_t arg) const { return node_.args[arg]; }
  const Value& value(size_t arg) const { return graph_.value(id(arg)); }
  bool is_null(size_t arg) const { return std::holds_alternative<Null>(value(arg)); }
  // nullptr when the argument is not a tensor.
  const Tensor* tensor(size_t arg) const { return graph_.tensor(id(arg)); }
  const Shape& max_dims(size_t arg) const { return tensor(arg)->max_dims; }
  int rank(size_t arg) const { return max_dims(arg).rank(); }
  // The items of a list of tensors (or of a symbolic size list).
  const std::vector<ValueId>& items(size_t arg) const {
    return std::get<ValueList>(value(arg)).items;
  }

  ValueId output(size_t i = 0) const { return node_.outputs[i]; }
  const Tensor& output_tensor(size_t i = 0) const { return *graph_.tensor(output(i)); }

  // A number that the file fixes (Int, Double or Bool: the exporter shares equal scalars between
  // types). nullopt for anything else, SymInts included.
  std::optional<double> number(size_t arg) const;
  double number_or(size_t arg, double fallback) const { return number(arg).value_or(fallback); }
  bool boolean(size_t arg) const { return number_or(arg, 0) != 0; }

  // An integer at run time: Int, Bool, integral Double or SymInt; nullopt when absent (Null).
  std::optional<int64_t> integer(size_t arg, const LiveValues& live) const;
  bool is_symbolic(size_t arg) const;  // a SymInt, or a list that contains one
  // An integer list at run time; a single integer counts as a list of one, Null as an empty list.
  std::vector<int64_t> integers(size_t arg, const LiveValues& live) const;
  // The same, when the file fixes all elements; empty when is_symbolic.
  std::vector<int64_t> fixed_integers(size_t arg) const;
  std::string string(size_t arg) const;

  // An error that names the operator and node: "aten.add.Tensor (node 7): <message>".
  template <typename... Args>
  tl::unexpected<Error> error(ErrorCode code, fmt::format_string<Args...> format,
                              Args&&... args) const {
    return fail(code, "{} (node {}): {}", node_.op, node_.debug_id,
                fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

}  // namespace executorch::backends::webgpu
