#include "ops/convolution_kernels.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/checked.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

LiveFn constant_fn(int64_t value) {
  return [value](const LiveValues&) { return static_cast<uint32_t>(value); };
}

// Declares parameters that are live sizes: `field` is a member of ConvSizes.
template <typename Field>
void input_param(KernelBuilder& kernel, std::string_view name, const Convolution& conv,
                 Field field) {
  kernel.param(name, [conv, field](const LiveValues& live) {
    return static_cast<uint32_t>(std::invoke(field, conv.input(live)));
  });
}

template <typename Field>
void output_param(KernelBuilder& kernel, std::string_view name, const Convolution& conv,
                  Field field) {
  kernel.param(name, [conv, field](const LiveValues& live) {
    return static_cast<uint32_t>(std::invoke(field, conv.output(live)));
  });
}

// conv_bias(channel) and conv_clamp(value), the end of every kernel, and store().
void emit_epilogue(KernelBuilder& kernel, const NodeView& node, const Convolution& conv) {
  std::string bias = "0.0";
  if (conv.bias != kNoValue) {
    kernel.input("bias", conv.bias);
    bias = "bias1(channel)";
  }
  kernel.code(fmt::format("fn conv_bias(channel: u32) -> f32 {{\n  return {};\n}}\n", bias));
  std::string value = "value";
  if (conv.args.min) {
    kernel.param_f32("clamp_min", *conv.args.min);
    value = fmt::format("max({}, V(p.clamp_min))", value);
  }
  if (conv.args.max) {
    kernel.param_f32("clamp_max", *conv.args.max);
    value = fmt::format("min({}, V(p.clamp_max))", value);
  }
  if (conv.args.min || conv.args.max)
    value = fmt::format("select({}, value, etwg_isnan(value))", value);
  kernel.code(fmt::format("fn conv_clamp(value: V) -> V {{\n  return {};\n}}\n", value));
  kernel.module("pointwise_math");
  emit_store(kernel, node);
  kernel.flops([conv](const LiveValues& live) {
    const ConvSizes kernel = conv.kernel(live);
    const ConvSizes pixels = conv.args.transposed ? conv.input(live) : conv.output(live);
    return static_cast<uint64_t>(2 * pixels.batch * pixels.channels * pixels.plane() *
                                 kernel.channels * kernel.plane());
  });
}

void emit_window(KernelBuilder& kernel, const ConvArgs& args) {
  static constexpr const char* kAxis[] = {"H", "W"};
  for (size_t i = 0; i < 2; ++i) {
    kernel.constant(fmt::format("STRIDE_{}", kAxis[i]), static_cast<uint32_t>(args.stride[i]));
    kernel.constant(fmt::format("PAD_{}", kAxis[i]), static_cast<uint32_t>(args.padding[i]));
    kernel.constant(fmt::format("DILATION_{}", kAxis[i]), static_cast<uint32_t>(args.dilation[i]));
  }
}

void emit_kernel_size(KernelBuilder& kernel, const Convolution& conv) {
  kernel.constant("KERNEL_H", static_cast<uint32_t>(conv.max_kernel.height));
  kernel.constant("KERNEL_W", static_cast<uint32_t>(conv.max_kernel.width));
}

bool is_pointwise(const Convolution& conv) {
  const ConvArgs& args = conv.args;
  return !args.transposed && conv.max_kernel.plane() == 1 && args.stride[0] == 1 &&
         args.stride[1] == 1 && args.padding[0] == 0 && args.padding[1] == 0;
}

// Length of a row of columns: without a window, a whole plane is one row.
int64_t row_length(const ConvSizes& out, bool pointwise) {
  return pointwise ? out.plane() : out.width;
}

int64_t columns4(const ConvSizes& out, bool pointwise) {
  const int64_t row4 = static_cast<int64_t>(div_up(row_length(out, pointwise), 4));
  return pointwise ? row4 : row4 * out.height;
}

}  // namespace

Result<Convolution> Convolution::from(const NodeView& node) {
  ETWG_ASSIGN(const ConvArgs args, conv_args(node));
  const ValueId bias = node.is_null(2) ? kNoValue : node.id(2);
  return Convolution{args,
                     node.id(0),
                     node.id(1),
                     bias,
                     node.output(),
                     conv_sizes(node.max_dims(0), args.spatial),
                     conv_sizes(node.output_tensor().max_dims, args.spatial),
                     conv_weight_sizes(node.max_dims(1))};
}

// Cycles, roughly: a chain of dependent steps, and all work at the rate of a large device. On a
// small device the second term counts alone, and it is least for large tiles without waste, so the
// choice is sound there too where the first does not outweigh it.
ConvTile choose_conv_tile(const Convolution& conv, int64_t columns4, const Capabilities& caps) {
  constexpr double kStep = 70;       // latency of a step (loads, 16 multiply-adds)
  constexpr double kParallel = 400;  // thread steps the device finishes in a cycle
  constexpr double kBytes = 2000;    // that the device's cache yields in a cycle
  const auto rows = static_cast<uint64_t>(conv.group_out());
  const auto channels = static_cast<uint64_t>(conv.group_in());
  const auto taps = static_cast<double>(conv.max_kernel.plane());
  const auto images = static_cast<double>(conv.max_output.batch * conv.args.groups);
  const uint32_t max_threads =
      std::min({256u, caps.max_invocations_per_workgroup, caps.max_workgroup_size_x,
                caps.max_workgroup_storage / 64});
  // A processor has no lanes to spare, and a barrier, which slices need, is dear.
  const uint32_t max_slices = caps.processor ? 1 : 64;
  ConvTile best;
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t m : {8u, 16u, 32u, 64u}) {
    for (uint32_t n : {16u, 32u, 64u}) {
      for (uint32_t slices = 1; slices <= max_slices; slices *= 2) {
        const ConvTile tile{m, n, slices};
        if (tile.threads() > max_threads || (slices > 1 && slices > channels)) break;
        if (tile.threads() < 64) continue;
        const double tiles = static_cast<double>(div_up(rows, m)) *
                             static_cast<double>(div_up(static_cast<uint64_t>(columns4) * 4, n)) *
                             images;
        const double steps = static_cast<double>(div_up(channels, slices)) * taps;
        const double work = tiles * tile.threads() * (steps + 6) / kParallel;
        const double bytes = tiles * static_cast<double>(channels) * taps * (m + n) * 4 / kBytes;
        const double cost = steps * kStep + 10 * slices + std::max(work, bytes);
        if (cost < least) {
          least = cost;
          best = tile;
        }
      }
    }
  }
  return best;
}

Dispatch conv_general(const NodeView& node, const Convolution& conv, const Capabilities& caps) {
  KernelBuilder kernel(node.graph(), caps, "conv_general", Lanes::k4, /*general=*/true);
  kernel.input("x", conv.x);
  kernel.input("w", conv.weight);
  const auto groups4 = [conv](const LiveValues& live) {
    return div_up(static_cast<uint64_t>(live.numel(conv.out)), 4);
  };
  kernel.param("groups4",
               [=](const LiveValues& live) { return static_cast<uint32_t>(groups4(live)); });
  kernel.param("numel", [conv](const LiveValues& live) {
    return static_cast<uint32_t>(live.numel(conv.out));
  });
  output_param(kernel, "out_c", conv, &ConvSizes::channels);
  output_param(kernel, "out_h", conv, &ConvSizes::height);
  output_param(kernel, "out_w", conv, &ConvSizes::width);
  input_param(kernel, "in_c", conv, &ConvSizes::channels);
  input_param(kernel, "in_h", conv, &ConvSizes::height);
  input_param(kernel, "in_w", conv, &ConvSizes::width);
  kernel.param("group_out", [conv](const LiveValues& live) {
    return static_cast<uint32_t>(conv.output(live).channels / conv.args.groups);
  });
  kernel.param("group_in", [conv](const LiveValues& live) {
    return static_cast<uint32_t>(conv.input(live).channels / conv.args.groups);
  });
  kernel.param("kernel_h", [conv](const LiveValues& live) {
    return static_cast<uint32_t>(conv.kernel(live).height);
  });
  kernel.param("kernel_w", [conv](const LiveValues& live) {
    return static_cast<uint32_t>(conv.kernel(live).width);
  });
  emit_window(kernel, conv.args);
  kernel.constant_bool("TRANSPOSED", conv.args.transposed);
  emit_epilogue(kernel, node, conv);
  kernel.body("conv_general");
  kernel.invocations(groups4);
  return kernel.finish();
}

Dispatch conv_depthwise(const NodeView& node, const Convolution& conv, const Capabilities& caps,
                        Lanes lanes) {
  KernelBuilder kernel(node.graph(), caps, "conv_depthwise", lanes, lanes == Lanes::k1);
  kernel.workgroup_size(64);  // small layers have few invocations; spread them over the device
  kernel.input("x", conv.x);
  kernel.input("w", conv.weight);
  const auto items = [conv](const LiveValues& live) {
    const ConvSizes out = conv.output(live);
    return static_cast<uint64_t>(out.batch * out.channels * columns4(out, false));
  };
  kernel.param("items", [=](const LiveValues& live) { return static_cast<uint32_t>(items(live)); });
  kernel.param("row4", [conv](const LiveValues& live) {
    return static_cast<uint32_t>(div_up(static_cast<uint64_t>(conv.output(live).width), 4));
  });
  kernel.param("out_c", constant_fn(conv.max_output.channels));
  output_param(kernel, "out_h", conv, &ConvSizes::height);
  output_param(kernel, "out_w", conv, &ConvSizes::width);
  input_param(kernel, "in_h", conv, &ConvSizes::height);
  input_param(kernel, "in_w", conv, &ConvSizes::width);
  kernel.param("multiplier", constant_fn(conv.group_out()));
  emit_window(kernel, conv.args);
  emit_kernel_size(kernel, conv);
  if (lanes == Lanes::k4) {
    kernel.require([conv](const LiveValues& live) { return conv.output(live).width % 4 == 0; });
  }
  kernel.module(lanes == Lanes::k4 ? "conv_lanes4" : "conv_lanes1");
  emit_epilogue(kernel, node, conv);
  kernel.body("conv_depthwise");
  kernel.invocations(items);
  return kernel.finish();
}

Dispatch conv_tiled(const NodeView& node, const Convolution& conv, const Capabilities& caps,
                    Lanes lanes, ValueId packed) {
  const bool pointwise = is_pointwise(conv);
  const ConvTile tile = choose_conv_tile(conv, columns4(conv.max_output, pointwise), caps);
  const char* name = pointwise ? "conv_pointwise" : "conv_window";
  KernelBuilder kernel(node.graph(), caps, name, lanes, lanes == Lanes::k1);
  kernel.workgroup_size(tile.threads());
  kernel.constant("TILE_M", tile.m);
  kernel.constant("TILE_N", tile.n);
  kernel.constant("SLICES", tile.slices);
  kernel.input("x", conv.x);
  kernel.input("w", packed);

  const uint64_t tiles_m = div_up(static_cast<uint64_t>(conv.group_out()), tile.m);
  const auto tiles_n = [=](const LiveValues& live) {
    return div_up(static_cast<uint64_t>(columns4(conv.output(live), pointwise)), tile.n / 4);
  };
  const auto tiles = [=](const LiveValues& live) {
    return tiles_n(live) * tiles_m *
           static_cast<uint64_t>(conv.args.groups * conv.output(live).batch);
  };
  kernel.param("tiles", [=](const LiveValues& live) { return static_cast<uint32_t>(tiles(live)); });
  kernel.param("tiles_m", constant_fn(static_cast<int64_t>(tiles_m)));
  kernel.param("tiles_n",
               [=](const LiveValues& live) { return static_cast<uint32_t>(tiles_n(live)); });
  kernel.param("groups", constant_fn(conv.args.groups));
  kernel.param("group_out", constant_fn(conv.group_out()));
  kernel.param("group_in", constant_fn(conv.group_in()));
  kernel.param("rows4", constant_fn(packed_conv_weight_dims(conv).last(0) / 4));
  kernel.param("columns4", [=](const LiveValues& live) {
    return static_cast<uint32_t>(columns4(conv.output(live), pointwise));
  });
  const auto row = [=](const LiveValues& live) { return row_length(conv.output(live), pointwise); };
  kernel.param("row4", [=](const LiveValues& live) {
    return static_cast<uint32_t>(div_up(static_cast<uint64_t>(row(live)), 4));
  });
  kernel.param("out_w", [=](const LiveValues& live) { return static_cast<uint32_t>(row(live)); });
  output_param(kernel, "out_plane", conv, &ConvSizes::plane);
  if (pointwise) {
    input_param(kernel, "in_plane", conv, &ConvSizes::plane);
  } else {
    input_param(kernel, "in_h", conv, &ConvSizes::height);
    input_param(kernel, "in_w", conv, &ConvSizes::width);
    emit_window(kernel, conv.args);
    emit_kernel_size(kernel, conv);
  }
  if (lanes == Lanes::k4) {
    kernel.require([=](const LiveValues& live) { return row(live) % 4 == 0; });
  }
  kernel.module("conv_tile");
  kernel.module(lanes == Lanes::k4 ? "conv_tile4" : "conv_tile1");
  kernel.module(tile.slices == 1 ? "conv_direct" : "conv_slices");
  if (tile.slices > 1) {
    kernel.code(fmt::format("fn conv_partial_v(index: u32) -> V {{\n  return conv_partial{};\n}}\n",
                            lanes == Lanes::k4 ? "[index]" : "[index / 4u][index % 4u]"));
  }
  emit_epilogue(kernel, node, conv);
  kernel.body(name);
  kernel.workgroups(tiles);
  return kernel.finish();
}

Shape packed_conv_weight_dims(const Convolution& conv) {
  return {conv.args.groups, conv.group_in() * conv.max_kernel.plane(),
          static_cast<int64_t>(round_up(static_cast<uint64_t>(conv.group_out()), 4))};
}

Dispatch pack_conv_weight(const NodeView& node, const Convolution& conv, const Capabilities& caps,
                          ValueId packed) {
  KernelBuilder kernel(node.graph(), caps, "conv_pack", Lanes::k4);
  kernel.input("w", conv.weight);
  kernel.output("packed", packed);
  const Shape dims = packed_conv_weight_dims(conv);
  kernel.param("groups4", constant_fn(dims.numel() / 4));
  kernel.param("rows4", constant_fn(dims.last(0) / 4));
  kernel.param("group_out", constant_fn(conv.group_out()));
  kernel.param("group_in", constant_fn(conv.group_in()));
  kernel.param("taps", constant_fn(conv.max_kernel.plane()));
  kernel.body("conv_pack");
  kernel.invocations([dims](const LiveValues&) { return static_cast<uint64_t>(dims.numel() / 4); });
  return kernel.finish();
}

}  // namespace executorch::backends::webgpu
