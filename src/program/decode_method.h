#pragma once

#include <readers/program_generated.h>

#include <vector>

#include "base/flatbuffer.h"
#include "base/result.h"
#include "program/method.h"

namespace executorch::backends::webgpu {

using ProgramBuffer = FlatBuffer<executorch_flatbuffer::Program>;

// Decodes and checks one execution plan. `segments` are those of the program.
// The error's message says which value, instruction or delegate of the method is at fault.
Result<Method> decode_method(const executorch_flatbuffer::ExecutionPlan& plan,
                             const ProgramBuffer& program, const std::vector<Bytes>& segments);

}  // namespace executorch::backends::webgpu
