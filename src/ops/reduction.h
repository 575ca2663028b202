#pragma once

#include <span>
#include <string>

#include "kernels/kernel_builder.h"
#include "ops/op.h"
#include "ops/reduction_table.h"

namespace executorch::backends::webgpu {

// Declares A, Out, State and the functions of a reducer.
void emit_reducer(KernelBuilder& kernel, const Reducer& reducer, bool float_input,
                  bool float_output);

// `fn write_rows(i, local)` for the bodies reduce_rows and reduce_serial: reduces the outputs of
// group or element i, and has invocation 0 hand them to the function `put`.
std::string write_rows(Lanes lanes, std::string_view put);

// sum, mean, amax, argmax ... over any dims.
std::span<const Op> reduction_ops();

}  // namespace executorch::backends::webgpu
