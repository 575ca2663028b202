#include "session/session.h"

#include <fmt/ranges.h>

#include <cstring>

#include "base/checked.h"

namespace executorch::backends::webgpu {

namespace {

NamedReader named_reader(const Program& program) {
  return [&program](const std::string& key, const std::function<Status(Bytes)>& use) -> Status {
    const auto bytes = program.named(key);
    if (!bytes) {
      return fail(ErrorCode::kNotFound,
                  "constant {} is not in the program's data (is a .ptd file missing?)", key);
    }
    return use(*bytes);
  };
}

Status check_backend(const Delegate& delegate) {
  if (delegate.id == "VulkanBackend" || delegate.id == "WebGPUBackend") return {};
  return fail(ErrorCode::kNotSupported,
              "a delegate is for {}; only VulkanBackend and WebGPUBackend can be run here",
              delegate.id);
}

Status check_method(const Method& method) {
  for (const Delegate& delegate : method.delegates) ETWG_TRY(check_backend(delegate));
  if (!method.fully_delegated()) {
    return fail(ErrorCode::kNotSupported,
                "method {} needs ExecuTorch's CPU kernels for {}: only fully delegated programs "
                "can be run here",
                method.name, fmt::join(method.cpu_work(), ", "));
  }
  return {};
}

// Whether a tensor of the method can take these sizes, as ExecuTorch decides it.
bool can_take(const HostTensor& tensor, const Shape& dims) {
  if (dims.rank() != tensor.sizes.rank()) return false;
  switch (tensor.dynamism) {
    case Dynamism::kStatic:
      return dims == tensor.sizes;
    case Dynamism::kBounded:
      return dims.numel() <= tensor.sizes.numel();
    case Dynamism::kUnbounded:
      return true;
  }
  return false;
}

// False for a tensor that nothing has written yet.
bool is_written(const HostArray& array) {
  return array.data.size() == static_cast<size_t>(array.dims.numel()) * size_of(array.dtype);
}

bool holds_integer(const HostValue& value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<bool>(value);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::make(const Program& program, std::string_view name,
                                               const LoadOne& load_one) {
  const Method* method = program.method(name);
  if (method == nullptr) {
    std::vector<std::string_view> names;
    for (const Method& known : program.methods()) names.push_back(known.name);
    return fail(ErrorCode::kNotFound, "the program has no method {}; it has {}", name,
                fmt::join(names, ", "));
  }
  ETWG_TRY(check_method(*method));
  std::unique_ptr<Session> self(new Session(program, *method));
  ETWG_TRY(self->fill_slots());
  std::vector<std::shared_ptr<Executable>> executables(method->delegates.size());
  for (const Instruction& instruction : method->instructions) {
    const auto* call = std::get_if<DelegateCall>(&instruction);
    if (call == nullptr) continue;
    std::shared_ptr<Executable>& executable = executables[call->delegate];
    if (executable == nullptr) {
      auto loaded = load_one(method->delegates[call->delegate]);
      if (!loaded && method->delegates.size() > 1) {
        return context(fmt::format("delegate {}", call->delegate), loaded.error());
      }
      if (!loaded) return tl::unexpected<Error>(loaded.error());
      executable = std::move(*loaded);
    }
    self->calls_.push_back({executable, &call->args, {}, {}});
    ETWG_TRY(self->check_call(self->calls_.back(), self->calls_.size() - 1));
  }
  return self;
}

Result<std::unique_ptr<Session>> Session::load(const Program& program, std::string_view method,
                                               const LoadOptions& options) {
  return make(
      program, method, [&](const Delegate& delegate) -> Result<std::unique_ptr<Executable>> {
        ETWG_ASSIGN(std::shared_ptr<Device> device, Device::acquire(options.device));
        return load_payload(std::move(device), delegate.blob, named_reader(program), options);
      });
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<Device> device,
                                                 const Program& program, std::string_view method,
                                                 const LoadOptions& options) {
  return make(program, method, [&](const Delegate& delegate) {
    return create_payload(device, delegate.blob, named_reader(program), options);
  });
}

Completion Session::compiled() const {
  Completion all = Completion::done();
  for (const Call& call : calls_) {
    const Completion before = all, next = call.executable->compiled();
    all = Completion();
    before.on_done([all, next](const Status& first) {
      next.on_done([all, first](const Status& second) { all.finish(first ? second : first); });
    });
  }
  return all;
}

Status Session::finish_load() {
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (is_first(i)) ETWG_TRY(calls_[i].executable->finish_load());
  }
  return {};
}

bool Session::is_first(size_t call) const {
  for (size_t i = 0; i < call; ++i) {
    if (calls_[i].executable == calls_[call].executable) return false;
  }
  return true;
}

uint64_t Session::gpu_bytes() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (is_first(i)) bytes += calls_[i].executable->gpu_bytes();
  }
  return bytes;
}

// What the values hold before the first run: constants, initial states, fixed integers.
Status Session::fill_slots() {
  slots_.resize(method_->values.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    const HostValue& value = method_->values[i];
    if (const auto* integer = std::get_if<int64_t>(&value)) slots_[i].integer = *integer;
    if (const auto* boolean = std::get_if<bool>(&value)) slots_[i].integer = *boolean ? 1 : 0;
    const auto* tensor = std::get_if<HostTensor>(&value);
    if (tensor == nullptr || !tensor->dtype) continue;
    HostArray& array = slots_[i].array;
    array.dtype = *tensor->dtype;
    Bytes initial = tensor->data;
    if (!tensor->external_key.empty()) {
      const auto named = program_->named(tensor->external_key);
      if (!named) {
        return fail(ErrorCode::kNotFound,
                    "tensor {} is not in the program's data (is a .ptd file missing?)",
                    tensor->external_key);
      }
      initial = *named;
    }
    if (initial.empty()) continue;
    // Before room is made for them: a file may claim any sizes.
    const auto claimed =
        checked_mul(static_cast<uint64_t>(tensor->sizes.numel()), size_of(array.dtype));
    if (!claimed || *claimed > initial.size()) {
      return invalid("value {} of sizes {} is longer than the {} bytes that are stored", i,
                     to_string(tensor->sizes), initial.size());
    }
    array.resize(tensor->sizes);
    std::memcpy(array.data.data(), initial.data(), array.data.size());
  }
  return {};
}

Status Session::check_call(const Call& call, size_t index) const {
  const Graph& graph = call.executable->plan().graph;
  const size_t expected = graph.inputs.size() + graph.outputs.size();
  if (call.args->size() != expected) {
    return fail(ErrorCode::kInvalidProgram,
                "call {} has {} arguments, its delegate {} inputs and {} outputs. A graph that "
                "updates buffers must be exported with alias_buffer_mutations=True",
                index, call.args->size(), graph.inputs.size(), graph.outputs.size());
  }
  for (size_t i = 0; i < expected; ++i) {
    const HostValue& value = method_->value((*call.args)[i]);
    if (holds_integer(value)) continue;
    const auto* tensor = std::get_if<HostTensor>(&value);
    if (tensor == nullptr) {
      return fail(ErrorCode::kInvalidProgram,
                  "argument {} of call {} is neither a tensor nor an integer", i, index);
    }
    if (!tensor->dtype) {
      return fail(ErrorCode::kNotSupported,
                  "argument {} of call {} has an element type that is not supported", i, index);
    }
    if (!tensor->contiguous()) {
      return fail(ErrorCode::kNotSupported,
                  "argument {} of call {}: its memory is not row-major (channels last?)", i, index);
    }
  }
  return {};
}

Status Session::set_inputs(std::span<const HostInput> inputs) {
  if (inputs.size() != method_->inputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} inputs were passed, method {} takes {}",
                inputs.size(), method_->name, method_->inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    ETWG_TRY(check_input(i, inputs[i]));
    Slot& to = slot(method_->inputs[i]);
    if (const auto* integer = std::get_if<int64_t>(&inputs[i])) {
      to.integer = *integer;
    } else {
      to.lent = std::get<HostTensorView>(inputs[i]);
      to.is_lent = true;
    }
  }
  return {};
}

Status Session::check_input(size_t index, const HostInput& input) const {
  if (index >= method_->inputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "there is no input {}: method {} takes {}", index,
                method_->name, method_->inputs.size());
  }
  const HostId id = method_->inputs[index];
  const auto* view = std::get_if<HostTensorView>(&input);
  const HostTensor* tensor = method_->tensor(id);
  if (tensor == nullptr) {
    if (!holds_integer(method_->value(id))) {
      return fail(ErrorCode::kNotSupported, "input {} is neither a tensor nor an integer", index);
    }
    if (view != nullptr) {
      return fail(ErrorCode::kInvalidArgument, "input {} should be an integer but is a tensor",
                  index);
    }
    return {};
  }
  if (view == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "input {} should be a tensor but is an integer",
                index);
  }
  if (!tensor->dtype || view->dtype != *tensor->dtype) {
    return fail(ErrorCode::kInvalidArgument, "input {} has type {}, the program takes {}", index,
                name_of(view->dtype),
                tensor->dtype ? name_of(*tensor->dtype) : "one that is not supported");
  }
  if (!can_take(*tensor, view->dims)) {
    return fail(ErrorCode::kInvalidArgument, "input {} has sizes {}, the program takes {}{}", index,
                to_string(view->dims), tensor->dynamism == Dynamism::kStatic ? "" : "up to ",
                to_string(tensor->sizes));
  }
  return {};
}

Result<HostInput> Session::call_input(const Call& call, size_t index) const {
  const HostId id = (*call.args)[index];
  const Slot& from = slot(id);
  const Graph& graph = call.executable->plan().graph;
  const bool wants_tensor = graph.tensor(graph.inputs[index]) != nullptr;
  if (method_->tensor(id) == nullptr) {
    if (wants_tensor) {
      return fail(ErrorCode::kInvalidProgram,
                  "a delegate's input {} should be a tensor but is an integer", index);
    }
    return HostInput(from.integer);
  }
  if (!from.is_lent && !is_written(from.array)) {
    return fail(ErrorCode::kInvalidProgram, "value {} is read before it is written", id);
  }
  const HostTensorView view = from.is_lent ? from.lent : from.array.view();
  if (wants_tensor) return HostInput(view);
  if (view.dims.numel() != 1 || !can_convert(view.dtype, DType::kInt64)) {
    return fail(ErrorCode::kInvalidArgument, "a delegate's input {} should be an integer", index);
  }
  int64_t integer = 0;
  ETWG_TRY(convert_elements(view.data, view.dtype, &integer, DType::kInt64, 1));
  return HostInput(integer);
}

Result<Executable::HostOutput> Session::call_output(const Call& call, size_t index) {
  const Graph& graph = call.executable->plan().graph;
  const HostId id = (*call.args)[graph.inputs.size() + index];
  const HostTensor* tensor = method_->tensor(id);
  Slot& to = slot(id);
  to.is_lent = false;
  if (graph.tensor(graph.outputs[index]) == nullptr) {
    to.integer = call.executable->output_integer(index);
    if (tensor == nullptr) return Executable::HostOutput{};
    if (!can_convert(DType::kInt64, to.array.dtype) || tensor->sizes.numel() != 1) {
      return fail(ErrorCode::kInvalidProgram, "a delegate's output {} is an integer", index);
    }
    to.array.resize(tensor->sizes);
    ETWG_TRY(convert_elements(&to.integer, DType::kInt64, to.array.data.data(), to.array.dtype, 1));
    return Executable::HostOutput{};
  }
  if (tensor == nullptr) {
    return fail(ErrorCode::kInvalidProgram, "a delegate's output {} is a tensor", index);
  }
  const Shape& dims = call.executable->output_dims(index);
  if (!can_take(*tensor, dims)) {
    return fail(ErrorCode::kInvalidProgram,
                "a delegate's output {} has sizes {}, value {} takes {}", index, to_string(dims),
                id, to_string(tensor->sizes));
  }
  to.array.resize(dims);
  return Executable::HostOutput{to.array.data.data(), to.array.dtype};
}

Status Session::begin(size_t index) {
  Call& call = calls_[index];
  call.inputs.clear();
  for (size_t i = 0; i < call.executable->plan().graph.inputs.size(); ++i) {
    ETWG_ASSIGN(HostInput input, call_input(call, i));
    call.inputs.push_back(input);
  }
  return call.executable->begin(call.inputs);
}

Status Session::finish(size_t index) {
  Call& call = calls_[index];
  call.outputs.clear();
  for (size_t i = 0; i < call.executable->plan().graph.outputs.size(); ++i) {
    ETWG_ASSIGN(const Executable::HostOutput output, call_output(call, i));
    call.outputs.push_back(output);
  }
  return call.executable->finish(call.outputs);
}

Status Session::run(std::span<const HostInput> inputs) {
  ETWG_TRY(set_inputs(inputs));
  for (size_t i = 0; i < calls_.size(); ++i) {
    ETWG_TRY(begin(i));
    ETWG_TRY(finish(i));
  }
  return {};
}

Result<HostOutputValue> Session::output(size_t i) const {
  const HostId id = method_->outputs[i];
  const Slot& from = slot(id);
  if (method_->tensor(id) == nullptr) {
    if (holds_integer(method_->value(id))) return HostOutputValue(from.integer);
    return fail(ErrorCode::kNotSupported, "output {} is neither a tensor nor an integer", i);
  }
  if (!from.is_lent && !is_written(from.array)) {
    return fail(ErrorCode::kInvalidProgram, "output {} is never written", i);
  }
  if (!from.is_lent) return HostOutputValue(from.array);
  HostArray copy(from.lent.dtype, from.lent.dims);
  if (!copy.data.empty()) std::memcpy(copy.data.data(), from.lent.data, copy.data.size());
  return HostOutputValue(std::move(copy));
}

}  // namespace executorch::backends::webgpu
