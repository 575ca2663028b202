#pragma once

#include "base/budget.h"
#include "program/decode_method.h"

namespace executorch::backends::webgpu {

// Decodes one value of a plan. Lists' ids are in range of `value_count` (-1 too in an optional
// tensor list); check_host_lists checks what they lead to.
Result<HostValue> decode_host_value(const executorch_flatbuffer::EValue* value,
                                    const ProgramBuffer& program,
                                    const std::vector<Bytes>& segments, size_t value_count,
                                    DecodeBudget& budget);

// Checks that integer lists lead to integers and tensor lists to tensors or Nones.
Status check_host_lists(const std::vector<HostValue>& values);

}  // namespace executorch::backends::webgpu
