#include "ops/gemm.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

// Builds the kernels of one product.
class GemmKernels {
 public:
  GemmKernels(const NodeView& node, const Capabilities& caps, const Gemm& gemm)
      : node_(node), caps_(caps), gemm_(gemm) {}

  Dispatch tiled(const GemmTile& tile, GemmAlignment aligned) const {
    KernelBuilder kernel = begin(fmt::format("gemm_{}", tile.name), aligned, /*by_rows=*/true);
    kernel.workgroup_size(tile.workgroup_size());
    kernel.constant("TILE_M", tile.m);
    kernel.constant("TILE_N", tile.n);
    kernel.constant("TILE_K", tile.k);
    kernel.constant("THREAD_M", tile.thread_m);
    kernel.constant("THREAD_N", tile.thread_n);
    kernel.constant("SPLIT_K", tile.split_k);
    kernel.body("gemm");
    const auto sizes = gemm_.sizes;
    kernel.workgroups([sizes, tile](const LiveValues& live) { return tile.tiles(sizes(live)); });
    if (tile.enough > 0) {
      kernel.require(
          [sizes, tile](const LiveValues& live) { return tile.tiles(sizes(live)) >= tile.enough; });
    }
    return kernel.finish();
  }

  Dispatch gemv(uint32_t rows, GemmAlignment aligned) const {
    KernelBuilder kernel = begin(fmt::format("gemv_{}", rows), aligned, /*by_rows=*/true);
    kernel.workgroup_size(kGemvWorkgroup);
    kernel.constant("ROWS", rows);
    kernel.body("gemv");
    const auto sizes = gemm_.sizes;
    const auto slices = [sizes, rows, by_k = gemm_.b_k_contiguous](const LiveValues& live) {
      return gemv_slices(sizes(live), rows, by_k);
    };
    kernel.param("slices", slices);
    kernel.workgroups([sizes, slices](const LiveValues& live) -> uint64_t {
      const GemmSizes s = sizes(live);
      if (s.m == 0) return 0;
      return s.batches * div_up(s.n, uint64_t{4} * (kGemvWorkgroup / slices(live)));
    });
    kernel.require([sizes, rows](const LiveValues& live) { return sizes(live).m <= rows; });
    return kernel.finish();
  }

  Dispatch direct(GemmAlignment aligned) const {
    KernelBuilder kernel = begin("gemm_direct", aligned, /*by_rows=*/true);
    kernel.workgroup_size(64);
    kernel.body("gemm_direct");
    kernel.invocations([sizes = gemm_.sizes](const LiveValues& live) {
      const GemmSizes s = sizes(live);
      return s.batches * div_up(s.m, 8) * div_up(s.n, 4);
    });
    return kernel.finish();
  }

  Dispatch plain(GemmAlignment aligned) const {
    KernelBuilder kernel = begin("gemm_plain", aligned, /*by_rows=*/false);
    kernel.body("gemm_plain");
    kernel.invocations([sizes = gemm_.sizes](const LiveValues& live) {
      const GemmSizes s = sizes(live);
      return div_up(s.batches * s.m * s.n, 4);
    });
    return kernel.finish();
  }

 private:
  // What all kernels share. `by_rows`: stores four elements of one row at a time.
  KernelBuilder begin(std::string name, GemmAlignment aligned, bool by_rows) const {
    const bool four = aligned.n || !by_rows;
    KernelBuilder kernel(node_.graph(), caps_, std::move(name), four ? Lanes::k4 : Lanes::k1,
                         /*general=*/!by_rows);
    kernel.constant_bool("N_ALIGNED", aligned.n);
    kernel.constant_bool("K_ALIGNED", aligned.k);
    kernel.constant_bool("B_K_CONTIGUOUS", gemm_.b_k_contiguous);
    const auto sizes = gemm_.sizes;
    const auto size = [&](const char* field, uint64_t GemmSizes::*member) {
      kernel.param(field, [sizes, member](const LiveValues& live) {
        return static_cast<uint32_t>(sizes(live).*member);
      });
    };
    size("batches", &GemmSizes::batches);
    size("m", &GemmSizes::m);
    size("n", &GemmSizes::n);
    size("k", &GemmSizes::k);
    gemm_.operands(kernel, aligned);
    kernel.module(gemm_.a_module);
    kernel.module(gemm_.b_module);
    emit_store(kernel, node_);
    if (by_rows) kernel.module(four ? "gemm_store_k4" : "gemm_store_k1");
    kernel.flops([sizes](const LiveValues& live) {
      const GemmSizes s = sizes(live);
      return 2 * s.batches * s.m * s.n * s.k;
    });
    if (aligned.n && !gemm_.fixed_n) {
      kernel.require([sizes](const LiveValues& live) { return sizes(live).n % 4 == 0; });
    }
    if (aligned.n && gemm_.aligned_if) kernel.require(gemm_.aligned_if);
    if (aligned.k && !gemm_.fixed_k) {
      kernel.require([sizes](const LiveValues& live) { return sizes(live).k % 4 == 0; });
    }
    return kernel;
  }

  const NodeView& node_;
  const Capabilities& caps_;
  const Gemm& gemm_;
};

}  // namespace

void lower_gemm(const NodeView& node, Lowering& lowering, const Gemm& gemm) {
  const Capabilities& caps = lowering.capabilities();
  const GemmKernels kernels(node, caps, gemm);
  const GemmSizes most = gemm.sizes(lowering.maxima());
  const bool single = can_store_single(node, caps);

  // What holds for all live sizes, and the best that can hold for some.
  const GemmAlignment always = {.n = gemm.fixed_n && most.n % 4 == 0 && !gemm.aligned_if,
                                .k = gemm.fixed_k && most.k % 4 == 0};
  const GemmAlignment best = {.n = !gemm.fixed_n || most.n % 4 == 0,
                              .k = !gemm.fixed_k || most.k % 4 == 0};

  std::vector<Dispatch> variants;
  // Kernels for all sizes of one alignment: as many as pay, or as few as serve.
  const auto add = [&](GemmAlignment aligned, bool many) {
    if (caps.processor) {
      variants.push_back(kernels.direct(aligned));
      return;
    }
    for (const uint32_t rows : gemv_rows()) {
      if (many || rows == gemv_rows().back()) variants.push_back(kernels.gemv(rows, aligned));
    }
    for (const GemmTile& tile : gemm_tiles()) {
      // Tiles that are too large even for the largest sizes are never needed.
      if (tile.enough > 0 && (!many || tile.tiles(most) < tile.enough)) continue;
      variants.push_back(kernels.tiled(tile, aligned));
    }
  };
  if (best.n || single) add(best, /*many=*/true);
  if (best.n != always.n || best.k != always.k || variants.empty()) {
    if (single || always.n) {
      add(always, /*many=*/false);
    } else {
      // Rows of other lengths than multiples of 4 cannot be stored row by row.
      if (best.n && best.k != always.k) add({.n = true, .k = always.k}, /*many=*/false);
      variants.push_back(kernels.plain({.n = false, .k = always.k}));
    }
  }
  // Followers may hold for some sizes only, whatever the product does. This kernel takes elements
  // one by one, so that it may not count on groups of columns.
  if (variants.back().applies) variants.push_back(kernels.plain({.n = false, .k = always.k}));
  lowering.add(std::move(variants));
}

}  // namespace executorch::backends::webgpu
