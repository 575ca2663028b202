#include "engine/load.h"

namespace executorch::backends::webgpu {

namespace {

// The reader of a payload's constants: named ones through `named`, others from its raw region.
ConstantReader constant_reader(Bytes raw, const NamedReader& named,
                               const std::function<void(Bytes)>& done_with) {
  return [=](const Constant& constant, const std::function<Status(Bytes)>& consume) -> Status {
    const auto use = [&](Bytes bytes) {
      Status status = consume(bytes);
      if (done_with) done_with(bytes);
      return status;
    };
    if (!constant.key.empty()) return named(constant.key, use);
    const auto bytes = sub_bytes(raw, constant.offset, constant.nbytes);
    if (!bytes) {
      return fail(ErrorCode::kInvalidProgram, "a constant lies outside of the payload's data");
    }
    return use(*bytes);
  };
}

// `make` is Executable::load or Executable::create.
Result<std::unique_ptr<Executable>> make_executable(decltype(Executable::load)& make,
                                                    std::shared_ptr<Device> device, Bytes blob,
                                                    const NamedReader& named,
                                                    const LoadOptions& options) {
  ETWG_ASSIGN(Payload payload, parse_payload(blob));
  ETWG_ASSIGN(Plan plan, make_plan(std::move(payload.graph), device->capabilities(), options.plan));
  return make(std::move(device), std::move(plan),
              constant_reader(payload.raw, named, options.done_with), options.executable);
}

}  // namespace

Result<std::unique_ptr<Executable>> load_payload(std::shared_ptr<Device> device, Bytes blob,
                                                 const NamedReader& named,
                                                 const LoadOptions& options) {
  return make_executable(Executable::load, std::move(device), blob, named, options);
}

Result<std::unique_ptr<Executable>> create_payload(std::shared_ptr<Device> device, Bytes blob,
                                                   const NamedReader& named,
                                                   const LoadOptions& options) {
  return make_executable(Executable::create, std::move(device), blob, named, options);
}

}  // namespace executorch::backends::webgpu
