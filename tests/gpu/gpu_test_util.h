#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "engine/executable.h"

namespace executorch::backends::webgpu {

// The graph, loaded on the shared test device; fails the test when that does not work. Constants
// are handed out by `constants`, if the graph has any.
inline std::unique_ptr<Executable> load_graph(Graph graph, const ConstantReader& constants = {},
                                              const DeviceOptions& device_options = {},
                                              const PlanOptions& plan_options = {}) {
  auto device = Device::acquire(device_options);
  if (!device) {
    ADD_FAILURE() << device.error().message;
    return nullptr;
  }
  auto plan = make_plan(std::move(graph), (*device)->capabilities(), plan_options);
  if (!plan) {
    ADD_FAILURE() << plan.error().message;
    return nullptr;
  }
  auto executable = Executable::load(*device, std::move(*plan), constants);
  if (!executable) {
    ADD_FAILURE() << executable.error().message;
    return nullptr;
  }
  return std::move(*executable);
}

}  // namespace executorch::backends::webgpu
