#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/capabilities.h"
#include "base/result.h"
#include "ir/op_traits.h"
#include "ops/lowering.h"
#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// One row of the operator table. `check` is the only statement of what is supported.
struct Op {
  std::string_view name;       // as in the payload, e.g. "aten.add.Tensor"
  std::string_view signature;  // kinds of arguments and outputs, see signature.h
  OpKind kind = OpKind::kCompute;
  bool takes_followers = false;  // writes its first output through emit_store()

  // Types, ranks, attribute ranges beyond the signature. May be nullptr.
  Status (*check)(const NodeView&) = nullptr;
  // Sets the live dims (or integers) of all outputs from the live inputs. Must refuse, not clamp,
  // live sizes that do not fit the arguments.
  Status (*infer)(const NodeView&, LiveValues&) = nullptr;
  // Adds aliases, prepacked weights and dispatches. nullptr for kSymbolic.
  Status (*lower)(const NodeView&, Lowering&) = nullptr;
};

// The row of an operator that computes: its kernels write the first output through emit_store().
constexpr Op compute_op(std::string_view name, std::string_view signature,
                        Status (*check)(const NodeView&),
                        Status (*infer)(const NodeView&, LiveValues&),
                        Status (*lower)(const NodeView&, Lowering&)) {
  return {name, signature, OpKind::kCompute, true, check, infer, lower};
}

// The row of a family's own table that is for `name`, an operator of that family. Rows have a
// `name`.
template <typename Rows>
constexpr const auto& row_named(const Rows& rows, std::string_view name) {
  size_t i = 0;
  while (rows[i].name != name) ++i;
  return rows[i];
}

// The whole table, sorted by name; nullptr when the operator is unknown.
const Op* find_op(std::string_view name);
std::span<const Op> all_ops();
OpTraits traits_of(std::string_view name);

// Signature, then check: everything that must hold before infer and lower may be called.
Status check_node(const NodeView& node);

}  // namespace executorch::backends::webgpu
