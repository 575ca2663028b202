#pragma once

#include <memory>

#include "engine/executable.h"
#include "payload/payload.h"

namespace executorch::backends::webgpu {

struct LoadOptions {
  DeviceOptions device;
  PlanOptions plan;
  ExecutableOptions executable;
};

// The bytes of a constant that has a key; `use` as in ConstantReader.
using NamedReader =
    std::function<Status(const std::string& key, const std::function<Status(Bytes)>& use)>;

// Delegate bytes to a graph that is ready to run, on the process's shared device. `blob` is not
// needed afterwards. Blocks.
Result<std::unique_ptr<Executable>> load_payload(Bytes blob, const NamedReader& named,
                                                 const LoadOptions& options = {});

// The reader of a payload's constants: named ones through `named`, others from its raw region,
// which must stay valid while the reader is used.
ConstantReader constant_reader(Bytes raw, NamedReader named);

}  // namespace executorch::backends::webgpu
