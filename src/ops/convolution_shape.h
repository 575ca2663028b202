#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "ops/node_view.h"

namespace executorch::backends::webgpu {

// The arguments of a convolution node, all fixed by the file. A 1-D convolution is a 2-D one of
// height 1: index 0 is the height, 1 the width.
struct ConvArgs {
  int spatial = 2;  // 1 or 2, by the weight's rank
  bool transposed = false;
  int64_t groups = 1;
  std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1}, output_padding{0, 0};
  // Bounds on the result; a side that bounds nothing is absent.
  std::optional<float> min, max;
};

// The sizes of one tensor [N, C, H, W], of [N, C, W] (H = 1), and the same without N (N = 1).
struct ConvSizes {
  int64_t batch = 1, channels = 1, height = 1, width = 1;
  int64_t plane() const { return height * width; }
};

// The arguments of aten.convolution or et_vk.conv_with_clamp. Refuses what check_convolution()
// promises not to pass on, so that lowering may rely on every field.
Result<ConvArgs> conv_args(const NodeView& node);

// `dims` of an input or output of a convolution with `spatial` dimensions.
ConvSizes conv_sizes(const Shape& dims, int spatial);

// The weight as [rows, columns, KH, KW] in `batch, channels, height, width`: rows are output
// channels and columns input channels of a group, or for a transposed convolution input channels
// and output channels of a group.
ConvSizes conv_weight_sizes(const Shape& dims);

Status check_convolution(const NodeView& node);
// PyTorch's output sizes; refuses sizes that do not fit the weight, and outputs without elements
// other than by an empty batch.
Status infer_convolution(const NodeView& node, LiveValues& live);

}  // namespace executorch::backends::webgpu
