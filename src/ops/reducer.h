#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernel_builder.h"

namespace executorch::backends::webgpu {

// A reduction as WGSL text. A is the type of the elements (f32 or i32), Out that of the result,
// State what is carried:
//   identity() -> State   lift(x: A, r: u32) -> State (element r)
//   combine(a: State, b: State) -> State   finish(s: State, count: u32) -> Out
// combine must be associative but for rounding; the order is the same in every run.
struct Reducer {
  // The fields of State, "n:f32 mean:f32"; "A" when State is one A; empty: there is no such
  // reduction.
  std::string_view fields;
  // Expressions of the functions' arguments.
  std::string_view identity, lift, combine, finish;
  // The State of four elements `x` (vec4<A>) from `r` on; empty: by lift and combine.
  std::string_view lift4 = "";
  std::string_view helpers = "";  // functions that the expressions call
};

// Name and type of each part of a State, the name of a lone A being empty.
std::vector<std::pair<std::string, std::string>> state_fields(const Reducer& reducer);

// Declares A, Out, State, and identity, lift, lift4, combine and finish.
void emit_reducer(KernelBuilder& kernel, const Reducer& reducer, bool float_input,
                  bool float_output);

// `fn reduce_workgroup(own: State, local: u32) -> State`: combines one State of every invocation;
// all get the result. By shuffles where the device has subgroups, else through workgroup memory.
void emit_workgroup_reduction(KernelBuilder& kernel, const Reducer& reducer);

// `fn write_rows(i, local)` for the bodies reduce_rows and reduce_serial: reduces the outputs of
// group or element i, and has invocation 0 hand them to the function `put`.
void emit_write_rows(KernelBuilder& kernel, std::string_view put);

// Of f32 elements: count (n), the mean (first + mean) and the sum of squared deviations from it
// (m2). Exact to a few ulp of the deviations however large the mean.
Reducer moments_reducer(std::string_view finish);

}  // namespace executorch::backends::webgpu
