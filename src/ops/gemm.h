#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/kernel_builder.h"
#include "ops/lowering.h"
#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// C[b] = A[b] * B[b]: A is m x k, B is k x n.
struct GemmSizes {
  uint64_t batches = 1, m = 0, n = 0, k = 0;
};

// What one kernel may assume of the live sizes.
struct GemmAlignment {
  bool n = false;  // n % 4 == 0
  bool k = false;  // k % 4 == 0
};

// A matrix product as the GEMM and GEMV skeletons (gemm.wgsl, gemv.wgsl) see it. Everything that
// multiplies matrices is lowered through this: what differs is how the operands are loaded and what
// is done to the sums.
struct Gemm {
  std::function<GemmSizes(const LiveValues&)> sizes;
  bool fixed_n = false, fixed_k = false;  // the same in every run

  // WGSL modules with load_a_block and load_a_quad, and with load_b_block.
  std::string a_module, b_module;
  // Along which dimension neighbouring elements of B are neighbours in memory.
  bool b_k_contiguous = false;
  // Declares the inputs and parameters of the loaders and of `finish`, and emits
  //   fn finish(row: u32, n: u32, value: vec4<f32>) -> vec4<f32>
  // which turns sums into the values of C[row, n .. n+3].
  std::function<void(KernelBuilder&, GemmAlignment)> operands;
  // A further condition for alignment.n, e.g. that the bias is a whole row; may be empty.
  std::function<bool(const LiveValues&)> aligned_if;
};

// Adds the step that computes `gemm` into the node's result, with variants for the live sizes.
void lower_gemm(const NodeView& node, Lowering& lowering, const Gemm& gemm);

// One shape of the tiled kernel, see gemm.wgsl.
struct GemmTile {
  const char* name;
  uint32_t m, n, k;             // TILE_M, TILE_N, TILE_K
  uint32_t thread_m, thread_n;  // blocks of 4x4 an invocation
  uint32_t split_k;
  uint64_t enough;  // tiles that keep a large GPU busy: with fewer, a smaller tile is better

  uint32_t workgroup_size() const { return m / (4 * thread_m) * (n / (4 * thread_n)) * split_k; }
  uint64_t tiles(const GemmSizes& sizes) const;
};

// The tiles in use, the largest first.
std::span<const GemmTile> gemm_tiles();
// Rows of A up to which the GEMV kernels serve, ascending.
std::span<const uint32_t> gemv_rows();
// How many invocations of a workgroup of the GEMV kernel for `rows` share a quad of columns.
uint32_t gemv_slices(const GemmSizes& sizes, uint32_t rows, bool b_k_contiguous);

inline constexpr uint32_t kGemvWorkgroup = 256;

}  // namespace executorch::backends::webgpu
