#include "ops/matmul.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ops/gemm.h"

namespace executorch::backends::webgpu {

namespace {

// Which argument is what; -1: there is none.
struct Row {
  std::string_view name, signature;
  size_t a, b;
  int bias, beta, alpha;
  bool b_transposed;  // stored as [n, k]
  int rank;           // of b, and of a but for linear's
};

constexpr Row kRows[] = {
    {"aten.addmm.default", "t t t n n -> t", 1, 2, 0, 3, 4, false, 2},
    {"aten.bmm.default", "t t -> t", 0, 1, -1, -1, -1, false, 3},
    {"aten.linear.default", "t t t? -> t", 0, 1, 2, -1, -1, true, 2},
    {"aten.mm.default", "t t -> t", 0, 1, -1, -1, -1, false, 2},
};

struct Product {
  std::optional<size_t> bias;
  size_t a, b;
  bool b_transposed;
  int rank;
  double alpha, beta;
};

Product product_of(const NodeView& node) {
  const Row& row = row_named(kRows, node.node().op);
  const auto number = [&](int arg) {
    return arg < 0 ? 1.0 : node.number_or(static_cast<size_t>(arg), 1);
  };
  Product p{std::nullopt,      row.a,           row.b, row.b_transposed, row.rank,
            number(row.alpha), number(row.beta)};
  const auto bias = static_cast<size_t>(std::max(row.bias, 0));
  // With beta 0 PyTorch ignores it, NaN and all.
  if (row.bias >= 0 && !node.is_null(bias) && p.beta != 0) p.bias = bias;
  return p;
}

GemmSizes sizes_of(const Shape& a, const Shape& b, bool b_transposed) {
  GemmSizes s;
  s.k = static_cast<uint64_t>(a.last(0));
  s.n = static_cast<uint64_t>(b.last(b_transposed ? 1 : 0));
  if (b.rank() == 3) {
    s.batches = static_cast<uint64_t>(a[0]);
    s.m = static_cast<uint64_t>(a[1]);
  } else {
    s.m = static_cast<uint64_t>(a.numel(0, a.rank() - 1));
  }
  return s;
}

// A bias broadcasts to [m, n].
bool broadcasts(const Shape& bias, uint64_t m, uint64_t n) {
  const auto fits = [](int64_t size, uint64_t to) {
    return size == 1 || static_cast<uint64_t>(size) == to;
  };
  return bias.rank() <= 2 && fits(bias.last(0), n) && fits(bias.last(1), m);
}

Status check_matmul(const NodeView& node) {
  const Product product = product_of(node);
  for (size_t arg = 0; arg < node.arg_count(); ++arg) {
    if (node.tensor(arg) != nullptr && !is_float(node.tensor(arg)->dtype)) {
      return node.error(ErrorCode::kNotSupported, "argument {} is {}, not a float type", arg,
                        name_of(node.tensor(arg)->dtype));
    }
  }
  if (!is_float(node.output_tensor().dtype)) {
    return node.error(ErrorCode::kNotSupported, "the output is {}, not a float type",
                      name_of(node.output_tensor().dtype));
  }
  const int a_rank = node.rank(product.a);
  const int b_rank = node.rank(product.b);
  const bool linear = product.b_transposed;
  if (b_rank != product.rank || (linear ? a_rank < 1 : a_rank != product.rank)) {
    return node.error(ErrorCode::kNotSupported, "multiplies {} and {}: {}",
                      to_string(node.max_dims(product.a)), to_string(node.max_dims(product.b)),
                      linear ? "the weight must have rank 2" : "both must have the same rank");
  }
  if (node.output_tensor().max_dims.rank() != a_rank) {
    return node.error(ErrorCode::kInvalidProgram, "the output has rank {}, expected {}",
                      node.output_tensor().max_dims.rank(), a_rank);
  }
  if (product.bias && node.rank(*product.bias) > (linear ? 1 : 2)) {
    return node.error(ErrorCode::kNotSupported, "the bias has rank {}", node.rank(*product.bias));
  }
  return {};
}

Status infer_matmul(const NodeView& node, LiveValues& live) {
  const Product product = product_of(node);
  const Shape& a = live.dims(node.id(product.a));
  const Shape& b = live.dims(node.id(product.b));
  const int64_t b_k = b.last(product.b_transposed ? 0 : 1);
  if (a.last(0) != b_k || (b.rank() == 3 && a[0] != b[0])) {
    return node.error(ErrorCode::kInvalidArgument, "cannot multiply {} and {}", to_string(a),
                      to_string(b));
  }
  const GemmSizes sizes = sizes_of(a, b, product.b_transposed);
  if (product.bias) {
    const Shape& bias = live.dims(node.id(*product.bias));
    if (!broadcasts(bias, sizes.m, sizes.n)) {
      return node.error(ErrorCode::kInvalidArgument, "the bias {} does not broadcast to [{}, {}]",
                        to_string(bias), sizes.m, sizes.n);
    }
  }
  Shape out = a;
  out[out.rank() - 1] = static_cast<int64_t>(sizes.n);
  live.set_dims(node.output(), out);
  return {};
}

// The function `finish`: alpha * value + beta * bias.
void emit_finish(KernelBuilder& kernel, const Product& product, ValueId bias, bool vector) {
  std::string value = "value";
  if (product.alpha != 1) {
    kernel.param_f32("alpha", static_cast<float>(product.alpha));
    value = "p.alpha * value";
  }
  std::string text = "fn finish(row: u32, n: u32, value: vec4<f32>) -> vec4<f32> {\n";
  if (bias != kNoValue) {
    kernel.input("bias", bias);
    // Strides of the broadcast bias: 0 along a dimension of size 1.
    const auto stride = [bias](int dim, const LiveValues& live) -> uint32_t {
      const Shape& dims = live.dims(bias);
      if (dims.last(dim) == 1) return 0;
      return dim == 0 ? 1 : static_cast<uint32_t>(dims.last(0));
    };
    kernel.param("bias_row", [stride](const LiveValues& live) { return stride(1, live); });
    std::string term = "bias4((row * p.bias_row + n) >> 2u)";
    if (!vector) {
      kernel.param("bias_column", [stride](const LiveValues& live) { return stride(0, live); });
      text += "  let i = row * p.bias_row + n * p.bias_column;\n";
      term =
          "vec4<f32>(bias1(i), bias1(i + p.bias_column), bias1(i + 2u * p.bias_column), "
          "bias1(i + 3u * p.bias_column))";
    }
    if (product.beta != 1) {
      kernel.param_f32("beta", static_cast<float>(product.beta));
      term = "p.beta * " + term;
    }
    value += " + " + term;
  }
  kernel.code(text + "  return " + value + ";\n}\n");
}

Status lower_matmul(const NodeView& node, Lowering& lowering) {
  const Product product = product_of(node);
  const ValueId a = node.id(product.a);
  const ValueId b = node.id(product.b);
  const ValueId bias = product.bias ? node.id(*product.bias) : kNoValue;

  Gemm gemm;
  gemm.sizes = [a, b, transposed = product.b_transposed](const LiveValues& live) {
    return sizes_of(live.dims(a), live.dims(b), transposed);
  };
  gemm.fixed_n = gemm.fixed_k = lowering.is_constant(b);
  gemm.a_module = "gemm_a";
  gemm.b_module = product.b_transposed ? "gemm_b_nk" : "gemm_b_kn";
  gemm.b_k_contiguous = product.b_transposed;
  gemm.operands = [&](KernelBuilder& kernel, GemmAlignment aligned) {
    kernel.input("a", a);
    kernel.input("b", b);
    emit_finish(kernel, product, bias, /*vector=*/aligned.n);
  };
  if (bias != kNoValue) {
    // Four elements of the bias are read at once where it is as wide as the output.
    const uint64_t n = gemm.sizes(lowering.maxima()).n;
    const bool always = gemm.fixed_n && lowering.is_constant(bias) &&
                        static_cast<uint64_t>(lowering.graph().tensor(bias)->max_dims.last(0)) == n;
    if (!always) {
      gemm.aligned_if = [bias, sizes = gemm.sizes](const LiveValues& live) {
        return static_cast<uint64_t>(live.dims(bias).last(0)) == sizes(live).n;
      };
    }
  }
  lower_gemm(node, lowering, gemm);
  return {};
}

}  // namespace

std::span<const Op> matmul_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> rows;
    for (const Row& row : kRows) {
      rows.push_back(compute_op(row.name, row.signature, check_matmul, infer_matmul, lower_matmul));
    }
    return rows;
  }();
  return ops;
}

}  // namespace executorch::backends::webgpu
