// Reference counts and labels: the same for every kind of object. Like natively, releasing an
// object frees what its owner no longer can reach, but JavaScript gives GPU memory back when it
// collects garbage: destroy a buffer to have it back at once.

#include "shim.h"

using etwg_shim::id;
using etwg_shim::Text;

#define ETWG_REFERENCES(Type)                                                 \
  void wgpu##Type##AddRef(WGPU##Type object) { etwg_js_add_ref(id(object)); } \
  void wgpu##Type##Release(WGPU##Type object) { etwg_js_release(id(object)); }

#define ETWG_LABEL(Type)                                              \
  void wgpu##Type##SetLabel(WGPU##Type object, WGPUStringView text) { \
    const Text label(text);                                           \
    etwg_js_set_label(id(object), label.data, label.length);          \
  }

extern "C" {

ETWG_REFERENCES(Adapter)
ETWG_REFERENCES(Device)
ETWG_REFERENCES(Queue)
ETWG_REFERENCES(ShaderModule)
ETWG_REFERENCES(BindGroupLayout)
ETWG_REFERENCES(PipelineLayout)
ETWG_REFERENCES(ComputePipeline)
ETWG_REFERENCES(BindGroup)
ETWG_REFERENCES(QuerySet)
ETWG_REFERENCES(CommandEncoder)
ETWG_REFERENCES(ComputePassEncoder)
ETWG_REFERENCES(CommandBuffer)

ETWG_LABEL(Device)
ETWG_LABEL(Queue)
ETWG_LABEL(Buffer)
ETWG_LABEL(ShaderModule)
ETWG_LABEL(BindGroupLayout)
ETWG_LABEL(PipelineLayout)
ETWG_LABEL(ComputePipeline)
ETWG_LABEL(BindGroup)
ETWG_LABEL(QuerySet)
ETWG_LABEL(CommandEncoder)
ETWG_LABEL(ComputePassEncoder)
ETWG_LABEL(CommandBuffer)

void wgpuBufferAddRef(WGPUBuffer buffer) { etwg_js_add_ref(id(buffer)); }

void wgpuBufferRelease(WGPUBuffer buffer) {
  if (etwg_js_release(id(buffer)) == 0) etwg_shim::forget_mapping(id(buffer));
}

}  // extern "C"
