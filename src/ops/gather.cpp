#include "ops/gather.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/pointwise.h"
#include "ops/rules.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

namespace {

struct Row {
  std::string_view name, signature;
  int dim_arg;  // -1: dimension 0, or the place in a list of indices
  size_t index_arg;
  bool wraps;       // -1 is the last, as in Python
  bool whole_rows;  // the indices' dims take the place of the gathered one
};

constexpr Row kRows[] = {
    {"aten.embedding.default", "t t n b b -> t", -1, 1, false, true},
    {"aten.index_select.default", "t n t -> t", 1, 2, false, true},
    {"aten.index.Tensor", "t * -> t", -1, 1, true, true},
    {"aten.gather.default", "t n t b -> t", 1, 2, false, false},
};

// `table` is read along `dim` at `indices`.
struct Gather {
  ValueId table = kNoValue;
  ValueId indices = kNoValue;
  int dim = 0;
  bool wraps = false;
};

Result<Gather> parse(const NodeView& node) {
  const Row& row = row_named(kRows, node.node().op);
  Gather out{node.id(0), node.id(row.index_arg), 0, row.wraps};
  if (node.tensor(row.index_arg) == nullptr) {
    // One index tensor of a list; the dims before and after it are taken whole.
    const auto* list = std::get_if<ValueList>(&node.value(row.index_arg));
    out.indices = kNoValue;
    for (size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      if (node.graph().tensor(list->items[i]) == nullptr) continue;
      if (out.indices != kNoValue) {
        return node.error(ErrorCode::kNotSupported, "only one index tensor is supported");
      }
      out.indices = list->items[i];
      out.dim = static_cast<int>(i);
    }
    if (out.indices == kNoValue) {
      return node.error(ErrorCode::kNotSupported, "has no index tensor");
    }
  }
  if (row.dim_arg >= 0) {
    out.dim =
        normalize_dim(node.fixed_integers(static_cast<size_t>(row.dim_arg)).at(0), node.rank(0));
  }
  if (out.dim < 0 || out.dim >= node.rank(0)) {
    return node.error(ErrorCode::kInvalidProgram, "the dimension is out of range for {}",
                      to_string(node.max_dims(0)));
  }
  return out;
}

Status check_gather(const NodeView& node) {
  ETWG_ASSIGN(const Gather gather, parse(node));
  const DType index_type = node.graph().tensor(gather.indices)->dtype;
  // PyTorch takes uint8 indices of index.Tensor for a mask.
  const bool is_mask = index_type == DType::kUInt8 && gather.wraps;
  if (index_type == DType::kBool || is_float(index_type) || is_mask) {
    return node.error(ErrorCode::kNotSupported, "indices of type {}", name_of(index_type));
  }
  return check_same_type(node);
}

// The indices' dims take the place of the gathered dimension.
Status infer_take(const NodeView& node, LiveValues& live) {
  ETWG_ASSIGN(const Gather gather, parse(node));
  const Shape &table = live.dims(gather.table), &indices = live.dims(gather.indices);
  if (table.rank() - 1 + indices.rank() > kMaxRank) {
    return node.error(ErrorCode::kNotSupported, "rank is too large");
  }
  Shape out;
  for (int d = 0; d < gather.dim; ++d) out.push_back(table[d]);
  for (int64_t size : indices) out.push_back(size);
  for (int d = gather.dim + 1; d < table.rank(); ++d) out.push_back(table[d]);
  live.set_dims(node.output(), out);
  return {};
}

LiveFn inner_of(const Gather& gather) {
  return [table = gather.table, dim = gather.dim](const LiveValues& live) {
    const Shape& dims = live.dims(table);
    return static_cast<uint32_t>(std::max<int64_t>(dims.numel(dim + 1, dims.rank()), 1));
  };
}

void emit_common(KernelBuilder& kernel, const Gather& gather) {
  kernel.module("pointwise_math");
  kernel.module("gather_position");
  kernel.param("size", [gather](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(gather.table)[gather.dim]);
  });
  kernel.param("inner", inner_of(gather));
  kernel.constant_bool("WRAPS", gather.wraps);
  kernel.code(kernel.is_float_value(gather.table)
                  ? "fn missing() -> V {\n  return etwg_from_bits(U(0x7fc00000u));\n}\n"
                  : "fn missing() -> I {\n  return I(0);\n}\n");
}

Status lower_take(const NodeView& node, Lowering& lowering) {
  ETWG_ASSIGN(const Gather gather, parse(node));
  const LiveFn inner = inner_of(gather);
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "take", Lanes::k4, general);
    kernel.input("table", gather.table);
    kernel.input("indices", gather.indices);
    kernel.param("count", [gather](const LiveValues& live) {
      return static_cast<uint32_t>(std::max<int64_t>(live.numel(gather.indices), 1));
    });
    emit_common(kernel, gather);
    emit_store(kernel, node);
    if (!general) {
      kernel.require([inner](const LiveValues& live) { return inner(live) % 4 == 0; });
    }
    kernel.module("take_source");
    kernel.module(general ? "take_elements" : "take_groups");
    emit_groups(kernel, node.output());
    return kernel.finish();
  });
  return {};
}

// gather: the output has the indices' dims; other coordinates are the output's own.
Status infer_gather(const NodeView& node, LiveValues& live) {
  ETWG_ASSIGN(const Gather gather, parse(node));
  const Shape &table = live.dims(gather.table), &indices = live.dims(gather.indices);
  bool fits = indices.rank() == table.rank();
  for (int d = 0; fits && d < indices.rank(); ++d) {
    fits = d == gather.dim || indices[d] <= table[d];
  }
  if (!fits) {
    return node.error(ErrorCode::kInvalidArgument, "indices of sizes {} do not fit into {}",
                      to_string(indices), to_string(table));
  }
  live.set_dims(node.output(), indices);
  return {};
}

Status lower_gather(const NodeView& node, Lowering& lowering) {
  ETWG_ASSIGN(const Gather gather, parse(node));
  ViewMap map = identity_map(node.graph(), gather.indices);
  for (size_t d = 0; d < map.dims.size(); ++d) {
    map.dims[d].joins_next = false;
    map.dims[d].broadcast = static_cast<int>(d) == gather.dim;
    map.dims[d].stride = [table = gather.table, d](const LiveValues& live) {
      const Shape& dims = live.dims(table);
      return static_cast<uint32_t>(dims.numel(static_cast<int>(d) + 1, dims.rank()));
    };
  }
  KernelBuilder kernel(node.graph(), lowering.capabilities(), "gather", Lanes::k4,
                       /*general=*/true);
  emit_view(kernel, "table", gather.table, map);
  kernel.input("indices", gather.indices);
  emit_common(kernel, gather);
  emit_store(kernel, node);
  kernel.module("gather_elements");
  emit_groups(kernel, node.output());
  lowering.add(kernel.finish());
  return {};
}

}  // namespace

std::span<const Op> gather_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> rows;
    for (const Row& row : kRows) {
      rows.push_back(compute_op(row.name, row.signature, check_gather,
                                row.whole_rows ? infer_take : infer_gather,
                                row.whole_rows ? lower_take : lower_gather));
    }
    return rows;
  }();
  return ops;
}

}  // namespace executorch::backends::webgpu
