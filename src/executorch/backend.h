#pragma once

#include <executorch/runtime/backend/interface.h>

namespace executorch::backends::webgpu {

// ExecuTorch's view of this library: a delegate handle is a loaded Executable. Options come from
// the environment: ETWEBGPU_ADAPTER (which GPU), ETWEBGPU_DISPATCHES_PER_SUBMIT (bounds one
// submit), WEBGPU_TIMESTAMP_QUERY=1 (profiling, in builds that have it).
class WebGPUBackend final : public runtime::BackendInterface {
 public:
  bool is_available() const override;
  runtime::Result<runtime::DelegateHandle*> init(
      runtime::BackendInitContext& context, runtime::FreeableBuffer* processed,
      runtime::ArrayRef<runtime::CompileSpec> compile_specs) const override;
  runtime::Error execute(runtime::BackendExecutionContext& context, runtime::DelegateHandle* handle,
                         runtime::Span<runtime::EValue*> args) const override;
  void destroy(runtime::DelegateHandle* handle) const override;
};

}  // namespace executorch::backends::webgpu
