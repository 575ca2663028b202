#include <algorithm>
#include <vector>

#include "ops/concat.h"
#include "ops/convolution.h"
#include "ops/creation.h"
#include "ops/gather.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/norm.h"
#include "ops/op.h"
#include "ops/pad.h"
#include "ops/pointwise.h"
#include "ops/pooling.h"
#include "ops/reduction.h"
#include "ops/signature.h"
#include "ops/slicing.h"
#include "ops/softmax.h"
#include "ops/symbolic.h"
#include "ops/view.h"

namespace executorch::backends::webgpu {

std::span<const Op> all_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> all;
    // Every operator family, in the open. A family's rows are in its file.
    for (const std::span<const Op> family : {
             pointwise_ops(),
             view_ops(),
             symbolic_ops(),
             movement_ops(),
             slicing_ops(),
             concat_ops(),
             pad_ops(),
             gather_ops(),
             creation_ops(),
             matmul_ops(),
             reduction_ops(),
             softmax_ops(),
             norm_ops(),
             convolution_ops(),
             pooling_ops(),
         }) {
      all.insert(all.end(), family.begin(), family.end());
    }
    std::sort(all.begin(), all.end(), [](const Op& a, const Op& b) { return a.name < b.name; });
    return all;
  }();
  return ops;
}

const Op* find_op(std::string_view name) {
  const std::span<const Op> ops = all_ops();
  const auto it =
      std::lower_bound(ops.begin(), ops.end(), name,
                       [](const Op& op, std::string_view key) { return op.name < key; });
  return it != ops.end() && it->name == name ? &*it : nullptr;
}

OpTraits traits_of(std::string_view name) {
  const Op* op = find_op(name);
  return op == nullptr ? OpTraits{} : OpTraits{op->kind, op->takes_followers};
}

Status check_node(const NodeView& node) {
  const Op* op = find_op(node.node().op);
  if (op == nullptr) {
    return node.error(ErrorCode::kNotSupported,
                      "this runtime has no such operator; keep it on the CPU (the partitioner's "
                      "operator_blocklist)");
  }
  ETWG_TRY(match_signature(node, op->signature));
  if (op->check != nullptr) ETWG_TRY(op->check(node));
  return {};
}

}  // namespace executorch::backends::webgpu
