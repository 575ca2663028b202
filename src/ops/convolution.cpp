#include "ops/convolution.h"

#include <vector>

#include "ops/convolution_kernels.h"
#include "ops/convolution_shape.h"
#include "ops/pointwise.h"

namespace executorch::backends::webgpu {

namespace {

// Adds the variant for rows of whole groups of four, if the maximum sizes have them, and the one
// for all sizes behind it. `build` makes either.
void add_variants(Lowering& lowering, const NodeView& node, const Convolution& conv,
                  const std::function<Dispatch(Lanes)>& build) {
  const Capabilities& caps = lowering.capabilities();
  std::vector<Dispatch> variants;
  const bool single = can_store_single(node, caps);
  // Without single stores rows that are whole now and then are worth a variant too.
  if (conv.max_output.width % 4 == 0 || conv.max_output.plane() % 4 == 0 || !single) {
    variants.push_back(build(Lanes::k4));
  }
  variants.push_back(single ? build(Lanes::k1) : conv_general(node, conv, caps));
  lowering.add(std::move(variants));
}

Status lower_convolution(const NodeView& node, Lowering& lowering) {
  ETWG_ASSIGN(const Convolution conv, Convolution::from(node));
  const Capabilities& caps = lowering.capabilities();
  // The other kernels take the weight's sizes as fixed.
  if (conv.args.transposed || !lowering.is_constant(conv.weight)) {
    lowering.add(conv_general(node, conv, caps));
    return {};
  }
  if (conv.group_in() == 1 && conv.args.groups > 1) {
    add_variants(lowering, node, conv,
                 [&](Lanes lanes) { return conv_depthwise(node, conv, caps, lanes); });
    return {};
  }
  const DType dtype = node.tensor(1)->dtype;
  const ValueId packed = lowering.prepacked(dtype, packed_conv_weight_dims(conv));
  lowering.add_once(pack_conv_weight(node, conv, caps, packed));
  add_variants(lowering, node, conv,
               [&](Lanes lanes) { return conv_tiled(node, conv, caps, lanes, packed); });
  return {};
}

constexpr Op row(std::string_view name, std::string_view signature) {
  return compute_op(name, signature, check_convolution, infer_convolution, lower_convolution);
}

}  // namespace

std::span<const Op> convolution_ops() {
  static constexpr Op kOps[] = {
      row("aten.convolution.default", "t t t? l l l b l n -> t"),
      row("et_vk.conv_with_clamp.default", "t t t? l l l b l n n? n? -> t"),
  };
  return kOps;
}

}  // namespace executorch::backends::webgpu
