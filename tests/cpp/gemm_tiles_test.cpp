// What gemm.wgsl and gemv.wgsl require of the shapes they are specialised for.
#include <gtest/gtest.h>

#include "base/capabilities.h"
#include "ops/gemm.h"

namespace executorch::backends::webgpu {
namespace {

TEST(GemmTiles, FitTheKernelAndEveryDevice) {
  const Capabilities least;
  for (const GemmTile& tile : gemm_tiles()) {
    SCOPED_TRACE(tile.name);
    const uint32_t a_quads = tile.m / 4, b_quads = tile.n / 4;
    const uint32_t threads_m = a_quads / tile.thread_m, threads_n = b_quads / tile.thread_n;
    EXPECT_EQ(a_quads % 8, 0u);
    EXPECT_EQ(b_quads % 8, 0u);
    EXPECT_EQ(threads_m % 4, 0u);
    EXPECT_EQ(threads_n % 8, 0u);
    EXPECT_EQ(threads_m * threads_n * tile.split_k, tile.workgroup_size());
    EXPECT_EQ(tile.k % (4 * tile.split_k), 0u);
    EXPECT_LE((a_quads + b_quads) * tile.k / 4, tile.workgroup_size());
    if (tile.split_k > 1) {
      EXPECT_GE(a_quads * tile.k, 2 * tile.split_k * threads_m * threads_n);
    }
    EXPECT_LE(tile.workgroup_size(), least.max_invocations_per_workgroup);
    EXPECT_LE((tile.m + tile.n) * tile.k * sizeof(float), least.max_workgroup_storage);
  }
  EXPECT_EQ(gemm_tiles().back().enough, 0u);  // the last serves all sizes
}

TEST(GemmTiles, CountsPartialTiles) {
  const GemmTile& tile = gemm_tiles().back();
  const auto tiles = [&](uint64_t batches, uint64_t m, uint64_t n) {
    return tile.tiles({.batches = batches, .m = m, .n = n, .k = 1});
  };
  EXPECT_EQ(tiles(1, tile.m, tile.n), 1u);
  EXPECT_EQ(tiles(3, tile.m + 1, 2 * tile.n + 1), 18u);
  EXPECT_EQ(tiles(1, 0, 5), 0u);
  EXPECT_EQ(tiles(0, 5, 5), 0u);
}

TEST(GemvSlices, DivideTheWorkgroup) {
  for (const uint32_t rows : gemv_rows()) {
    for (const bool k_contiguous : {false, true}) {
      for (const uint64_t n : {0, 1, 4, 100, 4096, 1 << 20}) {
        for (const uint64_t k : {0, 1, 64, 8192}) {
          const uint32_t slices =
              gemv_slices({.batches = 1, .m = rows, .n = n, .k = k}, rows, k_contiguous);
          EXPECT_GE(slices, 1u);
          EXPECT_EQ(kGemvWorkgroup % slices, 0u) << n << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace executorch::backends::webgpu
