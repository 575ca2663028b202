#pragma once

#include <string_view>

#include "base/result.h"
#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// Matches a node's arguments with a signature such as "t t n -> t". One letter an argument, in the
// order of the operator's schema; `?` after it admits Null:
//   t tensor   T list of tensors (an item may not be Null)   n fixed number (Int, Double, Bool)
//   i integer, fixed or symbolic   l integer list, fixed or symbolic (or one integer)
//   b boolean   s string   * anything
// After "->": one letter an output, t or T (any number of tensors), or i (a symbolic integer).
// The error names the operator, the argument and what was found.
Status match_signature(const NodeView& node, std::string_view signature);

}  // namespace executorch::backends::webgpu
