#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel_builder.h"

namespace executorch::backends::webgpu {

// One dimension of an index map from output elements to source elements.
struct ViewDim {
  LiveFn size;              // of the output along this dimension
  LiveFn stride;            // source elements between neighbours; negative ones as two's complement
  bool broadcast = false;   // the stride is 0 for all live sizes
  bool joins_next = false;  // stride == next.stride * next.size for all live sizes
};

// source element = base + sum over dims of coordinate * stride, where the coordinates are those of
// the output element's row-major number over the dims' sizes. Every data movement that is not a
// gather is such a map, and so is every broadcast operand. The dims need not be the output's own:
// `repeat`, say, splits each into two.
struct ViewMap {
  std::vector<ViewDim> dims;  // outermost first
  LiveFn base;                // nullptr: 0
  // How four consecutive output elements that start at a multiple of 4 lie in the source, while
  // `inner_applies` holds for the live sizes (nullptr: always).
  enum class Inner : uint8_t {
    kAny,
    kContiguous,  // four consecutive elements that start at a multiple of 4
    kSame,        // one and the same element
  } inner = Inner::kAny;
  std::function<bool(const LiveValues&)> inner_applies;
};

// Declares `source` as the input `name` and emits
//   fn <name>_at(i: u32) -> u32     source element of output element i
//   fn <name>_view(i: u32) -> V|I   the source's values at output group (or element) i
void emit_view(KernelBuilder& kernel, std::string_view name, ValueId source, const ViewMap& map);

// A dimension of a row-major tensor: its live size, and its stride times a factor.
LiveFn size_of_dim(ValueId tensor, int dim);
LiveFn stride_of_dim(ValueId tensor, int dim, int64_t factor = 1);
// States that the output's last dimension is the whole last dimension of `source`.
void keep_last_dim(ViewMap& map, ValueId source);

// The map by which an operand broadcasts to `out` (PyTorch's rule, aligned at the last dimension).
ViewMap broadcast_map(const Graph& graph, ValueId operand, ValueId out);

// The row-major map of a tensor of its own sizes, for operators to permute and step.
ViewMap identity_map(const Graph& graph, ValueId tensor);

}  // namespace executorch::backends::webgpu
