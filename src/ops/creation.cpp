#include "ops/creation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/checked.h"
#include "ops/live_args.h"
#include "ops/pointwise.h"
#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

using LiveNumber = std::function<double(const LiveValues&)>;

LiveNumber constant_number(double value) {
  return [value](const LiveValues&) { return value; };
}

// A number that the file fixes, or a symbolic integer.
LiveNumber live_number(const NodeView& node, size_t arg, double fallback) {
  if (const auto fixed = node.number(arg)) return constant_number(*fixed);
  if (node.is_null(arg)) return constant_number(fallback);
  return
      [id = node.id(arg)](const LiveValues& live) { return static_cast<double>(live.integer(id)); };
}

// output[i] = first + i * step
void add_ramp(const NodeView& node, Lowering& lowering, const LiveNumber& first,
              const LiveNumber& step) {
  KernelBuilder kernel(node.graph(), lowering.capabilities(), "ramp", Lanes::k4, /*general=*/true);
  const ValueId out = node.output();
  const bool as_float = kernel.is_float_value(out);
  const bool as_bool = node.output_tensor().dtype == DType::kBool;
  const auto declare = [&](std::string_view name, const LiveNumber& number) {
    kernel.param(name, [number, as_float, as_bool](const LiveValues& live) {
      const double value = number(live);
      if (as_bool) return value != 0 ? 1u : 0u;
      if (as_float) return std::bit_cast<uint32_t>(static_cast<float>(value));
      return std::bit_cast<uint32_t>(static_cast<int32_t>(value));  // check_fits: it fits
    });
  };
  declare("first", first);
  declare("step", step);
  emit_store(kernel, node);
  kernel.code(as_float
                  ? "fn compute(i: u32) {\n  let n = V(U(i * 4u) + U(0u, 1u, 2u, 3u));\n"
                    "  store(i, V(bitcast<f32>(p.first)) + n * V(bitcast<f32>(p.step)));\n}\n"
                  : "fn compute(i: u32) {\n  let n = I(U(i * 4u) + U(0u, 1u, 2u, 3u));\n"
                    "  store(i, I(bitcast<i32>(p.first)) + n * I(bitcast<i32>(p.step)));\n}\n");
  emit_groups(kernel, out);
  lowering.add(kernel.finish());
}

Status infer_sizes(const NodeView& node, LiveValues& live) {
  const std::vector<int64_t> sizes = node.integers(0, live);
  if (sizes.size() > kMaxRank) return node.error(ErrorCode::kNotSupported, "rank is too large");
  for (int64_t size : sizes) {
    if (size < 0) return node.error(ErrorCode::kInvalidArgument, "size {} is negative", size);
  }
  live.set_dims(node.output(), Shape(sizes));
  return {};
}

Status infer_full(const NodeView& node, LiveValues& live) {
  ETWG_TRY(check_fits(node, 1, node.output_tensor().dtype, live));
  return infer_sizes(node, live);
}

Status infer_full_like(const NodeView& node, LiveValues& live) {
  ETWG_TRY(check_fits(node, 1, node.output_tensor().dtype, live));
  return infer_same(node, live);
}

Status infer_scalar(const NodeView& node, LiveValues& live) {
  ETWG_TRY(check_fits(node, 0, node.output_tensor().dtype, live));
  live.set_dims(node.output(), Shape());
  return {};
}

template <int kValue>
Status lower_constant(const NodeView& node, Lowering& lowering) {
  add_ramp(node, lowering, constant_number(kValue), constant_number(0));
  return {};
}

template <size_t kArg>
Status lower_value(const NodeView& node, Lowering& lowering) {
  add_ramp(node, lowering, live_number(node, kArg, 0), constant_number(0));
  return {};
}

struct Ramp {
  LiveNumber start, end, step;
};

Ramp ramp_of(const NodeView& node) {
  return {live_number(node, 0, 0), live_number(node, 1, 0), live_number(node, 2, 1)};
}

Status infer_arange(const NodeView& node, LiveValues& live) {
  for (size_t arg : {0u, 2u}) {
    ETWG_TRY(check_fits(node, arg, node.output_tensor().dtype, live));
  }
  const Ramp ramp = ramp_of(node);
  const double start = ramp.start(live), end = ramp.end(live), step = ramp.step(live);
  const double size = std::ceil((end - start) / step);
  if (step == 0 || !(size >= 0) || size > 4294967295.0) {
    return node.error(ErrorCode::kInvalidArgument, "no range leads from {} to {} by {}", start, end,
                      step);
  }
  live.set_dims(node.output(), Shape{static_cast<int64_t>(size)});
  return {};
}

Status lower_arange(const NodeView& node, Lowering& lowering) {
  const Ramp ramp = ramp_of(node);
  add_ramp(node, lowering, ramp.start, ramp.step);
  return {};
}

}  // namespace

std::span<const Op> creation_ops() {
  static constexpr Op kOps[] = {
      compute_op("aten.full.default", "l i * * * * -> t", nullptr, infer_full, lower_value<1>),
      compute_op("aten.zeros.default", "l * * * * -> t", nullptr, infer_sizes, lower_constant<0>),
      compute_op("aten.ones.default", "l * * * * -> t", nullptr, infer_sizes, lower_constant<1>),
      compute_op("aten.full_like.default", "t i * * * * * -> t", nullptr, infer_full_like,
                 lower_value<1>),
      compute_op("aten.zeros_like.default", "t * * * * * -> t", nullptr, infer_same,
                 lower_constant<0>),
      compute_op("aten.ones_like.default", "t * * * * * -> t", nullptr, infer_same,
                 lower_constant<1>),
      compute_op("aten.arange.start_step", "i i i? * * * * -> t", nullptr, infer_arange,
                 lower_arange),
      compute_op("aten.scalar_tensor.default", "i * * * * -> t", nullptr, infer_scalar,
                 lower_value<0>),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
