#pragma once

#include <functional>
#include <memory>

#include "engine/executable.h"
#include "payload/payload.h"

namespace executorch::backends::webgpu {

struct LoadOptions {
  DeviceOptions device;
  PlanOptions plan;
  ExecutableOptions executable;
  // Called with the bytes of each constant once they have been read, which are not read again.
  std::function<void(Bytes)> done_with;
};

// The bytes of a constant that has a key; `use` as in ConstantReader.
using NamedReader =
    std::function<Status(const std::string& key, const std::function<Status(Bytes)>& use)>;

// Delegate bytes to a graph that is ready to run, on the process's shared device. `blob` is not
// needed afterwards. Blocks.
Result<std::unique_ptr<Executable>> load_payload(Bytes blob, const NamedReader& named,
                                                 const LoadOptions& options = {});

// The reader of a payload's constants: named ones through `named`, others from its raw region,
// which must stay valid while the reader is used. `done_with` may be empty, see LoadOptions.
ConstantReader constant_reader(Bytes raw, NamedReader named, std::function<void(Bytes)> done_with);

}  // namespace executorch::backends::webgpu
