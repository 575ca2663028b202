#pragma once

#include <string>
#include <vector>

#include "base/capabilities.h"
#include "base/result.h"
#include "ir/graph.h"
#include "kernels/dispatch.h"

namespace executorch::backends::webgpu {

// What lowering a graph yields: still no buffers, no device.
struct LoweredGraph {
  Graph graph;  // with the scratch values that lowering added
  // By value id, the value whose storage it shares: itself unless it is a view.
  std::vector<ValueId> root;
  std::vector<bool> constant;  // by value id: the same in every run (constants, prepacked, folded)
  std::vector<bool> mutated;   // by value id: written by a node although it had a value before
  std::vector<Dispatch> once;  // run when the program is loaded, in order
  std::vector<Step> steps;     // run in every run, in order
};

// Collects what the operators of a graph need, in program order. An operator's `lower` calls
// alias() for outputs that are only views, and add() for each dispatch.
class Lowering {
 public:
  Lowering(Graph graph, const Capabilities& caps);

  const Graph& graph() const { return out_.graph; }
  const Capabilities& capabilities() const { return caps_; }
  // The largest sizes of all values.
  const LiveValues& maxima() const { return maxima_; }

  // Must enclose each node's lowering: decides whether its dispatches run once or in every run.
  void begin(const Node& node);

  // Makes `view` the same bytes as `base`, or the first of them. Falls back to a copy where sharing
  // would be wrong: the storage is overwritten in place later.
  void alias(ValueId view, ValueId base);

  // `state` starts as the bytes of `constant` when the program is loaded. Shares them unless nodes
  // update the state in place.
  void initialize(ValueId state, ValueId constant);

  // True when the tensor holds the same bytes in every run, so that a kernel may read a prepacked
  // form of it.
  bool is_constant(ValueId value) const;

  // Whether any node or graph output reads the value: outputs that nothing reads need no work.
  bool is_read(ValueId value) const { return read_[static_cast<size_t>(value)]; }

  // A new tensor for intermediate results of the current node.
  ValueId scratch(DType dtype, const Shape& max_dims);
  // A new tensor that add_once() fills when the program is loaded (a weight in another layout).
  ValueId prepacked(DType dtype, const Shape& max_dims);

  // Adds work of the current node: one dispatch that is right for all live sizes, or variants, the
  // preferred first and the last right for all live sizes. A tensor that is both read and written
  // by it is copied first, since WebGPU forbids both uses of one buffer in a dispatch.
  void add(Dispatch dispatch);
  void add(std::vector<Dispatch> variants);
  // The same with `build(general)`: when build(false) yields a dispatch that does not apply to all
  // sizes, build(true) makes the one that does (KernelBuilder's `general`).
  void add(const std::function<Dispatch(bool general)>& build);
  // Adds a dispatch that runs once, at load. It may read constants only.
  void add_once(Dispatch dispatch);

  LoweredGraph finish() { return std::move(out_); }

 private:
  ValueId add_tensor(DType dtype, const Shape& max_dims, bool constant);
  ValueId root(ValueId value) const { return out_.root[static_cast<size_t>(value)]; }
  Dispatch copy_words(ValueId from, ValueId to) const;
  void separate_reads(std::vector<Dispatch>& variants, bool once);
  void emit(std::vector<Dispatch> variants, bool once);

  const Capabilities& caps_;
  LoweredGraph out_;
  LiveValues maxima_;
  std::vector<bool> read_;  // by value id of the graph as it came
  const Node* node_ = nullptr;
  bool once_ = false;
};

}  // namespace executorch::backends::webgpu
