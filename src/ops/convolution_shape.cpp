#include "ops/convolution_shape.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace executorch::backends::webgpu {

namespace {

// Argument numbers of aten.convolution; conv_with_clamp adds two.
enum : size_t {
  kInput,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kDilation,
  kTransposed,
  kOutputPadding,
  kGroups,
  kMin,
  kMax,
};

// One number a spatial dimension; a single one counts for all.
Status read_pair(const NodeView& node, size_t arg, const char* what, int spatial, int64_t least,
                 std::array<int64_t, 2>& pair) {
  if (node.is_symbolic(arg)) {
    return node.error(ErrorCode::kNotSupported, "{} is not fixed by the file", what);
  }
  const std::vector<int64_t> items = node.fixed_integers(arg);
  if (items.size() != 1 && items.size() != static_cast<size_t>(spatial)) {
    return node.error(ErrorCode::kInvalidProgram, "{} has {} numbers for {} dimensions", what,
                      items.size(), spatial);
  }
  for (int i = 0; i < spatial; ++i) {
    const int64_t item = items[items.size() == 1 ? 0 : static_cast<size_t>(i)];
    if (item < least || item > (1 << 20)) {
      return node.error(ErrorCode::kNotSupported, "{} {} is out of range", what, item);
    }
    pair[static_cast<size_t>(2 - spatial + i)] = item;
  }
  return {};
}

Status read_bound(const NodeView& node, size_t arg, double sign, std::optional<float>& bound) {
  const std::optional<double> number = node.number(arg);
  if (!number) return {};
  if (std::isnan(*number)) return node.error(ErrorCode::kNotSupported, "a bound is NaN");
  if (sign * *number > FLT_MAX) return {};  // also infinite in float32: bounds nothing
  bound = static_cast<float>(*number);
  return {};
}

int64_t output_size(const ConvArgs& args, size_t i, int64_t input, int64_t kernel) {
  const int64_t span = args.dilation[i] * (kernel - 1) + 1;
  if (args.transposed) {
    return (input - 1) * args.stride[i] - 2 * args.padding[i] + span + args.output_padding[i];
  }
  const int64_t room = input + 2 * args.padding[i] - span;
  return room < 0 ? 0 : room / args.stride[i] + 1;
}

}  // namespace

Result<ConvArgs> conv_args(const NodeView& node) {
  ConvArgs args;
  args.spatial = node.rank(kWeight) - 2;
  if (args.spatial != 1 && args.spatial != 2) {
    return node.error(ErrorCode::kNotSupported, "{}-dimensional convolution", args.spatial);
  }
  args.transposed = node.boolean(kTransposed);
  const double groups = node.number_or(kGroups, 0);
  if (!(groups >= 1 && groups <= INT32_MAX)) {
    return node.error(ErrorCode::kInvalidProgram, "{} groups", groups);
  }
  args.groups = static_cast<int64_t>(groups);
  ETWG_TRY(read_pair(node, kStride, "stride", args.spatial, 1, args.stride));
  ETWG_TRY(read_pair(node, kPadding, "padding", args.spatial, 0, args.padding));
  ETWG_TRY(read_pair(node, kDilation, "dilation", args.spatial, 1, args.dilation));
  if (args.transposed) {
    ETWG_TRY(
        read_pair(node, kOutputPadding, "output_padding", args.spatial, 0, args.output_padding));
  }
  if (node.arg_count() > kMax) {
    ETWG_TRY(read_bound(node, kMin, -1, args.min));
    ETWG_TRY(read_bound(node, kMax, 1, args.max));
  }
  return args;
}

ConvSizes conv_sizes(const Shape& dims, int spatial) {
  ConvSizes sizes;
  sizes.width = dims.last(0);
  if (spatial == 2) sizes.height = dims.last(1);
  sizes.channels = dims.last(spatial);
  sizes.batch = dims.last(spatial + 1);
  return sizes;
}

ConvSizes conv_weight_sizes(const Shape& dims) { return conv_sizes(dims, dims.rank() - 2); }

Status check_convolution(const NodeView& node) {
  ETWG_ASSIGN(const ConvArgs args, conv_args(node));
  const int rank = node.rank(kInput);
  if (rank != args.spatial + 1 && rank != args.spatial + 2) {
    return node.error(ErrorCode::kInvalidProgram, "input of rank {} with a weight of rank {}", rank,
                      args.spatial + 2);
  }
  if (node.output_tensor().max_dims.rank() != rank) {
    return node.error(ErrorCode::kInvalidProgram, "output of rank {} from an input of rank {}",
                      node.output_tensor().max_dims.rank(), rank);
  }
  for (size_t arg : {size_t{kInput}, size_t{kWeight}, size_t{kBias}}) {
    if (node.tensor(arg) != nullptr && !is_float(node.tensor(arg)->dtype)) {
      return node.error(ErrorCode::kNotSupported, "argument {} is {}, only float types work", arg,
                        name_of(node.tensor(arg)->dtype));
    }
  }
  if (!is_float(node.output_tensor().dtype)) {
    return node.error(ErrorCode::kNotSupported, "the output is not of a float type");
  }
  if (node.tensor(kBias) != nullptr && node.rank(kBias) != 1) {
    return node.error(ErrorCode::kInvalidProgram, "bias of rank {}", node.rank(kBias));
  }
  for (size_t i = 0; i < 2; ++i) {
    if (args.transposed && args.output_padding[i] >= std::max(args.stride[i], args.dilation[i])) {
      return node.error(ErrorCode::kInvalidProgram,
                        "output_padding {} is not less than the stride or the dilation",
                        args.output_padding[i]);
    }
  }
  return {};
}

Status infer_convolution(const NodeView& node, LiveValues& live) {
  ETWG_ASSIGN(const ConvArgs args, conv_args(node));
  const Shape& dims = live.dims(node.id(kInput));
  const Shape& weight_dims = live.dims(node.id(kWeight));
  const ConvSizes input = conv_sizes(dims, args.spatial);
  const ConvSizes weight = conv_weight_sizes(weight_dims);
  const int64_t expected = args.transposed ? weight.batch : weight.channels * args.groups;
  const int64_t outputs = args.transposed ? weight.channels * args.groups : weight.batch;
  const bool empty_kernel = weight.width < 1 || weight.height < 1;
  if (input.channels != expected || weight.batch % args.groups != 0 || empty_kernel) {
    return node.error(ErrorCode::kInvalidArgument, "input {} does not fit weight {} with {} groups",
                      to_string(dims), to_string(weight_dims), args.groups);
  }
  if (node.tensor(kBias) != nullptr && live.numel(node.id(kBias)) != outputs) {
    return node.error(ErrorCode::kInvalidArgument, "bias of {} elements for {} output channels",
                      live.numel(node.id(kBias)), outputs);
  }
  Shape result = dims;
  const int rank = dims.rank();
  result[rank - 1] = output_size(args, 1, input.width, weight.width);
  if (args.spatial == 2) result[rank - 2] = output_size(args, 0, input.height, weight.height);
  result[rank - 1 - args.spatial] = outputs;
  for (int i = rank - args.spatial - 1; i < rank; ++i) {
    if (result[i] < 1) {
      return node.error(ErrorCode::kInvalidArgument, "input {} is too small for kernel {}",
                        to_string(dims), to_string(weight_dims));
    }
  }
  live.set_dims(node.output(), result);
  return {};
}

}  // namespace executorch::backends::webgpu
