#pragma once

#include <executorch/runtime/core/evalue.h>

#include "engine/executable.h"

namespace executorch::backends::webgpu {

// The element type of a host tensor; nullopt when this library has no such type.
std::optional<DType> to_dtype(runtime::etensor::ScalarType type);

// An argument of a delegate call as an input of the graph: `is_tensor` says what the graph takes.
// A one-element integer tensor may stand for an integer. Errors name argument `index`.
Result<HostInput> to_input(const runtime::EValue& value, bool is_tensor, size_t index);

// Gives an output argument its live sizes, and says where its elements go. An integer output is
// written at once.
Result<Executable::HostOutput> prepare_output(runtime::EValue& value, const Executable& executable,
                                              size_t output);

}  // namespace executorch::backends::webgpu
