#pragma once

#include <span>
#include <string_view>

#include "ops/reducer.h"

namespace executorch::backends::webgpu {

struct ReductionRow {
  std::string_view name;
  std::string_view signature;
  int dim_arg;      // index of the dims argument, -1 when all dims are reduced
  int keepdim_arg;  // -1: the dims go
  Reducer for_float, for_int;
  // Refuses to reduce nothing.
  bool needs_elements = false;
  // Computes in the type of the output; an integer output needs integer elements.
  bool arithmetic = false;
  bool empty_is_none = false;  // an empty list of dims reduces nothing, rather than all
  int correction_arg = -1;     // the number p.correction of `finish`; 1 when absent
  // max.dim, min.dim: the second output.
  Reducer index_for_float = {}, index_for_int = {};
};

std::span<const ReductionRow> reduction_rows();
const ReductionRow* find_reduction(std::string_view name);

}  // namespace executorch::backends::webgpu
