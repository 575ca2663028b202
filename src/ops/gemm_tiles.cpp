// Which shape of kernel for which sizes: plain numbers, found by measuring
// (bench/bench_matmul.cpp).

#include "base/checked.h"
#include "ops/gemm.h"

namespace executorch::backends::webgpu {

uint64_t GemmTile::tiles(const GemmSizes& sizes) const {
  return sizes.batches * div_up(sizes.m, m) * div_up(sizes.n, n);
}

std::span<const GemmTile> gemm_tiles() {
  // Each takes 16 KiB of workgroup memory, what every device has.
  static constexpr GemmTile kTiles[] = {
      {"128x128", 128, 128, 16, 2, 2, 1, 200},
      {"64x64", 64, 64, 32, 2, 2, 4, 160},
      {"32x32", 32, 32, 64, 1, 1, 4, 0},
  };
  return kTiles;
}

std::span<const uint32_t> gemv_rows() {
  static constexpr uint32_t kRows[] = {1, 4, 8};
  return kRows;
}

uint32_t gemv_slices(const GemmSizes& sizes, uint32_t rows, bool b_k_contiguous) {
  // Enough invocations for the loads in flight that a large GPU's memory needs, but none without
  // work. The smallest numbers let neighbours read 512 contiguous bytes; the largest one lets them
  // read at least 32.
  const uint64_t enough = rows == 1 ? 131072 : 65536;
  const uint64_t quads = sizes.batches * div_up(sizes.n, 4);
  uint32_t slices = b_k_contiguous ? 32 : 8;
  const uint32_t most = b_k_contiguous ? 256 : 128;
  while (slices < most && quads * slices < enough && uint64_t{8} * slices <= sizes.k) slices *= 2;
  return slices;
}

}  // namespace executorch::backends::webgpu
