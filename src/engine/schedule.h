#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/resources.h"
#include "gpu/command_stream.h"

namespace executorch::backends::webgpu {

// A dispatch that is ready to be recorded.
struct ReadyDispatch {
  WGPUComputePipeline pipeline = nullptr;
  WGPUBindGroup bind_group = nullptr;
  uint32_t x = 0, y = 0;  // workgroups; neither is 0
  const Dispatch* dispatch = nullptr;
};

// Turns planned steps into ready dispatches for given live sizes. Pipelines and bind groups are
// made once; which variant of a step runs, its grid and its params are chosen again when sizes
// change.
class Schedule {
 public:
  // The arguments are borrowed: each must outlive the schedule.
  Schedule(Device& device, const Resources& resources, const Plan& plan,
           const std::vector<PlannedStep>& steps, bool waits);

  // Starts compiling the variants that `live` selects (and, with `all` or where select() does not
  // wait, the others behind them).
  Status request_pipelines(const LiveValues& live, bool all);
  // Waits until the pipelines requested for `live` are compiled.
  Status wait_compiled(const LiveValues& live) const;
  // The same where nothing may block; also the variants for all sizes.
  Completion compiled(const LiveValues& live) const;

  // Fills `params` (the host copy of the arena) and ready() for live sizes. Waits for a variant
  // that is needed for the first time, or takes the one for all sizes meanwhile.
  Status select(const LiveValues& live, std::vector<std::byte>& params);
  // False while a better variant was not ready: select() again, even for the same sizes.
  bool settled() const { return settled_; }
  const std::vector<ReadyDispatch>& ready() const { return ready_; }

 private:
  struct Slot {
    std::shared_ptr<Pipeline> pipeline;
    Handle<WGPUBindGroup> bind_group;
  };
  static size_t variant_for(const PlannedStep& step, const LiveValues& live);
  size_t ready_variant(size_t step, const LiveValues& live);
  Status request(size_t step, size_t variant);
  Status prepare(size_t step, size_t variant);

  Device& device_;
  const Resources& resources_;
  const Plan& plan_;
  const std::vector<PlannedStep>& steps_;
  bool waits_;
  bool settled_ = true;
  std::vector<std::vector<Slot>> slots_;  // by step, by variant
  std::vector<ReadyDispatch> ready_;
};

// Splits a linear number of workgroups into the x and y of a dispatch; nullopt when even two
// dimensions do not suffice. x * y may exceed the count: kernels check bounds.
std::optional<std::pair<uint32_t, uint32_t>> fold_workgroups(uint64_t count, uint32_t max_per_dim);

}  // namespace executorch::backends::webgpu
