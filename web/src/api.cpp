// The C functions that the JavaScript side of the web package calls.
//
// etwg_load and etwg_run take time. They are requests with a number that the caller chooses, and
// end by calling Module.onRequestDone(request, handle, error) from the event loop or before the
// call returns; `error` is null or a message. The other functions answer at once; null means no,
// and etwg_error() says why. JavaScript sees a pointer beyond 2 GiB as a negative number:
// `pointer >>> 0`.

#include <emscripten/emscripten.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/devices_json.h"
#include "session/session.h"

namespace executorch::backends::webgpu {
namespace {

EM_JS(void, etwg_js_request_done, (int request, int handle, const char* error),
      { Module.onRequestDone(request, handle, error ? UTF8ToString(error) : null); });

void finish_request(int request, const Result<int>& result) {
  etwg_js_request_done(request, result ? *result : 0,
                       result ? nullptr : result.error().message.c_str());
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
// What malloc gave: null when there is no memory, where `new` would end the module.
using Memory = std::unique_ptr<std::byte, Free>;

struct Input {
  Memory room;
  size_t capacity = 0;
  std::optional<HostTensorView> view;  // of the room, once it was asked for
};

struct Model {
  Program program;  // what the session refers to; the file it views is gone once that is created
  std::unique_ptr<Session> session;
  std::string description;
  std::vector<Input> inputs;
  std::vector<HostOutputValue> outputs;  // of the last run; none unless it went well
  bool running = false;
};

std::map<int, std::shared_ptr<Model>>& models() {
  static std::map<int, std::shared_ptr<Model>> all;
  return all;
}

Result<std::shared_ptr<Model>> find(int handle) {
  const auto found = models().find(handle);
  if (found == models().end())
    return fail(ErrorCode::kInvalidArgument, "there is no model {}", handle);
  return found->second;
}

std::string& last_error() {
  static std::string message;
  return message;
}

std::nullptr_t refuse(const Error& error) {
  last_error() = error.message;
  return nullptr;
}

// As JSON. Integers are described as what they are passed as.
std::string describe(const HostValue& value) {
  const auto* tensor = std::get_if<HostTensor>(&value);
  if (tensor == nullptr) {
    const bool is_integer =
        std::holds_alternative<int64_t>(value) || std::holds_alternative<bool>(value);
    return fmt::format(R"({{"dtype": {}, "dims": [], "dynamism": "static"}})",
                       is_integer ? R"("int64")" : "null");
  }
  static constexpr const char* kDynamisms[] = {"static", "bounded", "unbounded"};
  return fmt::format(R"({{"dtype": {}, "dims": {}, "dynamism": "{}"}})",
                     tensor->dtype ? fmt::format("\"{}\"", name_of(*tensor->dtype)) : "null",
                     to_string(tensor->sizes), kDynamisms[static_cast<size_t>(tensor->dynamism)]);
}

std::string describe(const Session& session, const Device& device) {
  const auto list = [&](const std::vector<HostId>& ids) {
    std::vector<std::string> items;
    for (HostId id : ids) items.push_back(describe(session.method().value(id)));
    return fmt::format("[{}]", fmt::join(items, ", "));
  };
  return fmt::format(R"({{"inputs": {}, "outputs": {}, "gpu_bytes": {}, "device": {}}})",
                     list(session.method().inputs), list(session.method().outputs),
                     session.gpu_bytes(), device_json(device.adapter()));
}

// Calls back with the shared device. Loads that begin before there is one get the same.
using DeviceCallback = std::function<void(const Result<std::shared_ptr<Device>>&)>;
void with_device(DeviceCallback callback) {
  static std::vector<DeviceCallback> waiting;
  waiting.push_back(std::move(callback));
  if (waiting.size() > 1) return;
  Device::acquire_async({}, [](const Result<std::shared_ptr<Device>>& device) {
    for (const DeviceCallback& each : std::exchange(waiting, {})) each(device);
  });
}

// What loading holds until it is done.
struct Loading {
  int request = 0;
  std::string method;
  Memory file;
  size_t size = 0;
  std::shared_ptr<Device> device;
  std::shared_ptr<Model> model = std::make_shared<Model>();

  Status create() {
    ETWG_ASSIGN(model->program, Program::parse({file.get(), size}));
    ETWG_ASSIGN(model->session, Session::create(device, model->program, method, {}));
    return {};
  }

  void finish(const Status& compiled) {
    const Status status = compiled ? model->session->finish_load() : compiled;
    if (!status) return finish_request(request, tl::unexpected<Error>(status.error()));
    model->inputs.resize(model->session->method().inputs.size());
    model->description = describe(*model->session, *device);
    static int last = 0;
    models().emplace(++last, std::move(model));
    finish_request(request, last);
  }
};

// An integer of the method is passed as an int64 tensor without dimensions. Without data it has
// any value.
HostInput as_input(const Method& method, size_t i, const HostTensorView& view) {
  const bool is_tensor = i >= method.inputs.size() || method.tensor(method.inputs[i]) != nullptr;
  if (is_tensor || view.dtype != DType::kInt64 || view.dims.rank() != 0) return view;
  int64_t integer = 0;
  if (view.data != nullptr) std::memcpy(&integer, view.data, sizeof integer);
  return integer;
}

Result<std::byte*> make_room(Model& model, size_t i, int dtype, std::span<const int32_t> dims) {
  if (model.running) {
    return fail(ErrorCode::kInvalidArgument, "input {} cannot change while the model runs", i);
  }
  // Whatever goes wrong below: the next run must not take what an earlier one had.
  if (i < model.inputs.size()) model.inputs[i].view.reset();
  if (dtype < 0 || dtype > static_cast<int>(DType::kFloat64))
    return fail(ErrorCode::kInvalidArgument, "input {} has the unknown dtype {}", i, dtype);
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    return fail(ErrorCode::kInvalidArgument, "input {} has {} dimensions, at most {} can be", i,
                dims.size(), kMaxRank);
  }
  HostTensorView view;
  view.dtype = static_cast<DType>(dtype);
  for (int32_t size : dims) view.dims.push_back(size);
  const bool negative =
      std::any_of(dims.begin(), dims.end(), [](int32_t size) { return size < 0; });
  if (negative || !bounded_numel(view.dims, SIZE_MAX / size_of(view.dtype))) {
    return fail(ErrorCode::kInvalidArgument, "input {} cannot have sizes {}", i,
                to_string(view.dims));
  }
  const Method& method = model.session->method();
  ETWG_TRY(model.session->check_input(i, as_input(method, i, view)));

  Input& input = model.inputs[i];
  const size_t bytes = static_cast<size_t>(view.dims.numel()) * size_of(view.dtype);
  if (input.room == nullptr || input.capacity < bytes) {
    input.room.reset();  // first, so that both need not fit
    input.room.reset(static_cast<std::byte*>(std::malloc(std::max<size_t>(bytes, 1))));
    input.capacity = bytes;
    if (input.room == nullptr)
      return fail(ErrorCode::kOutOfMemory, "there is no memory for the {} bytes of input {}", bytes,
                  i);
  }
  view.data = input.room.get();
  input.view = view;
  return input.room.get();
}

Status set_inputs(Model& model) {
  std::vector<HostInput> inputs;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (!model.inputs[i].view)
      return fail(ErrorCode::kInvalidArgument, "input {} was not given", i);
    inputs.push_back(as_input(model.session->method(), i, *model.inputs[i].view));
  }
  return model.session->set_inputs(inputs);
}

Status copy_outputs(Model& model) {
  std::vector<HostOutputValue> outputs;
  for (size_t i = 0; i < model.session->output_count(); ++i) {
    ETWG_ASSIGN(HostOutputValue output, model.session->output(i));
    outputs.push_back(std::move(output));
  }
  model.outputs = std::move(outputs);
  return {};
}

// A run, which keeps its model alive when that is unloaded meanwhile.
struct Run {
  int request = 0;
  int handle = 0;
  std::shared_ptr<Model> model;

  void end(const Status& status) const {
    model->running = false;
    finish_request(request, status ? Result<int>(handle) : tl::unexpected<Error>(status.error()));
  }

  // Begins call `index` of a delegate, and the next when it is finished.
  void go_on(size_t index) const {
    Session& session = *model->session;
    if (index == session.call_count()) return end(copy_outputs(*model));
    if (const Status begun = session.begin(index); !begun) return end(begun);
    session.done(index).on_done([run = *this, index](const Status&) {
      Status status = run.model->session->finish(index);  // says what went wrong, too
      if (status && !find(run.handle)) {
        status = fail(ErrorCode::kInvalidArgument, "the model was unloaded while it ran");
      }
      if (!status) return run.end(status);
      run.go_on(index + 1);
    });
  }
};

}  // namespace
}  // namespace executorch::backends::webgpu

using namespace executorch::backends::webgpu;  // NOLINT: what follows is the C side of this file

extern "C" {

// Loads a method of a .pte file for the GPU: "forward" when `method` is null. Takes over `file`,
// which malloc gave, and frees it as soon as its constants are on their way to the GPU. The request
// ends with the model's handle.
EMSCRIPTEN_KEEPALIVE void etwg_load(int request, std::byte* file, size_t size, const char* method) {
  auto loading = std::make_shared<Loading>();
  loading->request = request;
  loading->method = method == nullptr ? "forward" : method;
  loading->file.reset(file);
  loading->size = size;
  if (file == nullptr) {
    return finish_request(request, fail(ErrorCode::kOutOfMemory,
                                        "there is no memory for the {} bytes of the file", size));
  }
  with_device([loading](const Result<std::shared_ptr<Device>>& device) {
    if (device) loading->device = *device;
    const Status created =
        device ? loading->create() : Status(tl::unexpected<Error>(device.error()));
    loading->file.reset();
    if (!created) return loading->finish(created);
    loading->model->session->compiled().on_done(
        [loading](const Status& compiled) { loading->finish(compiled); });
  });
}

// Also while the model runs; that run then ends with an error.
EMSCRIPTEN_KEEPALIVE void etwg_unload(int handle) { models().erase(handle); }

// What the last function that answered null had to say.
EMSCRIPTEN_KEEPALIVE const char* etwg_error() { return last_error().c_str(); }

// The model as JSON: {"inputs", "outputs": [{"dtype", "dims", "dynamism"}], "gpu_bytes", "device"}.
// The dims are the largest unless the dynamism is "static"; a dtype of null is one that cannot be
// passed. Stays until the model is unloaded.
EMSCRIPTEN_KEEPALIVE const char* etwg_describe(int handle) {
  const auto model = find(handle);
  return model ? (*model)->description.c_str() : refuse(model.error());
}

// Room for the bytes of input i, a tensor of `rank` sizes and of an ETWG dtype (ir/dtype.h, by
// number), to be filled before the run. Its content serves later runs, too. Null when the method
// does not take such a tensor; its input is then missing until another is accepted.
EMSCRIPTEN_KEEPALIVE void* etwg_input(int handle, size_t i, int dtype, size_t rank,
                                      const int32_t* dims) {
  const auto model = find(handle);
  if (!model) return refuse(model.error());
  const auto room = make_room(**model, i, dtype, {dims, rank});
  return room ? *room : refuse(room.error());
}

// Runs the model; one run at a time. The request ends when the outputs are there.
EMSCRIPTEN_KEEPALIVE void etwg_run(int request, int handle) {
  const auto found = find(handle);
  if (!found) return finish_request(request, tl::unexpected<Error>(found.error()));
  const Run run = {request, handle, *found};
  if (run.model->running) {
    return finish_request(request,
                          fail(ErrorCode::kInvalidArgument, "model {} is running already", handle));
  }
  run.model->outputs.clear();
  run.model->running = true;
  if (const Status set = set_inputs(*run.model); !set) return run.end(set);
  run.go_on(0);
}

// Output i of the last run: writes {dtype, bytes, rank, sizes...} (11 numbers at most) and returns
// its bytes, which stay until the next run. An integer is an int64 tensor without dimensions. Null
// when there is no such output or the last run failed.
EMSCRIPTEN_KEEPALIVE const void* etwg_output(int handle, size_t i, int32_t* description) {
  const auto model = find(handle);
  if (!model) return refuse(model.error());
  const auto& outputs = (*model)->outputs;
  if (i >= outputs.size()) {
    return refuse({ErrorCode::kInvalidArgument,
                   fmt::format("there is no output {}: the last run gave {}", i, outputs.size())});
  }
  HostTensorView view = {std::get_if<int64_t>(&outputs[i]), DType::kInt64, {}};
  if (const auto* array = std::get_if<HostArray>(&outputs[i])) view = array->view();
  description[0] = static_cast<int32_t>(view.dtype);
  description[1] =
      static_cast<int32_t>(view.dims.numel() * static_cast<int64_t>(size_of(view.dtype)));
  description[2] = view.dims.rank();
  for (int d = 0; d < view.dims.rank(); ++d) {
    description[3 + d] = static_cast<int32_t>(view.dims[d]);
  }
  return view.data != nullptr ? view.data : "";  // an empty tensor has no bytes, but is there
}

}  // extern "C"
