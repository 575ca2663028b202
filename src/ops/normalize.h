#pragma once

#include <functional>
#include <string>

#include "ops/op.h"
#include "ops/reducer.h"

namespace executorch::backends::webgpu {

// Operators that reduce rows to statistics and rewrite every element with them: softmax,
// log_softmax, layer_norm, rms_norm, group_norm. A row is `length` elements that lie `inner` apart.
struct Normalization {
  std::string kernel;  // name for profiles
  ValueId source = kNoValue;
  LiveFn length;
  LiveFn inner;     // nullptr: 1, rows lie one after the other
  Reducer reducer;  // over f32; `finish` is not used
  // What becomes of an element: an expression of V `x`, `column` (its place in the row), `row` and
  // the row's State `s`, and of the functions that `operands` yield.
  std::string apply;

  // A further tensor: `<name>(column, row) -> V`, its element number being the expression `index`
  // of `column` and `row`.
  struct Operand {
    std::string name;
    ValueId value = kNoValue;
    std::string index;
    bool by_column = false;  // the number is the column: groups of columns are groups of elements
  };
  std::vector<Operand> operands;
  std::vector<std::pair<std::string, LiveFn>> params;
  std::vector<std::pair<std::string, float>> numbers;  // f32 params
};

// Adds the work that writes the node's first output, by layout and live sizes.
void add_normalization(const NodeView& node, Lowering& lowering, const Normalization& what);

// Adds the work that writes one number a row to `out`: `finish` of the reducer.
void add_row_statistic(const NodeView& node, Lowering& lowering, const Normalization& what,
                       ValueId out);

}  // namespace executorch::backends::webgpu
