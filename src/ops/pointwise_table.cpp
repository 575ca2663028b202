#include "ops/pointwise_table.h"

#include <array>

namespace executorch::backends::webgpu {

namespace {

constexpr std::string_view kUnary = "t -> t";
constexpr std::string_view kBinary = "t t -> t";
constexpr std::string_view kScalar = "t n -> t";

// clang-format off
constexpr auto kRows = std::to_array<PointwiseRow>({
    // unary
    {"aten.abs.default", kUnary, "", "abs($0)", "abs($0)"},
    {"aten.acos.default", kUnary, "", "etwg_acos($0)", ""},
    {"aten.asin.default", kUnary, "", "etwg_asin($0)", ""},
    {"aten.atan.default", kUnary, "", "etwg_atan($0)", ""},
    {"aten.bitwise_not.default", kUnary, "", "", "~$0", false, "#(1) - $0"},
    {"aten.ceil.default", kUnary, "", "ceil($0)", "$0"},
    {"aten.cos.default", kUnary, "", "etwg_cos($0)", ""},
    {"aten.erf.default", kUnary, "", "etwg_erf($0)", ""},
    {"aten.exp.default", kUnary, "", "etwg_exp($0)", ""},
    {"aten.expm1.default", kUnary, "", "etwg_expm1($0)", ""},
    {"aten.floor.default", kUnary, "", "floor($0)", "$0"},
    {"aten.gelu.default", "t s -> t", "none", "etwg_gelu($0)", ""},
    {"aten.gelu.default", "t s -> t", "tanh", "etwg_gelu_tanh($0)", ""},
    {"aten.hardshrink.default", kScalar, "", "select($0, #(0), ($0 >= -$1) & ($0 <= $1))", ""},
    {"aten.hardsigmoid.default", kUnary, "", "etwg_min(etwg_max($0 / #(6) + #(0.5), #(0)), #(1))", ""},
    {"aten.hardswish.default", kUnary, "", "$0 * etwg_min(etwg_max($0 + #(3), #(0)), #(6)) / #(6)", ""},
    {"aten.hardtanh.default", "t n n -> t", "", "etwg_min(etwg_max($0, $1), $2)", "min(max($0, $1), $2)", false, "", true},
    {"aten.isinf.default", kUnary, "", "etwg_isinf($0)", "$0 != $0", true},
    {"aten.isnan.default", kUnary, "", "etwg_isnan($0)", "$0 != $0", true},
    {"aten.leaky_relu.default", kScalar, "", "select($0, $0 * $1, $0 < #(0))", ""},
    {"aten.log.default", kUnary, "", "etwg_log($0)", ""},
    {"aten.log10.default", kUnary, "", "etwg_log($0) * #(0.434294482)", ""},
    {"aten.log2.default", kUnary, "", "etwg_log($0) * #(1.44269504)", ""},
    {"aten.logical_not.default", kUnary, "", "$0 == #(0)", "$0 == #(0)", true},
    {"aten.neg.default", kUnary, "", "-$0", "-$0"},
    {"aten.reciprocal.default", kUnary, "", "#(1) / $0", ""},
    {"aten.relu.default", kUnary, "", "etwg_max($0, #(0))", "max($0, #(0))"},
    {"aten.relu6.default", kUnary, "", "etwg_min(etwg_max($0, #(0)), #(6))", ""},
    {"aten.round.default", kUnary, "", "round($0)", "$0"},
    {"aten.rsqrt.default", kUnary, "", "inverseSqrt($0)", ""},
    {"aten.sigmoid.default", kUnary, "", "etwg_sigmoid($0)", ""},
    {"aten.sign.default", kUnary, "", "#($0 > #(0)) - #($0 < #(0))", "sign($0)"},
    {"aten.silu.default", kUnary, "", "$0 * etwg_sigmoid($0)", ""},
    {"aten.sin.default", kUnary, "", "etwg_sin($0)", ""},
    {"aten.sqrt.default", kUnary, "", "sqrt($0)", ""},
    {"aten.square.default", kUnary, "", "$0 * $0", "$0 * $0"},
    {"aten.tan.default", kUnary, "", "etwg_sin($0) / etwg_cos($0)", ""},
    {"aten.tanh.default", kUnary, "", "etwg_tanh($0)", ""},
    {"aten.trunc.default", kUnary, "", "trunc($0)", "$0"},

    // casts: the conversion of the result does the work
    {"aten._to_copy.default", "t * * * * * * -> t", "", "$0", "$0"},
    {"dim_order_ops._to_dim_order_copy.default", "t * * * * * * -> t", "", "$0", "$0"},
    {"aten.copy.default", "t t * -> t", "", "$1", "$1"},

    // clamp
    {"aten.clamp.default", "t n? n? -> t", "xx", "etwg_min(etwg_max($0, $1), $2)", "min(max($0, $1), $2)", false, "", true},
    {"aten.clamp.default", "t n? n? -> t", "x-", "etwg_max($0, $1)", "max($0, $1)", false, "", true},
    {"aten.clamp.default", "t n? n? -> t", "-x", "etwg_min($0, $2)", "min($0, $2)", false, "", true},

    // binary
    {"aten.add.Tensor", "t t n -> t", "", "$0 + $2 * $1", "$0 + $2 * $1"},
    {"aten.add.Scalar", "t n n -> t", "", "$0 + $2 * $1", "$0 + $2 * $1"},
    {"aten.sub.Tensor", "t t n -> t", "", "$0 - $2 * $1", "$0 - $2 * $1"},
    {"aten.sub.Scalar", "t n n -> t", "", "$0 - $2 * $1", "$0 - $2 * $1"},
    {"aten.mul.Tensor", kBinary, "", "$0 * $1", "$0 * $1"},
    {"aten.mul.Scalar", kScalar, "", "$0 * $1", "$0 * $1"},
    {"aten.div.Tensor", kBinary, "", "$0 / $1", ""},
    {"aten.div.Scalar", kScalar, "", "$0 / $1", ""},
    {"aten.div.Tensor_mode", "t t s? -> t", "floor", "etwg_floor_div($0, $1)", "etwg_ifloor_div($0, $1)"},
    {"aten.div.Tensor_mode", "t t s? -> t", "trunc", "etwg_trunc_div($0, $1)", "$0 / $1"},
    {"aten.div.Tensor_mode", "t t s? -> t", "-", "$0 / $1", ""},
    {"aten.floor_divide.default", kBinary, "", "etwg_floor_div($0, $1)", "etwg_ifloor_div($0, $1)"},
    {"aten.remainder.Tensor", kBinary, "", "etwg_remainder($0, $1)", "etwg_iremainder($0, $1)"},
    {"aten.remainder.Scalar", kScalar, "", "etwg_remainder($0, $1)", "etwg_iremainder($0, $1)"},
    {"aten.minimum.default", kBinary, "", "etwg_min($0, $1)", "min($0, $1)"},
    {"aten.maximum.default", kBinary, "", "etwg_max($0, $1)", "max($0, $1)"},
    {"aten.pow.Tensor_Tensor", kBinary, "", "etwg_pow($0, $1)", "etwg_ipow($0, $1)"},
    {"aten.pow.Tensor_Scalar", kScalar, "", "etwg_pow($0, $1)", "etwg_ipow($0, $1)"},

    // comparisons and logic
    {"aten.eq.Tensor", kBinary, "", "$0 == $1", "$0 == $1", true},
    {"aten.ne.Tensor", kBinary, "", "!($0 == $1)", "$0 != $1", true},
    {"aten.lt.Tensor", kBinary, "", "$0 < $1", "$0 < $1", true},
    {"aten.le.Tensor", kBinary, "", "$0 <= $1", "$0 <= $1", true},
    {"aten.gt.Tensor", kBinary, "", "$0 > $1", "$0 > $1", true},
    {"aten.ge.Tensor", kBinary, "", "$0 >= $1", "$0 >= $1", true},
    {"aten.eq.Scalar", kScalar, "", "$0 == $1", "$0 == $1", true},
    {"aten.ne.Scalar", kScalar, "", "!($0 == $1)", "$0 != $1", true},
    {"aten.lt.Scalar", kScalar, "", "$0 < $1", "$0 < $1", true},
    {"aten.le.Scalar", kScalar, "", "$0 <= $1", "$0 <= $1", true},
    {"aten.gt.Scalar", kScalar, "", "$0 > $1", "$0 > $1", true},
    {"aten.ge.Scalar", kScalar, "", "$0 >= $1", "$0 >= $1", true},
    {"aten.bitwise_and.Tensor", kBinary, "", "", "$0 & $1"},
    {"aten.bitwise_or.Tensor", kBinary, "", "", "$0 | $1"},
    {"aten.bitwise_xor.Tensor", kBinary, "", "", "$0 ^ $1"},
    {"aten.logical_and.default", kBinary, "", "?0 & ?1", "?0 & ?1", true},
    {"aten.logical_or.default", kBinary, "", "?0 | ?1", "?0 | ?1", true},
    {"aten.logical_xor.default", kBinary, "", "?0 != ?1", "?0 != ?1", true},
    {"aten.where.self", "t t t -> t", "", "select($2, $1, ?0)", "select($2, $1, ?0)"},
});
// clang-format on

// What distinguishes the rows of one name for this node.
std::string variant_of(const NodeView& node, std::string_view signature) {
  std::string variant;
  size_t arg = 0;
  for (size_t i = 0; i < signature.find("->"); ++i) {
    if (signature[i] == ' ' || signature[i] == '?') continue;
    const bool optional = signature[i + 1] == '?';
    if (signature[i] == 's') return node.is_null(arg) ? "-" : node.string(arg);
    if (optional) variant += node.is_null(arg) ? '-' : 'x';
    ++arg;
  }
  return variant;
}

}  // namespace

std::span<const PointwiseRow> pointwise_rows() { return kRows; }

const PointwiseRow* find_row(const NodeView& node) {
  for (const PointwiseRow& row : kRows) {
    if (row.name == node.node().op && row.variant == variant_of(node, row.signature)) return &row;
  }
  return nullptr;
}

}  // namespace executorch::backends::webgpu
