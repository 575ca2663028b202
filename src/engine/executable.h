#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/host_value.h"
#include "engine/profile.h"
#include "engine/resources.h"
#include "engine/schedule.h"
#include "gpu/api.h"
#include "gpu/timestamps.h"
#include "gpu/transfer.h"

namespace executorch::backends::webgpu {

struct ExecutableOptions {
  // Bounds the dispatches of one submit, so that a long run does not hold the GPU (0: one submit).
  uint32_t dispatches_per_submit = 0;
  // Measures every dispatch; needs a build with profiling and a device with timestamps.
  bool profile = false;
  // Waits for a kernel that new sizes need for the first time. Else, as where nothing may block, a
  // run makes do with the kernel for all sizes until the better one is compiled.
  bool waits = ETWG_CAN_BLOCK;
};

// A graph loaded on a device. A run is begin(), then (when done() has finished) finish(); run()
// does all three. begin to finish is one thread's; use one Executable a thread, or a lock of your
// own.
class Executable {
 public:
  // Makes buffers, uploads the constants, compiles, and runs what the load stage runs. Blocks.
  static Result<std::unique_ptr<Executable>> load(std::shared_ptr<Device> device, Plan plan,
                                                  const ConstantReader& constants,
                                                  const ExecutableOptions& options = {});

  // The same in two steps for where nothing may block: create() starts the compilations;
  // when compiled() has finished, finish_load().
  static Result<std::unique_ptr<Executable>> create(std::shared_ptr<Device> device, Plan plan,
                                                    const ConstantReader& constants,
                                                    const ExecutableOptions& options);
  Completion compiled() const;
  Status finish_load();

  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const Plan& plan() const { return plan_; }
  Device& device() const { return *device_; }

  // Starts a run: checks the inputs against the graph's, computes live sizes, uploads, submits.
  // The inputs have been read when it returns.
  Status begin(std::span<const HostInput> inputs);
  // Live sizes of an output tensor, and the value of an integer output, once a run has begun.
  const Shape& output_dims(size_t i) const { return live_.dims(plan_.graph.outputs[i]); }
  int64_t output_integer(size_t i) const { return live_.integer(plan_.graph.outputs[i]); }
  // Finishes when the outputs can be read.
  Completion done() const { return done_; }
  // Copies output tensor i (dense, live sizes) to outputs[i].data, converting to its dtype. Entries
  // with null data are skipped, as are integer outputs. Ends the run, also when it fails. Reports
  // the errors that the GPU met meanwhile; the outputs are then not valid.
  struct HostOutput {
    void* data = nullptr;
    DType dtype = DType::kFloat32;
  };
  Status finish(std::span<const HostOutput> outputs);

  // begin, wait, finish.
  Status run(std::span<const HostInput> inputs, std::span<const HostOutput> outputs);

  // Dispatches of the current live sizes.
  size_t dispatch_count() const { return schedule_->ready().size(); }
  // Host time that the last begin() took to record and submit, without the inputs' copies.
  uint64_t record_ns() const { return record_ns_; }
  // GPU memory held once loaded, with that of the transfers.
  uint64_t gpu_bytes() const;
  // The measurements of the last run, empty unless ExecutableOptions::profile.
  const Profile& profile() const { return profile_; }

 private:
  Executable(std::shared_ptr<Device> device, Plan plan, const ExecutableOptions& options);

  Status set_sizes(std::span<const HostInput> inputs);
  void upload_params();
  Status stage_inputs(std::span<const HostInput> inputs);
  Status record_and_submit();
  Status copy_outputs(std::span<const HostOutput> outputs);
  Status collect_profile();
  void abandon();

  std::shared_ptr<Device> device_;
  Plan plan_;
  ExecutableOptions options_;
  Resources resources_;
  std::unique_ptr<Schedule> load_schedule_;  // until finish_load
  std::unique_ptr<Schedule> schedule_;
  LiveValues live_;
  bool sizes_known_ = false;
  std::vector<std::byte> params_;  // host copy of the uniform arena

  struct Transfer {
    ValueId value;
    uint64_t staging_offset;  // at the maximum sizes
    uint64_t bytes;           // live, rounded up to 4
  };
  std::vector<Transfer> inputs_, outputs_;  // tensors that reach the GPU
  std::optional<StagingRing> staging_;
  std::optional<Readback> readback_;
  std::optional<Timestamps> timestamps_;
  Profile profile_;

  uint64_t record_ns_ = 0;
  bool running_ = false;
  uint64_t errors_before_ = 0;
  Completion done_ = Completion::done();
  Completion timestamps_done_ = Completion::done();
};

}  // namespace executorch::backends::webgpu
