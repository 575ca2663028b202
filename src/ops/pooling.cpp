#include "ops/pooling.h"

#include <array>

#include "base/checked.h"
#include "ops/pointwise.h"
#include "ops/rules.h"

namespace executorch::backends::webgpu {

namespace {

constexpr int64_t kMaxAdaptiveSize = 65535;  // its square fits 32 bits

struct Kind {
  std::string_view name, signature;
  int spatial;
  bool average;
  bool adaptive;  // the output's sizes are given, windows follow from them
};

constexpr Kind kKinds[] = {
    {"aten.max_pool2d.default", "t l l l l b -> t", 2, false, false},
    {"aten.max_pool2d_with_indices.default", "t l l l l b -> t t", 2, false, false},
    {"aten.avg_pool2d.default", "t l l l b b n? -> t", 2, true, false},
    {"aten.avg_pool1d.default", "t l l l b b -> t", 1, true, false},
    {"aten._adaptive_avg_pool2d.default", "t l -> t", 2, true, true},
    {"aten.adaptive_avg_pool2d.default", "t l -> t", 2, true, true},
    {"aten.adaptive_avg_pool1d.default", "t l -> t", 1, true, true},
};

const Kind& kind_of(const NodeView& node) { return row_named(kKinds, node.node().op); }

// The window along height (0) and width (1); a 1-D one has height 1.
struct Pool {
  Kind kind{};
  std::array<int64_t, 2> kernel{1, 1}, stride{1, 1}, pad{0, 0}, dilation{1, 1};
  std::array<int64_t, 2> size{1, 1};  // of the output, when adaptive
  bool ceil_mode = false;
  bool count_pad = true;
  int64_t divisor = 0;  // 0: the window's size
};

// One number stands for both dimensions.
Status read_pair(const NodeView& node, size_t arg, const Kind& kind, std::array<int64_t, 2>& out) {
  if (node.is_symbolic(arg)) {
    return node.error(ErrorCode::kNotSupported, "argument {} is not fixed by the file", arg);
  }
  const std::vector<int64_t> values = node.fixed_integers(arg);
  const auto spatial = static_cast<size_t>(kind.spatial);
  if (values.size() != 1 && values.size() != spatial) {
    return node.error(ErrorCode::kInvalidProgram, "argument {} has {} numbers for {} dimensions",
                      arg, values.size(), spatial);
  }
  for (size_t i = 2 - spatial; i < 2; ++i) {
    out[i] = values[values.size() == 1 ? 0 : i + spatial - 2];
    if (out[i] < 0 || out[i] > (1 << 20)) {
      return node.error(ErrorCode::kNotSupported, "argument {} is {}", arg, out[i]);
    }
  }
  return {};
}

Result<Pool> parse(const NodeView& node) {
  Pool pool;
  pool.kind = kind_of(node);
  const Kind& kind = pool.kind;
  if (kind.adaptive) {
    ETWG_TRY(read_pair(node, 1, kind, pool.size));
    if (std::max(pool.size[0], pool.size[1]) > kMaxAdaptiveSize) {
      return node.error(ErrorCode::kNotSupported, "more than {} outputs a dimension",
                        kMaxAdaptiveSize);
    }
    return pool;
  }
  ETWG_TRY(read_pair(node, 1, kind, pool.kernel));
  pool.stride = pool.kernel;  // what an empty list stands for
  if (node.is_symbolic(2) || !node.fixed_integers(2).empty()) {
    ETWG_TRY(read_pair(node, 2, kind, pool.stride));
  }
  ETWG_TRY(read_pair(node, 3, kind, pool.pad));
  if (!kind.average) ETWG_TRY(read_pair(node, 4, kind, pool.dilation));
  pool.ceil_mode = node.boolean(kind.average ? 4 : 5);
  if (kind.average) pool.count_pad = node.boolean(5);
  if (kind.average && node.arg_count() > 6 && !node.is_null(6)) {
    pool.divisor = node.fixed_integers(6)[0];
    if (pool.divisor == 0 || !fits_int32(static_cast<double>(pool.divisor))) {
      return node.error(ErrorCode::kInvalidProgram, "the divisor is {}", pool.divisor);
    }
  }
  for (size_t i : {0u, 1u}) {
    // PyTorch's bound on the padding; with it no window lies outside the input.
    const int64_t span = (pool.kernel[i] - 1) * pool.dilation[i] + 1;
    if (pool.kernel[i] < 1 || pool.stride[i] < 1 || pool.dilation[i] < 1 ||
        pool.pad[i] * 2 > span) {
      return node.error(ErrorCode::kInvalidProgram,
                        "a window of {}, stride {}, padding {}, dilation {} is not possible",
                        pool.kernel[i], pool.stride[i], pool.pad[i], pool.dilation[i]);
    }
  }
  return pool;
}

Status check_pool(const NodeView& node) {
  if (!is_float(node.tensor(0)->dtype) || !is_float(node.output_tensor().dtype)) {
    return node.error(ErrorCode::kNotSupported, "is not defined for {}",
                      name_of(node.tensor(0)->dtype));
  }
  const int spatial = kind_of(node).spatial;
  if (node.rank(0) != spatial + 1 && node.rank(0) != spatial + 2) {
    return node.error(ErrorCode::kNotSupported, "pools {}, which is not {}-D",
                      to_string(node.max_dims(0)), spatial);
  }
  for (ValueId out : node.node().outputs) {
    if (node.graph().tensor(out)->max_dims.rank() != node.rank(0)) {
      return node.error(ErrorCode::kInvalidProgram, "an output has another rank than the input");
    }
  }
  if (node.node().outputs.size() > 1 && node.output_tensor(1).dtype != DType::kInt32) {
    return node.error(ErrorCode::kNotSupported, "the indices are {}",
                      name_of(node.output_tensor(1).dtype));
  }
  ETWG_TRY(parse(node));
  return {};
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// PyTorch's rule: with ceil_mode the last window must start inside the input or its left padding.
int64_t pooled_size(const Pool& pool, size_t i, int64_t size) {
  if (pool.kind.adaptive) return pool.size[i];
  const int64_t room = size + 2 * pool.pad[i] - pool.dilation[i] * (pool.kernel[i] - 1) - 1;
  int64_t out = floor_div(room + (pool.ceil_mode ? pool.stride[i] - 1 : 0), pool.stride[i]) + 1;
  if (pool.ceil_mode && (out - 1) * pool.stride[i] >= size + pool.pad[i]) --out;
  return out;
}

Status infer_pool(const NodeView& node, LiveValues& live) {
  ETWG_ASSIGN(const Pool pool, parse(node));
  const Shape in = live.dims(node.id(0));
  Shape dims = in;
  const int spatial = pool.kind.spatial;
  for (int i = 0; i < spatial; ++i) {
    int64_t& size = dims[dims.rank() - 1 - i];
    size = in.last(i) < 1 ? 0 : pooled_size(pool, static_cast<size_t>(1 - i), in.last(i));
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
  const auto size = [&](std::string_view name, ValueId tensor, int from_last) {
    const bool present = from_last < pool.kind.spatial;
    kernel.param(name, [=](const LiveValues& live) {
      return present ? static_cast<uint32_t>(live.dims(tensor).last(from_last)) : 1;
    });
  };
  size("in_h", source, 1);
  size("in_w", source, 0);
  size("out_h", out, 1);
  size("out_w", out, 0);
  const auto pair = [&](std::string_view name, const std::array<int64_t, 2>& values) {
    kernel.constant(fmt::format("{}_H", name), static_cast<uint32_t>(values[0]));
    kernel.constant(fmt::format("{}_W", name), static_cast<uint32_t>(values[1]));
  };
  pair("KERNEL", pool.kernel);
  pair("STRIDE", pool.stride);
  pair("PAD", pool.pad);
  pair("DILATION", pool.dilation);
  emit_groups(kernel, out);
}

Status lower_pool(const NodeView& node, Lowering& lowering) {
  ETWG_ASSIGN(const Pool pool, parse(node));
  const bool average = pool.kind.average;
  const Capabilities& caps = lowering.capabilities();
  lowering.add([&](bool general) {
    KernelBuilder kernel(node.graph(), caps, average ? "avg_pool" : "max_pool", Lanes::k4, general);
    emit_pool(kernel, node, pool);
    if (average) {
      kernel.constant_bool("COUNT_PAD", pool.count_pad);
      kernel.code(fmt::format("const DIVISOR: i32 = {};\n", pool.divisor));
      kernel.module(pool.kind.adaptive ? "avg_pool_adaptive" : "avg_pool_window");
    } else {
      kernel.module("max_pool_window");
      kernel.code("fn element(e: u32) -> f32 {\n  return max_window(e).value;\n}\n");
    }
    emit_store(kernel, node);
    emit_by_element(kernel, /*as_float=*/true);
    return kernel.finish();
  });

  if (node.node().outputs.size() < 2 || !lowering.is_read(node.output(1))) return {};
  KernelBuilder indices(node.graph(), caps, "max_pool_indices", Lanes::k4, /*general=*/true);
  emit_pool(indices, node, pool);
  indices.module("max_pool_window");
  indices.output("out", node.output(1));
  indices.code(
      "fn compute(i: u32) {\n  let e = i * 4u;\n  out_put(i, I(U(max_window(e).index, "
      "max_window(e + 1u).index, max_window(e + 2u).index, max_window(e + 3u).index)));\n}\n");
  lowering.add(indices.finish());
  return {};
}

}  // namespace

std::span<const Op> pooling_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> rows;
    for (const Kind& kind : kKinds) {
      rows.push_back(compute_op(kind.name, kind.signature, check_pool, infer_pool, lower_pool));
    }
    return rows;
  }();
  return ops;
}

}  // namespace executorch::backends::webgpu
