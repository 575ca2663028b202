#include "engine/resources.h"

#include <algorithm>

#include "gpu/transfer.h"

namespace executorch::backends::webgpu {

Result<Resources> Resources::create(Device& device, const Plan& plan) {
  Resources out;
  constexpr WGPUBufferUsage kStorage =
      WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  for (const BufferPlan& buffer : plan.buffers) {
    ETWG_ASSIGN(Buffer made, Buffer::create(device, buffer.size, kStorage, buffer.label));
    out.buffers_.push_back(std::move(made));
  }
  if (plan.params_size > 0) {
    ETWG_ASSIGN(out.params_,
                Buffer::create(device, plan.params_size,
                               WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, "params"));
  }
  return out;
}

Status Resources::upload_constants(Device& device, const Plan& plan, const ConstantReader& reader) {
  Uploader uploader(device);
  for (const ConstantPlan& planned : plan.constants) {
    const Constant& constant = plan.graph.constants[planned.constant];
    ETWG_TRY(reader(constant, [&](Bytes bytes) -> Status {
      if (bytes.size() < constant.nbytes) {
        return fail(ErrorCode::kInvalidProgram, "constant {} has {} bytes, the graph needs {}",
                    constant.key, bytes.size(), constant.nbytes);
      }
      return uploader.write(buffers_[planned.place.buffer], planned.place.offset,
                            bytes.first(static_cast<size_t>(constant.nbytes)));
    }));
  }
  return uploader.flush();
}

void Resources::release_load_only(const Plan& plan) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].kind == BufferKind::kLoadOnly) buffers_[i] = Buffer();
  }
}

}  // namespace executorch::backends::webgpu
