#include "ops/pooling.h"

#include <array>

#include "base/checked.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

// The window along height (0) and width (1).
struct Pool {
  std::array<int64_t, 2> kernel{}, stride{}, pad{}, dilation{1, 1};
  bool ceil_mode = false;
  bool average = false;
  bool count_pad = true;
  int64_t divisor = 0;  // 0: the window's size
};

// One number stands for both dimensions. False when the list has another length.
bool pair_of(const NodeView& node, size_t arg, std::array<int64_t, 2>& out) {
  const std::vector<int64_t> values = node.fixed_integers(arg);
  if (values.size() != 1 && values.size() != 2) return false;
  out = {values[0], values.back()};
  return true;
}

std::optional<Pool> parse(const NodeView& node) {
  Pool pool;
  for (size_t arg = 1; arg < node.arg_count(); ++arg) {
    if (node.is_symbolic(arg)) return std::nullopt;
  }
  pool.average = node.node().op == "aten.avg_pool2d.default";
  if (!pair_of(node, 1, pool.kernel) || !pair_of(node, 3, pool.pad)) return std::nullopt;
  pool.stride = pool.kernel;  // an empty list
  if (!node.fixed_integers(2).empty() && !pair_of(node, 2, pool.stride)) return std::nullopt;
  if (pool.average) {
    pool.ceil_mode = node.boolean(4);
    pool.count_pad = node.boolean(5);
    if (!node.is_null(6)) pool.divisor = node.fixed_integers(6)[0];
  } else {
    if (!pair_of(node, 4, pool.dilation)) return std::nullopt;
    pool.ceil_mode = node.boolean(5);
  }
  for (size_t i : {0u, 1u}) {
    if (pool.kernel[i] < 1 || pool.stride[i] < 1 || pool.dilation[i] < 1 || pool.pad[i] < 0 ||
        pool.pad[i] * 2 > pool.kernel[i]) {
      return std::nullopt;
    }
  }
  return pool;
}

Status check_pool(const NodeView& node) {
  if (!is_float(node.tensor(0)->dtype)) {
    return node.error(ErrorCode::kNotSupported, "is not defined for {}",
                      name_of(node.tensor(0)->dtype));
  }
  if (node.rank(0) != 3 && node.rank(0) != 4) {
    return node.error(ErrorCode::kNotSupported, "pools {}, which is not 2-D",
                      to_string(node.max_dims(0)));
  }
  if (!parse(node)) return node.error(ErrorCode::kInvalidProgram, "the window is not possible");
  return {};
}

// PyTorch's rule: with ceil_mode the last window must start inside the input or its left padding.
int64_t pooled_size(const Pool& pool, size_t i, int64_t size) {
  const int64_t span = size + 2 * pool.pad[i] - pool.dilation[i] * (pool.kernel[i] - 1) - 1;
  if (span < 0 && !pool.ceil_mode) return 0;
  int64_t out = (span + (pool.ceil_mode ? pool.stride[i] - 1 : 0)) / pool.stride[i] + 1;
  if (pool.ceil_mode && (out - 1) * pool.stride[i] >= size + pool.pad[i]) --out;
  return out;
}

Status infer_pool(const NodeView& node, LiveValues& live) {
  const Pool pool = *parse(node);
  Shape dims = live.dims(node.id(0));
  const Shape in = dims;
  for (size_t i : {0u, 1u}) {
    int64_t& size = dims[dims.rank() - 2 + static_cast<int>(i)];
    size = pooled_size(pool, i, size);
    if (size < 1) {
      return node.error(ErrorCode::kInvalidArgument, "no window fits into {}", to_string(in));
    }
  }
  for (ValueId out : node.node().outputs) live.set_dims(out, dims);
  return {};
}

void emit_pool(KernelBuilder& kernel, const NodeView& node, const Pool& pool) {
  const ValueId source = node.id(0), out = node.output();
  kernel.input("source", source);
  const auto size = [](ValueId tensor, int from_last) {
    return [tensor, from_last](const LiveValues& live) {
      return static_cast<uint32_t>(live.dims(tensor).last(from_last));
    };
  };
  kernel.param("in_h", size(source, 1));
  kernel.param("in_w", size(source, 0));
  kernel.param("out_h", size(out, 1));
  kernel.param("out_w", size(out, 0));
  const auto pair = [&](std::string_view name, const std::array<int64_t, 2>& values) {
    kernel.constant(fmt::format("{}_H", name), static_cast<uint32_t>(values[0]));
    kernel.constant(fmt::format("{}_W", name), static_cast<uint32_t>(values[1]));
  };
  pair("KERNEL", pool.kernel);
  pair("STRIDE", pool.stride);
  pair("PAD", pool.pad);
  pair("DILATION", pool.dilation);
  const auto groups = [out](const LiveValues& live) {
    return div_up(static_cast<uint64_t>(live.numel(out)), 4);
  };
  kernel.param("groups",
               [groups](const LiveValues& live) { return static_cast<uint32_t>(groups(live)); });
  kernel.invocations(groups);
}

Status lower_pool(const NodeView& node, Lowering& lowering) {
  const Pool pool = *parse(node);
  const Capabilities& caps = lowering.capabilities();
  KernelBuilder kernel(node.graph(), caps, pool.average ? "avg_pool" : "max_pool", Lanes::k4);
  emit_pool(kernel, node, pool);
  if (pool.average) {
    kernel.constant_bool("COUNT_PAD", pool.count_pad);
    kernel.constant("DIVISOR", static_cast<uint32_t>(pool.divisor));
  } else {
    kernel.module("max_pool_window");
    kernel.code("fn pool_at(e: u32) -> f32 {\n  return max_window(e).value;\n}\n");
  }
  emit_store(kernel, node);
  kernel.code(
      "fn compute(i: u32) {\n  let e = i * 4u;\n  store(i, V(pool_at(e), pool_at(e + 1u), "
      "pool_at(e + 2u), pool_at(e + 3u)));\n}\n");
  if (pool.average) kernel.module("avg_pool_window");
  kernel.body("pointwise");
  lowering.add(kernel.finish());

  if (node.node().outputs.size() < 2 || !lowering.is_read(node.output(1))) return {};
  KernelBuilder indices(node.graph(), caps, "max_pool_indices", Lanes::k4);
  emit_pool(indices, node, pool);
  indices.module("max_pool_window");
  indices.output("out", node.output(1));
  indices.code(
      "fn compute(i: u32) {\n  let e = i * 4u;\n  out_put(i, I(U(max_window(e).index, "
      "max_window(e + 1u).index, max_window(e + 2u).index, max_window(e + 3u).index)));\n}\n");
  indices.body("pointwise");
  lowering.add(indices.finish());
  return {};
}

Op row(std::string_view name, std::string_view signature) {
  Op op;
  op.name = name;
  op.signature = signature;
  op.takes_followers = true;
  op.check = check_pool;
  op.infer = infer_pool;
  op.lower = lower_pool;
  return op;
}

}  // namespace

std::span<const Op> pooling_ops() {
  static const std::vector<Op> ops = {
      row("aten.max_pool2d.default", "t l l l l b -> t"),
      row("aten.max_pool2d_with_indices.default", "t l l l l b -> t t"),
      row("aten.avg_pool2d.default", "t l l l b b n? -> t"),
  };
  return ops;
}

}  // namespace executorch::backends::webgpu
