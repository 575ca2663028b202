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

// Delegate bytes to a graph that is ready to run on the device (`options.device` has no say here).
// `blob` and what `named` reads are not needed afterwards. Blocks.
Result<std::unique_ptr<Executable>> load_payload(std::shared_ptr<Device> device, Bytes blob,
                                                 const NamedReader& named,
                                                 const LoadOptions& options);

// The same where nothing may block: what is left to do is as after Executable::create.
Result<std::unique_ptr<Executable>> create_payload(std::shared_ptr<Device> device, Bytes blob,
                                                   const NamedReader& named,
                                                   const LoadOptions& options);

}  // namespace executorch::backends::webgpu
