// The C functions that the JavaScript side of the web package calls. What takes time ends by
// calling Module.onRequestDone(request, handle, error) from the event loop or before the call
// returns.
//
// For now: programs that are one delegate and nothing else.

#include <emscripten/emscripten.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/load.h"
#include "program/program.h"

namespace executorch::backends::webgpu {
namespace {

EM_JS(void, etwg_js_request_done, (int request, int handle, const char* error),
      { Module.onRequestDone(request, handle, error ? UTF8ToString(error) : null); });

struct Output {
  Shape dims;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> data;
};

struct Model {
  std::unique_ptr<Executable> executable;
  // Which of the graph's inputs the caller's i-th is, and likewise for outputs.
  std::vector<size_t> input_order, output_order;
  std::vector<std::vector<std::byte>> input_data;  // by the graph's order, like all below
  std::vector<HostInput> inputs;
  std::vector<Output> outputs;
};

std::map<int, std::shared_ptr<Model>>& models() {
  static std::map<int, std::shared_ptr<Model>> all;
  return all;
}

std::shared_ptr<Model> find(int handle) {
  const auto found = models().find(handle);
  return found == models().end() ? nullptr : found->second;
}

void finish_request(int request, const Result<int>& result) {
  etwg_js_request_done(request, result ? *result : 0,
                       result ? nullptr : result.error().message.c_str());
}

// The delegate's arguments [first, first + ids.size()) in the order of the method's `ids`.
Result<std::vector<size_t>> order_of(const std::vector<HostId>& ids,
                                     const std::vector<HostId>& args, size_t first, size_t count,
                                     const char* what) {
  std::vector<size_t> order;
  const auto begin = args.begin() + static_cast<std::ptrdiff_t>(first);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto found = std::find(begin, begin + static_cast<std::ptrdiff_t>(count), ids[i]);
    if (found == begin + static_cast<std::ptrdiff_t>(count)) {
      return fail(ErrorCode::kNotSupported, "{} {} of the program does not concern its delegate",
                  what, i);
    }
    order.push_back(static_cast<size_t>(found - begin));
  }
  if (order.size() != count) {
    return fail(ErrorCode::kNotSupported, "the program has {} {}s, its delegate {}", order.size(),
                what, count);
  }
  return order;
}

// What loading holds until it is done; the file's bytes among it.
struct Loading {
  int request = 0;
  std::unique_ptr<std::byte, decltype(&std::free)> file{nullptr, &std::free};
  size_t size = 0;
  std::shared_ptr<Model> model = std::make_shared<Model>();

  Status create(std::shared_ptr<Device> device) {
    ETWG_ASSIGN(const Program program, Program::parse({file.get(), size}));
    const Method* method = program.method("forward");
    if (method == nullptr)
      return fail(ErrorCode::kNotFound, "the program has no method \"forward\"");
    if (!method->fully_delegated() || method->delegates.size() != 1) {
      return fail(
          ErrorCode::kNotSupported,
          "the program has {} delegates and {} kinds of work for a CPU runtime; one delegate and "
          "nothing else can be run here",
          method->delegates.size(), method->cpu_work().size());
    }
    const DelegateCall* call = nullptr;
    for (const Instruction& instruction : method->instructions) {
      if (const auto* found = std::get_if<DelegateCall>(&instruction)) call = found;
    }
    ETWG_ASSIGN(Payload payload, parse_payload(method->delegates[0].blob));
    const size_t inputs = payload.graph.inputs.size(), outputs = payload.graph.outputs.size();
    if (call == nullptr || call->args.size() != inputs + outputs) {
      return fail(ErrorCode::kInvalidProgram, "the call of the delegate does not fit its graph");
    }
    ETWG_ASSIGN(model->input_order, order_of(method->inputs, call->args, 0, inputs, "input"));
    ETWG_ASSIGN(model->output_order,
                order_of(method->outputs, call->args, inputs, outputs, "output"));
    model->outputs.resize(outputs);
    for (size_t i = 0; i < outputs; ++i) {
      const HostTensor* tensor = method->tensor(call->args[inputs + i]);
      if (tensor == nullptr) continue;
      if (!tensor->dtype)
        return fail(ErrorCode::kNotSupported, "output {} has an unknown dtype", i);
      model->outputs[i].dtype = *tensor->dtype;
    }
    model->input_data.resize(inputs);
    model->inputs.resize(inputs);
    ETWG_ASSIGN(Plan plan, make_plan(std::move(payload.graph), device->capabilities(), {}));
    const NamedReader named = [&program](const std::string& key,
                                         const std::function<Status(Bytes)>& use) -> Status {
      const auto bytes = program.named(key);
      if (!bytes)
        return fail(ErrorCode::kNotFound, "constant {} is not in the program's data", key);
      return use(*bytes);
    };
    ETWG_ASSIGN(model->executable, Executable::create(std::move(device), std::move(plan),
                                                      constant_reader(payload.raw, named), {}));
    return {};
  }
};

void finish_loading(Loading& loading, const Status& compiled) {
  Status status = compiled;
  if (status) status = loading.model->executable->finish_load();
  if (!status) return finish_request(loading.request, tl::unexpected<Error>(status.error()));
  static int last = 0;
  models().emplace(++last, loading.model);
  finish_request(loading.request, last);
}

// Dense row-major room for what output i of the graph is now.
Executable::HostOutput prepare(Model& model, size_t i) {
  const Executable& executable = *model.executable;
  Output& output = model.outputs[i];
  if (executable.plan().graph.tensor(executable.plan().graph.outputs[i]) == nullptr) {
    const int64_t value = executable.output_integer(i);
    output.dtype = DType::kInt64;
    output.dims = {};
    output.data.resize(sizeof value);
    std::memcpy(output.data.data(), &value, sizeof value);
    return {};
  }
  output.dims = executable.output_dims(i);
  output.data.resize(static_cast<size_t>(output.dims.numel()) * size_of(output.dtype));
  return {output.data.data(), output.dtype};
}

}  // namespace
}  // namespace executorch::backends::webgpu

using namespace executorch::backends::webgpu;  // NOLINT: what follows is the C side of this file

extern "C" {

// Loads a .pte file; takes over `file`, which malloc gave. The request ends with the model's
// handle.
EMSCRIPTEN_KEEPALIVE void etwg_load(int request, std::byte* file, size_t size) {
  auto loading = std::make_shared<Loading>();
  loading->request = request;
  loading->file.reset(file);
  loading->size = size;
  Device::acquire_async({}, [loading](Result<std::shared_ptr<Device>> device) {
    const Status created = device ? loading->create(std::move(*device))
                                  : Status(tl::unexpected<Error>(device.error()));
    loading->file.reset();  // the constants are on their way to the GPU
    if (!created) return finish_loading(*loading, created);
    loading->model->executable->compiled().on_done(
        [loading](const Status& compiled) { finish_loading(*loading, compiled); });
  });
}

EMSCRIPTEN_KEEPALIVE void etwg_unload(int handle) { models().erase(handle); }

// Room for the bytes of input i, a tensor of `rank` sizes and of an ETWG dtype (ir/dtype.h, by
// number): to be filled before the run. Null when there is no such input.
EMSCRIPTEN_KEEPALIVE void* etwg_input(int handle, int i, int dtype, int rank, const int32_t* dims) {
  const auto model = find(handle);
  if (model == nullptr || i < 0 || static_cast<size_t>(i) >= model->input_order.size())
    return nullptr;
  if (rank < 0 || rank > kMaxRank || dtype < 0 || dtype > static_cast<int>(DType::kFloat64))
    return nullptr;
  const size_t at = model->input_order[static_cast<size_t>(i)];
  HostTensorView view;
  view.dtype = static_cast<DType>(dtype);
  uint64_t bytes = size_of(view.dtype);
  for (int d = 0; d < rank; ++d) {
    const auto grown = checked_mul(bytes, static_cast<uint64_t>(dims[d]));
    if (dims[d] < 0 || !grown || *grown > SIZE_MAX / 2) return nullptr;
    bytes = *grown;
    view.dims.push_back(dims[d]);
  }
  model->input_data[at].resize(static_cast<size_t>(bytes));
  view.data = model->input_data[at].data();
  model->inputs[at] = view;
  return model->input_data[at].data();
}

// The request ends when the outputs are there.
EMSCRIPTEN_KEEPALIVE void etwg_run(int request, int handle) {
  const auto model = find(handle);
  if (model == nullptr) {
    return finish_request(request, fail(ErrorCode::kInvalidArgument, "no such model"));
  }
  if (const Status begun = model->executable->begin(model->inputs); !begun) {
    return finish_request(request, tl::unexpected<Error>(begun.error()));
  }
  model->executable->done().on_done([request, handle, model](const Status&) {
    std::vector<Executable::HostOutput> outputs;
    for (size_t i = 0; i < model->outputs.size(); ++i) outputs.push_back(prepare(*model, i));
    const Status finished = model->executable->finish(outputs);  // reports what went wrong, too
    finish_request(request,
                   finished ? Result<int>(handle) : tl::unexpected<Error>(finished.error()));
  });
}

EMSCRIPTEN_KEEPALIVE int etwg_output_count(int handle) {
  const auto model = find(handle);
  return model == nullptr ? 0 : static_cast<int>(model->output_order.size());
}

// Output i of the last run: writes {dtype, bytes, rank, sizes...} (11 numbers at most) and returns
// its bytes, which stay until the next run.
EMSCRIPTEN_KEEPALIVE const void* etwg_output(int handle, int i, int32_t* description) {
  const auto model = find(handle);
  if (model == nullptr || i < 0 || static_cast<size_t>(i) >= model->output_order.size())
    return nullptr;
  const Output& output = model->outputs[model->output_order[static_cast<size_t>(i)]];
  description[0] = static_cast<int32_t>(output.dtype);
  description[1] = static_cast<int32_t>(output.data.size());
  description[2] = output.dims.rank();
  for (int d = 0; d < output.dims.rank(); ++d)
    description[3 + d] = static_cast<int32_t>(output.dims[d]);
  return output.data.data();
}

}  // extern "C"
