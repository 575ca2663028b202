#pragma once

#include <memory>

#include "engine/executable.h"

namespace executorch::backends::webgpu::cli {

// What the device reached, with this library's own kernels, at the time it was measured.
struct Ceilings {
  double bytes_per_second = 0;  // a pointwise operator over a tensor larger than any cache
  double flops_per_second = 0;  // a product of square float32 matrices
};

// Runs two small graphs on a device with timestamps. Smaller ones where the CPU plays the GPU.
Result<Ceilings> measure_ceilings(const std::shared_ptr<Device>& device);

}  // namespace executorch::backends::webgpu::cli
