#include "engine/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/checked.h"

namespace executorch::backends::webgpu {

namespace {

// Whether live sizes may differ from the maxima for all that the graph shows.
bool has_symbols(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(),
                     [](const Value& v) { return std::holds_alternative<SymInt>(v); });
}

uint64_t live_bytes(const Graph& graph, const LiveValues& live, ValueId id) {
  return static_cast<uint64_t>(live.numel(id)) * size_of(graph.tensor(id)->dtype);
}

uint64_t bytes_touched(const Graph& graph, const LiveValues& live, const Dispatch& dispatch) {
  uint64_t bytes = 0;
  for (const Binding& binding : dispatch.bindings) bytes += live_bytes(graph, live, binding.value);
  return bytes;
}

}  // namespace

Executable::Executable(std::shared_ptr<Device> device, Plan plan, const ExecutableOptions& options)
    : device_(std::move(device)), plan_(std::move(plan)), options_(options), live_(plan_.graph) {}

Executable::~Executable() { abandon(); }

Result<std::unique_ptr<Executable>> Executable::load(std::shared_ptr<Device> device, Plan plan,
                                                     const ConstantReader& constants,
                                                     const ExecutableOptions& options) {
  ETWG_ASSIGN(auto executable, create(std::move(device), std::move(plan), constants, options));
  const LiveValues live(executable->plan_.graph);
  ETWG_TRY(executable->load_schedule_->wait_compiled(live));
  ETWG_TRY(executable->schedule_->wait_compiled(live));
  if (!options.waits) ETWG_TRY(executable->compiled().wait());
  ETWG_TRY(executable->finish_load());
  return executable;
}

Result<std::unique_ptr<Executable>> Executable::create(std::shared_ptr<Device> device, Plan plan,
                                                       const ConstantReader& constants,
                                                       const ExecutableOptions& options) {
  ETWG_TRY(device->health());
  std::unique_ptr<Executable> self(new Executable(std::move(device), std::move(plan), options));
  Device& gpu = *self->device_;
  const Plan& p = self->plan_;
  self->errors_before_ = gpu.error_count();
  if (options.profile) {
#if ETWG_PROFILING
    ETWG_ASSIGN(Timestamps made, Timestamps::create(gpu, static_cast<uint32_t>(p.steps.size())));
    self->timestamps_.emplace(std::move(made));
#else
    return fail(
        ErrorCode::kNotSupported,
        "this build has no profiling: configure with -DEXECUTORCH_BUILD_WEBGPU_PROFILING=ON");
#endif
  }
  ETWG_ASSIGN(self->resources_, Resources::create(gpu, p));
  // Compile while the constants travel.
  self->load_schedule_ =
      std::make_unique<Schedule>(gpu, self->resources_, p, p.once, options.waits);
  self->schedule_ = std::make_unique<Schedule>(gpu, self->resources_, p, p.steps, options.waits);
  ETWG_TRY(self->load_schedule_->request_pipelines(self->live_, false));
  ETWG_TRY(self->schedule_->request_pipelines(self->live_, has_symbols(p.graph)));
  ETWG_TRY(self->resources_.upload_constants(gpu, p, constants));

  uint64_t staging = 0, readback = 0;
  const auto plan_transfers = [&](const std::vector<ValueId>& ids, std::vector<Transfer>& transfers,
                                  uint64_t& total) {
    for (ValueId id : ids) {
      if (p.graph.tensor(id) == nullptr || p.places[static_cast<size_t>(id)].buffer == kNoBuffer)
        continue;
      transfers.push_back({id, total, 0});
      total += p.places[static_cast<size_t>(id)].size;
    }
  };
  plan_transfers(p.graph.inputs, self->inputs_, staging);
  plan_transfers(p.graph.outputs, self->outputs_, readback);
  if (staging > 0) self->staging_.emplace(gpu, staging, "inputs");
  if (readback > 0) {
    ETWG_ASSIGN(Readback made, Readback::create(gpu, readback, "outputs"));
    self->readback_.emplace(std::move(made));
  }
  self->params_.resize(static_cast<size_t>(p.params_size));
  return self;
}

Completion Executable::compiled() const {
  const LiveValues live(plan_.graph);
  Completion both;
  const Completion second = schedule_->compiled(live);
  load_schedule_->compiled(live).on_done([both, second](const Status& first) {
    second.on_done([both, first](const Status& status) { both.finish(first ? status : first); });
  });
  return both;
}

Status Executable::finish_load() {
  ETWG_TRY(load_schedule_->select(live_, params_));
  upload_params();
  if (!load_schedule_->ready().empty()) {
    ETWG_ASSIGN(CommandStream stream, CommandStream::begin(*device_, "load"));
    for (const ReadyDispatch& d : load_schedule_->ready()) {
      stream.dispatch(d.pipeline, d.bind_group, d.x, d.y, 1);
    }
    ETWG_TRY(stream.submit());
  }
  resources_.release_load_only(plan_);
  load_schedule_.reset();
  return device_->error_since(errors_before_);
}

void Executable::upload_params() {
  if (!params_.empty()) resources_.params().write(*device_, params_);
}

// Takes over the inputs' live sizes; nothing else is done when they are those of the last run.
Status Executable::set_sizes(std::span<const HostInput> inputs) {
  const Graph& graph = plan_.graph;
  if (inputs.size() != graph.inputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} inputs were passed, the program takes {}",
                inputs.size(), graph.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    const Tensor* tensor = graph.tensor(id);
    if (tensor == nullptr) {
      const auto* integer = std::get_if<int64_t>(&inputs[i]);
      if (integer == nullptr) {
        return fail(ErrorCode::kInvalidArgument, "input {} should be an integer but is a tensor",
                    i);
      }
      sizes_known_ = sizes_known_ && live_.integer(id) == *integer;
      live_.set_integer(id, *integer);
      continue;
    }
    const auto* view = std::get_if<HostTensorView>(&inputs[i]);
    if (view == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "input {} should be a tensor but is an integer", i);
    }
    if (!can_convert(view->dtype, tensor->dtype)) {
      return fail(ErrorCode::kInvalidArgument, "input {} has type {}, the program takes {}", i,
                  name_of(view->dtype), name_of(tensor->dtype));
    }
    bool fits = view->dims.rank() == tensor->max_dims.rank();
    for (int d = 0; fits && d < view->dims.rank(); ++d) {
      fits = view->dims[d] >= 0 && view->dims[d] <= tensor->max_dims[d];
    }
    if (!fits) {
      return fail(ErrorCode::kInvalidArgument, "input {} has sizes {}, the program takes up to {}",
                  i, to_string(view->dims), to_string(tensor->max_dims));
    }
    sizes_known_ = sizes_known_ && live_.dims(id) == view->dims;
    live_.set_dims(id, view->dims);
  }
  if (sizes_known_ && schedule_->settled()) return {};
  ETWG_TRY(infer_shapes(plan_, live_));
  ETWG_TRY(schedule_->select(live_, params_));
  upload_params();
  for (auto* transfers : {&inputs_, &outputs_}) {
    for (Transfer& t : *transfers) t.bytes = round_up(live_bytes(plan_.graph, live_, t.value), 4);
  }
  sizes_known_ = true;
  return {};
}

Status Executable::stage_inputs(std::span<const HostInput> inputs) {
  if (!staging_) return {};
  ETWG_ASSIGN(const std::span<std::byte> staging, staging_->acquire());
  size_t next = 0;
  for (size_t i = 0; i < inputs.size() && next < inputs_.size(); ++i) {
    const Transfer& transfer = inputs_[next];
    if (plan_.graph.inputs[i] != transfer.value) continue;
    ++next;
    const auto& view = std::get<HostTensorView>(inputs[i]);
    const Status converted =
        convert_elements(view.data, view.dtype, staging.data() + transfer.staging_offset,
                         plan_.graph.tensor(transfer.value)->dtype, view.dims.numel());
    if (!converted) return context(fmt::format("input {}", i), converted.error());
  }
  return {};
}

uint64_t Executable::gpu_bytes() const {
  uint64_t bytes = plan_.params_size + (readback_ ? readback_->size() : 0);
  for (const BufferKind kind :
       {BufferKind::kActivation, BufferKind::kPersistent, BufferKind::kConstant}) {
    bytes += plan_.bytes(kind);
  }
  for (const Transfer& t : inputs_) bytes += plan_.places[static_cast<size_t>(t.value)].size;
  return bytes;
}

Status Executable::record_and_submit() {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<ReadyDispatch>& ready = schedule_->ready();
  Timestamps* timestamps = timestamps_ ? &*timestamps_ : nullptr;
  if (timestamps != nullptr) timestamps->reset();
  const WGPUBuffer staged = staging_ ? staging_->seal() : nullptr;
  const size_t chunk = options_.dispatches_per_submit > 0 ? options_.dispatches_per_submit
                                                          : std::max<size_t>(ready.size(), 1);
  size_t next = 0;
  do {
    ETWG_ASSIGN(CommandStream stream, CommandStream::begin(*device_, "run", timestamps));
    if (next == 0) {
      for (const Transfer& t : inputs_) {
        const Place& place = plan_.places[static_cast<size_t>(t.value)];
        if (t.bytes > 0)
          stream.copy(staged, t.staging_offset, resources_.buffer(place), place.offset, t.bytes);
      }
    }
    const size_t end = std::min(ready.size(), next + chunk);
    for (; next < end; ++next) {
      const ReadyDispatch& d = ready[next];
      stream.dispatch(d.pipeline, d.bind_group, d.x, d.y, 1);
    }
    if (next == ready.size()) {
      for (const Transfer& t : outputs_) {
        const Place& place = plan_.places[static_cast<size_t>(t.value)];
        if (t.bytes > 0)
          stream.copy(resources_.buffer(place), place.offset, readback_->buffer(), t.staging_offset,
                      t.bytes);
      }
    }
    ETWG_TRY(stream.submit());
  } while (next < ready.size());
  record_ns_ = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count());
  if (staging_) staging_->recycle();
  timestamps_done_ = timestamps != nullptr ? timestamps->map() : Completion::done();
  done_ = readback_ ? readback_->map(readback_->size()) : device_->queue_done();
  return {};
}

Status Executable::begin(std::span<const HostInput> inputs) {
  if (running_) abandon();
  ETWG_TRY(device_->health());
  errors_before_ = device_->error_count();
  ETWG_TRY(set_sizes(inputs));
  if (Status staged = stage_inputs(inputs); !staged) {
    if (staging_) {
      staging_->seal();
      staging_->recycle();
    }
    return staged;
  }
  if (Status submitted = record_and_submit(); !submitted) {
    if (staging_) staging_->recycle();
    ETWG_TRY(device_->error_since(errors_before_));
    return submitted;
  }
  running_ = true;
  return {};
}

Status Executable::finish(std::span<const HostOutput> outputs) {
  if (!running_) return fail(ErrorCode::kInvalidArgument, "finish() without begin()");
  Status status = done_.wait();
  if (Status errors = device_->error_since(errors_before_); !errors) status = errors;
  if (status && readback_) status = copy_outputs(outputs);
  if (status && timestamps_) status = collect_profile();
  abandon();
  return status;
}

Status Executable::copy_outputs(std::span<const HostOutput> outputs) {
  ETWG_ASSIGN(const std::span<const std::byte> bytes, readback_->data());
  const size_t count = std::min(outputs.size(), plan_.graph.outputs.size());
  size_t next = 0;
  for (size_t i = 0; i < count && next < outputs_.size(); ++i) {
    const Transfer& transfer = outputs_[next];
    if (plan_.graph.outputs[i] != transfer.value) continue;
    ++next;
    if (outputs[i].data == nullptr) continue;
    const Status converted = convert_elements(
        bytes.data() + transfer.staging_offset, plan_.graph.tensor(transfer.value)->dtype,
        outputs[i].data, outputs[i].dtype, live_.numel(transfer.value));
    if (!converted) return context(fmt::format("output {}", i), converted.error());
  }
  return {};
}

Status Executable::collect_profile() {
  ETWG_TRY(timestamps_done_.wait());
  ETWG_ASSIGN(const std::vector<Timestamps::Span> spans, timestamps_->read());
  profile_.clear();
  size_t next = 0;
  for (const ReadyDispatch& ready : schedule_->ready()) {
    if (next == spans.size()) break;
    const Dispatch& dispatch = *ready.dispatch;
    const Timestamps::Span& span = spans[next++];
    profile_.push_back({dispatch.op, dispatch.kernel, dispatch.debug_id, span.begin_ns, span.end_ns,
                        bytes_touched(plan_.graph, live_, dispatch),
                        dispatch.flops ? dispatch.flops(live_) : 0});
  }
  return {};
}

// Ends a run whatever its state; its outputs are gone.
void Executable::abandon() {
  if (!running_) return;
  running_ = false;
  if (readback_) readback_->unmap();
  if (timestamps_) timestamps_->reset();
}

Status Executable::run(std::span<const HostInput> inputs, std::span<const HostOutput> outputs) {
  ETWG_TRY(begin(inputs));
  return finish(outputs);
}

}  // namespace executorch::backends::webgpu
