#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/load.h"
#include "program/program.h"
#include "session/host_array.h"

namespace executorch::backends::webgpu {

// One method of a program that consists of calls of this library's delegates and nothing else,
// ready to run without ExecuTorch. Values between delegates pass through host memory.
//
// A run is set_inputs(), then begin() and (when its completion has finished) finish() for each call
// in turn; run() does all of it. One thread at a time.
class Session {
 public:
  // Loads the delegates on the device that `options` name. Blocks. `program` must outlive the
  // session; the bytes of its file need not, because what the session needs of them has been
  // copied or sent to the GPU when this returns. kNotSupported, naming them, for CPU operators and
  // delegates of other backends.
  static Result<std::unique_ptr<Session>> load(const Program& program, std::string_view method,
                                               const LoadOptions& options = {});

  // The same in two steps for where nothing may block: create() starts the compilations, after
  // which the file's bytes are not needed; when compiled() has finished, finish_load().
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<Device> device,
                                                 const Program& program, std::string_view method,
                                                 const LoadOptions& options);
  Completion compiled() const;
  Status finish_load();

  const Method& method() const { return *method_; }
  // The calls of delegates in the order they run.
  size_t call_count() const { return calls_.size(); }
  const Executable& executable(size_t call) const { return *calls_[call].executable; }
  // GPU memory held by all delegates once loaded.
  uint64_t gpu_bytes() const;

  // Whether input `index` of the method can be this: kind, dtype, sizes. Does not look at the
  // elements, so that room for them can be made afterwards.
  Status check_input(size_t index, const HostInput& input) const;
  // Checks the number and each of them; errors name the index. What the tensors lend must stay
  // valid until the run has ended.
  Status set_inputs(std::span<const HostInput> inputs);
  Status begin(size_t call);
  Completion done(size_t call) const { return calls_[call].executable->done(); }
  Status finish(size_t call);

  Status run(std::span<const HostInput> inputs);

  // After a run: output `i` of the method, with its live sizes and the method's own dtype. Valid
  // until the next run.
  size_t output_count() const { return method_->outputs.size(); }
  Result<HostOutputValue> output(size_t i) const;

 private:
  struct Call {
    std::shared_ptr<Executable> executable;  // of its delegate; a delegate may be called repeatedly
    const std::vector<HostId>* args = nullptr;    // inputs, then outputs
    std::vector<HostInput> inputs;                // scratch of a run
    std::vector<Executable::HostOutput> outputs;  // likewise
  };
  // The current content of one of the method's values.
  struct Slot {
    HostArray array;           // a tensor that the session owns
    HostTensorView lent = {};  // a tensor that is an input of this run, when data is not null
    bool is_lent = false;
    int64_t integer = 0;
  };

  Session(const Program& program, const Method& method) : program_(&program), method_(&method) {}

  // Everything but the executables. `load_one` makes the executable of a delegate.
  using LoadOne = std::function<Result<std::unique_ptr<Executable>>(const Delegate&)>;
  static Result<std::unique_ptr<Session>> make(const Program& program, std::string_view name,
                                               const LoadOne& load_one);
  Status fill_slots();
  Status check_call(const Call& call, size_t index) const;
  // Whether this call is the first of its delegate.
  bool is_first(size_t call) const;
  Result<HostInput> call_input(const Call& call, size_t index) const;
  Result<Executable::HostOutput> call_output(const Call& call, size_t index);

  Slot& slot(HostId id) { return slots_[static_cast<size_t>(id)]; }
  const Slot& slot(HostId id) const { return slots_[static_cast<size_t>(id)]; }

  const Program* program_;
  const Method* method_;
  std::vector<Slot> slots_;  // by HostId
  std::vector<Call> calls_;
};

}  // namespace executorch::backends::webgpu
