#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace executorch::backends::webgpu {

// The sizes and symbolic integers of one run. Starts at the maxima of the graph; the inputs' live
// sizes are set, and each node's shape rule then writes those of its outputs in program order.
class LiveValues {
 public:
  explicit LiveValues(const Graph& graph);

  // Takes in a tensor value that was added to the graph.
  void append(const Shape& max_dims) {
    dims_.push_back(max_dims);
    integers_.push_back(0);
  }

  // Live sizes of a tensor value (an empty Shape for anything else).
  const Shape& dims(ValueId id) const { return dims_[static_cast<size_t>(id)]; }
  void set_dims(ValueId id, const Shape& dims) { dims_[static_cast<size_t>(id)] = dims; }
  int64_t numel(ValueId id) const { return dims(id).numel(); }

  // An Int, a Bool or a SymInt.
  int64_t integer(ValueId id) const { return integers_[static_cast<size_t>(id)]; }
  void set_integer(ValueId id, int64_t value) { integers_[static_cast<size_t>(id)] = value; }

 private:
  std::vector<Shape> dims_;
  std::vector<int64_t> integers_;
};

}  // namespace executorch::backends::webgpu
