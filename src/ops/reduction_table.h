#pragma once

#include <span>
#include <string_view>

namespace executorch::backends::webgpu {

// A reduction as WGSL text. A is the type of the elements (f32 or i32), State what is carried, and
//   identity() -> State   lift(x: A, r: u32) -> State (element r)
//   combine(a: State, b: State) -> State   finish(s: State, count: u32) -> Out
struct Reducer {
  std::string_view state;     // the definition of State: "alias State = A;" or a struct
  std::string_view identity;  // expressions of the functions' arguments from here on
  std::string_view lift;
  std::string_view combine;
  std::string_view finish;
};

struct ReductionRow {
  std::string_view name;
  std::string_view signature;
  int dim_arg;                  // index of the dims argument, -1 when all dims are reduced
  int keepdim_arg;              // -1: the dims go
  Reducer for_float, for_int;   // an empty state: does not exist for the type
  bool needs_elements = false;  // refuses to reduce nothing
};

std::span<const ReductionRow> reduction_rows();
const ReductionRow* find_reduction(std::string_view name);

}  // namespace executorch::backends::webgpu
