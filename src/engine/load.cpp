#include "engine/load.h"

namespace executorch::backends::webgpu {

ConstantReader constant_reader(Bytes raw, NamedReader named, std::function<void(Bytes)> done_with) {
  return [raw, named = std::move(named), done_with = std::move(done_with)](
             const Constant& constant, const std::function<Status(Bytes)>& consume) -> Status {
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

Result<std::unique_ptr<Executable>> load_payload(Bytes blob, const NamedReader& named,
                                                 const LoadOptions& options) {
  ETWG_ASSIGN(Payload payload, parse_payload(blob));
  ETWG_ASSIGN(std::shared_ptr<Device> device, Device::acquire(options.device));
  ETWG_ASSIGN(Plan plan, make_plan(std::move(payload.graph), device->capabilities(), options.plan));
  return Executable::load(std::move(device), std::move(plan),
                          constant_reader(payload.raw, named, options.done_with),
                          options.executable);
}

}  // namespace executorch::backends::webgpu
