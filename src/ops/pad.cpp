#include "ops/pad.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ops/live_args.h"
#include "ops/pointwise.h"
#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

constexpr int64_t kMaxPad = int64_t{1} << 32;  // no tensor is larger

// The pads of dimension d, before and after; the list starts at the last dimension.
std::pair<int64_t, int64_t> pads_of(const std::vector<int64_t>& pads, int d, int rank) {
  const auto at = static_cast<size_t>(rank - 1 - d) * 2;
  if (at + 1 >= pads.size()) return {0, 0};
  return {pads[at], pads[at + 1]};
}

Status infer_pad(const NodeView& node, LiveValues& live) {
  ETWG_TRY(check_fits(node, 2, node.tensor(0)->dtype, live));
  Shape dims = live.dims(node.id(0));
  const std::vector<int64_t> pads = node.integers(1, live);
  if (pads.size() % 2 != 0 || pads.size() > 2 * static_cast<size_t>(dims.rank())) {
    return node.error(ErrorCode::kInvalidProgram, "{} pads for a tensor of rank {}", pads.size(),
                      dims.rank());
  }
  for (int d = 0; d < dims.rank(); ++d) {
    const auto [before, after] = pads_of(pads, d, dims.rank());
    const auto is_sane = [](int64_t pad) { return pad > -kMaxPad && pad < kMaxPad; };
    if (!is_sane(before) || !is_sane(after) || dims[d] + before + after < 0) {
      return node.error(ErrorCode::kInvalidArgument, "pads {} leave nothing of dimension {} of {}",
                        to_string(Shape{before, after}), d, to_string(dims));
    }
    dims[d] += before + after;
  }
  live.set_dims(node.output(), dims);
  return {};
}

Status lower_pad(const NodeView& node, Lowering& lowering) {
  const ValueId source = node.id(0), out = node.output();
  const int rank = node.rank(0);
  const LiveIntegers pads = live_integers(node, 1);
  KernelBuilder kernel(node.graph(), lowering.capabilities(), "pad", Lanes::k4, /*general=*/true);
  kernel.input("source", source);
  const bool as_float = kernel.is_float_value(source);
  const char* scalar = as_float ? "f32" : "i32";
  const double fill = node.number_or(2, 0);
  if (as_float) {
    kernel.param_f32("fill", static_cast<float>(fill));
  } else {
    const bool is_bool = node.output_tensor().dtype == DType::kBool;
    const auto value = static_cast<int32_t>(is_bool ? fill != 0 : fill);
    kernel.param_i32("fill", [value](const LiveValues&) { return value; });
  }
  // Peels the coordinates off, innermost first. Before the source they wrap to large numbers, so
  // one comparison finds both sides.
  std::string code = fmt::format(
      "fn element(e: u32) -> {} {{\n  var rest = e;\n  var at = 0u;\n"
      "  var inside = true;\n  var c = 0u;\n",
      scalar);
  for (int d = rank - 1; d >= 0; --d) {
    kernel.param(fmt::format("out_size{}", d), [out, d](const LiveValues& live) {
      return static_cast<uint32_t>(std::max<int64_t>(live.dims(out)[d], 1));
    });
    kernel.param(fmt::format("size{}", d), [source, d](const LiveValues& live) {
      return static_cast<uint32_t>(live.dims(source)[d]);
    });
    kernel.param(fmt::format("stride{}", d), [source, d](const LiveValues& live) {
      const Shape& dims = live.dims(source);
      return static_cast<uint32_t>(dims.numel(d + 1, dims.rank()));
    });
    kernel.param(fmt::format("before{}", d), [pads, d, rank](const LiveValues& live) {
      return static_cast<uint32_t>(pads_of(pads(live), d, rank).first);
    });
    code += fmt::format(
        "  c = rest % p.out_size{0} - p.before{0};\n  rest = rest / p.out_size{0};\n"
        "  inside = inside && c < p.size{0};\n  at = at + c * p.stride{0};\n",
        d);
  }
  code += "  if (inside) {\n    return source1(at);\n  }\n  return p.fill;\n}\n";
  emit_store(kernel, node);
  kernel.code(code);
  emit_by_element(kernel, as_float);
  emit_groups(kernel, out);
  lowering.add(kernel.finish());
  return {};
}

}  // namespace

std::span<const Op> pad_ops() {
  static constexpr Op kOps[] = {compute_op("aten.constant_pad_nd.default", "t l n? -> t",
                                           check_same_type, infer_pad, lower_pad)};
  return kOps;
}

}  // namespace executorch::backends::webgpu
