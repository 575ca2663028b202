#include "ops/reduction.h"

#include <algorithm>

#include "ops/reduction_table.h"

namespace executorch::backends::webgpu {

namespace {

const ReductionRow& row_of(const NodeView& node) { return *find_reduction(node.node().op); }

// Which dims are reduced, by position.
Result<std::vector<bool>> reduced_dims(const NodeView& node) {
  const ReductionRow& row = row_of(node);
  const int rank = node.rank(0);
  std::vector<bool> reduced(static_cast<size_t>(rank));
  const bool given = row.dim_arg >= 0 && !node.is_null(static_cast<size_t>(row.dim_arg));
  std::vector<int64_t> dims;
  if (given) {
    if (node.is_symbolic(static_cast<size_t>(row.dim_arg))) {
      return node.error(ErrorCode::kNotSupported, "the dims must be fixed");
    }
    dims = node.fixed_integers(static_cast<size_t>(row.dim_arg));
  }
  if (dims.empty() && !(given && row.empty_is_none)) reduced.assign(reduced.size(), true);
  for (int64_t dim : dims) {
    const int d = normalize_dim(dim, rank);
    if (d < 0) {
      return node.error(ErrorCode::kInvalidProgram, "dimension {} is out of range for {}", dim,
                        to_string(node.max_dims(0)));
    }
    if (rank == 0) continue;
    if (reduced[static_cast<size_t>(d)]) {
      return node.error(ErrorCode::kInvalidProgram, "dimension {} is given twice", dim);
    }
    reduced[static_cast<size_t>(d)] = true;
  }
  return reduced;
}

bool keeps_dims(const NodeView& node) {
  const int arg = row_of(node).keepdim_arg;
  return arg >= 0 && node.boolean(static_cast<size_t>(arg));
}

// Whether the elements are f32 in the kernel.
bool computes_floats(const NodeView& node) {
  return is_float((row_of(node).arithmetic ? node.output_tensor() : *node.tensor(0)).dtype);
}

Status check_reduction(const NodeView& node) {
  ETWG_TRY(reduced_dims(node));
  const ReductionRow& row = row_of(node);
  const DType from = node.tensor(0)->dtype, to = node.output_tensor().dtype;
  if (row.arithmetic && is_float(from) && !is_float(to)) {
    return node.error(ErrorCode::kNotSupported, "cannot give {} for {}", name_of(to),
                      name_of(from));
  }
  if ((computes_floats(node) ? row.for_float : row.for_int).fields.empty()) {
    return node.error(ErrorCode::kNotSupported, "is not defined for {}", name_of(from));
  }
  if (row.correction_arg >= 0 && !node.is_null(static_cast<size_t>(row.correction_arg)) &&
      !node.number(static_cast<size_t>(row.correction_arg))) {
    return node.error(ErrorCode::kNotSupported, "the correction must be fixed");
  }
  return {};
}

Status infer_reduction(const NodeView& node, LiveValues& live) {
  const std::vector<bool> reduced = *reduced_dims(node);
  const Shape in = live.dims(node.id(0));
  Shape out;
  int64_t count = 1;
  for (int d = 0; d < in.rank(); ++d) {
    const bool gone = reduced[static_cast<size_t>(d)];
    if (gone) count *= in[d];
    if (!gone || keeps_dims(node)) out.push_back(gone ? 1 : in[d]);
  }
  if (count == 0 && row_of(node).needs_elements && out.numel() > 0) {
    return node.error(ErrorCode::kInvalidArgument, "cannot reduce no elements ({})", to_string(in));
  }
  for (ValueId id : node.node().outputs) live.set_dims(id, out);
  return {};
}

Status lower_reduction(const NodeView& node, Lowering& lowering) {
  const ReductionRow& row = row_of(node);
  const bool as_float = computes_floats(node);
  Reduction reduction{
      node, 0, as_float ? row.for_float : row.for_int, *reduced_dims(node), as_float, std::nullopt};
  if (row.correction_arg >= 0) {
    reduction.correction =
        static_cast<float>(node.number_or(static_cast<size_t>(row.correction_arg), 1));
  }
  add_reduction(reduction, lowering);
  if (node.node().outputs.size() < 2 || !lowering.is_read(node.output(1))) return {};
  add_reduction({node, 1, as_float ? row.index_for_float : row.index_for_int, reduction.reduced,
                 as_float, std::nullopt},
                lowering);
  return {};
}

}  // namespace

std::span<const Op> reduction_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> rows;
    for (const ReductionRow& row : reduction_rows()) {
      rows.push_back(
          compute_op(row.name, row.signature, check_reduction, infer_reduction, lower_reduction));
    }
    return rows;
  }();
  return ops;
}

}  // namespace executorch::backends::webgpu
