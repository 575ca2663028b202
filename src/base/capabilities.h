#pragma once

#include <cstdint>

namespace executorch::backends::webgpu {

// What a WebGPU device offers, as plain numbers, so that a plan can be made and tested without a
// device. The defaults are the limits every WebGPU implementation guarantees and no optional
// feature; gpu/ fills the struct from the device it opened.
struct Capabilities {
  uint64_t max_storage_binding_size = 128ull << 20;  // bytes one storage binding can cover
  uint64_t max_buffer_size = 256ull << 20;           // bytes
  uint32_t max_uniform_binding_size = 64u << 10;     // bytes
  uint32_t max_storage_buffers_per_stage = 8;
  uint32_t max_invocations_per_workgroup = 256;
  uint32_t max_workgroup_size_x = 256;
  uint32_t max_workgroup_storage = 16u << 10;  // bytes of var<workgroup>
  uint32_t max_workgroups_per_dimension = 65535;
  uint32_t min_storage_offset_alignment = 256;  // bytes; offsets of bindings into a buffer
  uint32_t min_uniform_offset_alignment = 256;

  // The sizes a subgroup can have on this device; both 0 without the `subgroups` feature.
  uint32_t subgroup_min_size = 0;
  uint32_t subgroup_max_size = 0;

  // A processor plays the GPU: barriers are dear there, and so is compiling large kernels.
  bool processor = false;

  bool f16 = false;         // WGSL `enable f16;`
  bool subgroups = false;   // WGSL `enable subgroups;`
  bool timestamps = false;  // timestamp queries at the ends of a compute pass
  bool packed_dot = false;  // WGSL `requires packed_4x8_integer_dot_product;`
};

}  // namespace executorch::backends::webgpu
