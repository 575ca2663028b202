#pragma once

#include <cstdint>

#include "kernels/kernel_builder.h"
#include "ops/convolution_shape.h"
#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// What lowering knows of a convolution node. Kernels keep copies of it for their parameters.
struct Convolution {
  ConvArgs args;
  ValueId x, weight, bias, out;  // bias: kNoValue when there is none
  ConvSizes max_input, max_output, max_kernel;

  static Result<Convolution> from(const NodeView& node);

  ConvSizes input(const LiveValues& live) const { return conv_sizes(live.dims(x), args.spatial); }
  ConvSizes output(const LiveValues& live) const {
    return conv_sizes(live.dims(out), args.spatial);
  }
  ConvSizes kernel(const LiveValues& live) const { return conv_weight_sizes(live.dims(weight)); }

  // Channels of a group, where the weight is constant.
  int64_t group_out() const { return max_output.channels / args.groups; }
  int64_t group_in() const { return max_input.channels / args.groups; }
};

// How a tile kernel shares out its work: see conv_tile.wgsl.
struct ConvTile {
  uint32_t m = 0, n = 0, slices = 0;
  uint32_t threads() const { return m / 4 * (n / 4) * slices; }
};

// The tile that should finish first at the maximum sizes, for columns4 groups of four columns.
ConvTile choose_conv_tile(const Convolution& conv, int64_t columns4, const Capabilities& caps);

// Right for all types and sizes.
Dispatch conv_general(const NodeView& node, const Convolution& conv, const Capabilities& caps);

// The others take a weight that is constant. With Lanes::k4 the dispatch applies only to sizes
// whose rows are whole groups of four; Lanes::k1 needs single elements to be storable.

// For one input channel a group, not transposed.
Dispatch conv_depthwise(const NodeView& node, const Convolution& conv, const Capabilities& caps,
                        Lanes lanes);

// Not transposed. `packed` is a weight that pack_conv_weight() made.
Dispatch conv_tiled(const NodeView& node, const Convolution& conv, const Capabilities& caps,
                    Lanes lanes, ValueId packed);
// [groups, input channels * taps, output channels of a group rounded up to 4]
Shape packed_conv_weight_dims(const Convolution& conv);
Dispatch pack_conv_weight(const NodeView& node, const Convolution& conv, const Capabilities& caps,
                          ValueId packed);

}  // namespace executorch::backends::webgpu
