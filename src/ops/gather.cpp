#include "ops/gather.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/pointwise.h"
#include "ops/view_map.h"

namespace executorch::backends::webgpu {

namespace {

// What the operators of the family have in common: `table` is read along `dim` at `indices`.
struct Gather {
  ValueId table = kNoValue;
  ValueId indices = kNoValue;
  int dim = 0;
  bool wrap_negative = false;  // -1 is the last, as in Python
};

std::optional<Gather> parse(const NodeView& node) {
  const std::string& op = node.node().op;
  Gather out;
  out.table = node.id(0);
  if (op == "aten.embedding.default") {
    out.indices = node.id(1);
  } else if (op == "aten.index.Tensor") {
    // One index tensor; the dims before and after it are taken whole.
    const auto* list = std::get_if<ValueList>(&node.value(1));
    if (list == nullptr) return std::nullopt;
    for (size_t i = 0; i < list->items.size(); ++i) {
      if (node.graph().tensor(list->items[i]) == nullptr) continue;
      if (out.indices != kNoValue) return std::nullopt;
      out.indices = list->items[i];
      out.dim = static_cast<int>(i);
    }
    if (out.indices == kNoValue) return std::nullopt;
    out.wrap_negative = true;
  } else {
    out.dim = normalize_dim(node.fixed_integers(1).at(0), node.rank(0));
    out.indices = node.id(2);
  }
  if (out.dim < 0 || out.dim >= node.rank(0)) return std::nullopt;
  return out;
}

Status check_gather(const NodeView& node) {
  const auto gather = parse(node);
  if (!gather) return node.error(ErrorCode::kNotSupported, "only one index tensor is supported");
  const DType index_type = node.graph().tensor(gather->indices)->dtype;
  // PyTorch takes uint8 indices of index.Tensor for a mask.
  const bool is_mask = index_type == DType::kUInt8 && node.node().op == "aten.index.Tensor";
  if (index_type == DType::kBool || is_float(index_type) || is_mask) {
    return node.error(ErrorCode::kNotSupported, "indices of type {}", name_of(index_type));
  }
  if (node.tensor(0)->dtype != node.output_tensor().dtype) {
    return node.error(ErrorCode::kInvalidProgram, "output type differs from the table's");
  }
  return {};
}

// The indices' dims take the place of the gathered dimension.
Status infer_take(const NodeView& node, LiveValues& live) {
  const Gather gather = *parse(node);
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

void emit_take_index(KernelBuilder& kernel, const Gather& gather) {
  kernel.param("size", [gather](const LiveValues& live) {
    return static_cast<uint32_t>(live.dims(gather.table)[gather.dim]);
  });
  // The position for an index, or `size` when it is out of range.
  kernel.code(
      fmt::format("fn position(index: i32) -> u32 {{\n  {}\n  return min(u32(at), p.size);\n}}\n",
                  gather.wrap_negative ? "let at = select(index, index + i32(p.size), index < 0);"
                                       : "let at = index;"));
}

const char* missing_value(bool as_float) {
  return as_float ? "etwg_from_bits(U(0x7fc00000u))" : "I(0)";
}

Status lower_take(const NodeView& node, Lowering& lowering) {
  const Gather gather = *parse(node);
  const LiveFn inner = inner_of(gather);
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), lowering.capabilities(), "take", Lanes::k4, general);
    kernel.module("pointwise_math");
    kernel.input("table", gather.table);
    kernel.input("indices", gather.indices);
    const bool as_float = kernel.is_float_value(gather.table);
    kernel.param("inner", inner);
    kernel.param("count", [gather](const LiveValues& live) {
      return static_cast<uint32_t>(std::max<int64_t>(live.numel(gather.indices), 1));
    });
    emit_take_index(kernel, gather);
    emit_store(kernel, node);
    // e = (outer * count + k) * inner + column, the source (outer * size + index[k]) * inner +
    // column.
    kernel.code(
        "fn source_of(e: u32) -> vec2<u32> {\n"
        "  let row = e / p.inner;\n  let at = position(indices1(row % p.count));\n"
        "  let ok = u32(at < p.size);\n"
        "  return vec2<u32>(((row / p.count) * p.size + at) * p.inner + e % p.inner, ok);\n}\n");
    if (!general) {
      kernel.require([inner](const LiveValues& live) { return inner(live) % 4 == 0; });
      kernel.code(
          fmt::format("fn compute(i: u32) {{\n  let s = source_of(i * 4u);\n"
                      "  store(i, select({}, table4(s.x >> 2u), s.y == 1u));\n}}\n",
                      missing_value(as_float)));
    } else {
      const char* type = as_float ? "V" : "I";
      kernel.code(fmt::format(
          "fn compute(i: u32) {{\n  var value = {0};\n  for (var k = 0u; k < 4u; k++) {{\n"
          "    let s = source_of(i * 4u + k);\n    if (s.y == 1u) {{\n      value[k] = "
          "table1(s.x);\n"
          "    }}\n  }}\n  store(i, {1}(value));\n}}\n",
          missing_value(as_float), type));
    }
    emit_groups(kernel, node.output());
    return kernel.finish();
  });
  return {};
}

// gather: the output has the indices' dims; other coordinates are the output's own.
Status infer_gather(const NodeView& node, LiveValues& live) {
  const Gather gather = *parse(node);
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
  const Gather gather = *parse(node);
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
  kernel.module("pointwise_math");
  emit_view(kernel, "table", gather.table, map);
  kernel.input("indices", gather.indices);
  kernel.param("inner", inner_of(gather));
  emit_take_index(kernel, gather);
  emit_store(kernel, node);
  const bool as_float = kernel.is_float_value(gather.table);
  kernel.code(
      fmt::format("fn compute(i: u32) {{\n  var value = {};\n"
                  "  let index = indices4(i);\n  for (var k = 0u; k < 4u; k++) {{\n"
                  "    let at = position(index[k]);\n    if (at < p.size) {{\n"
                  "      value[k] = table1(table_at(i * 4u + k) + at * p.inner);\n    }}\n  }}\n"
                  "  store(i, value);\n}}\n",
                  missing_value(as_float)));
  emit_groups(kernel, node.output());
  lowering.add(kernel.finish());
  return {};
}

}  // namespace

std::span<const Op> gather_ops() {
  static constexpr Op kOps[] = {
      compute_op("aten.embedding.default", "t t n b b -> t", check_gather, infer_take, lower_take),
      compute_op("aten.index_select.default", "t n t -> t", check_gather, infer_take, lower_take),
      compute_op("aten.index.Tensor", "t * -> t", check_gather, infer_take, lower_take),
      compute_op("aten.gather.default", "t n t b -> t", check_gather, infer_gather, lower_gather),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
