#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace executorch::backends::webgpu {

// A pointwise operator as a WGSL expression over V (f32 lanes) or I (i32 lanes), chosen by whether
// anything float takes part. In the text,
//   $k  argument k as the type computed with    ?k  argument k as a condition (not equal to zero)
// A float is compared with == and negated, never with !=, which is false for NaN in WGSL's output.
//   #   the name of that type, for literals: #(0)
// An empty text: the operator does not exist for that type.
struct PointwiseRow {
  std::string_view name;
  std::string_view signature;
  // Rows with the same name differ by variant: the value of the string argument (a rounding mode or
  // approximation), or for nullable numbers one letter each, "x" given or "-" absent.
  std::string_view variant;
  std::string_view float_text;
  std::string_view int_text;
  bool condition = false;           // the text yields a bool
  std::string_view bool_text = "";  // instead of int_text for bool operands, which are 0 or 1
  bool clamps = false;              // numbers are bounds: beyond int32 they bound no integer

  // The conversion of an argument to the output's type does all the work.
  bool is_cast() const { return float_text.size() == 2 && float_text[0] == '$'; }
};

std::span<const PointwiseRow> pointwise_rows();

// The row for a node of a pointwise operator; nullptr when its variant is unknown.
const PointwiseRow* find_row(const NodeView& node);

}  // namespace executorch::backends::webgpu
