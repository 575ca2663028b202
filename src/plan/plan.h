#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/capabilities.h"
#include "base/result.h"
#include "ops/lowering.h"
#include "ops/op.h"

namespace executorch::backends::webgpu {

enum class BufferKind : uint8_t {
  kActivation,  // shared by values whose lifetimes do not overlap
  kPersistent,  // kept between runs: state, folded values, prepacked weights
  kConstant,    // filled from the file at load
  kLoadOnly,    // only dispatches of the load stage touch it: freed after it
};

struct BufferPlan {
  uint64_t size = 0;
  BufferKind kind = BufferKind::kActivation;
  std::string label;
};

// Where a value lies. `buffer` is kNoBuffer for values that never reach the GPU.
inline constexpr uint32_t kNoBuffer = UINT32_MAX;
struct Place {
  uint32_t buffer = kNoBuffer;
  uint64_t offset = 0;
  uint64_t size = 0;  // bytes, room for the maximum sizes, rounded up to 16
};

struct ConstantPlan {
  uint32_t constant = 0;  // index into Graph::constants
  Place place;
};

// A dispatch with its slot in the uniform arena.
struct PlannedDispatch {
  Dispatch dispatch;
  uint64_t params_offset = 0;  // bytes into the arena, aligned for the device
};

struct PlannedStep {
  std::vector<PlannedDispatch> variants;  // as in Step
};

// One node's shape rule, with its operator looked up.
struct ShapeStep {
  const Op* op = nullptr;
  const Node* node = nullptr;  // points into Plan::graph
};

// All that running a graph takes, made without a GPU. Moving a Plan keeps ShapeStep::node valid;
// it cannot be copied.
struct Plan {
  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  Graph graph;  // after passes, with scratch values
  std::vector<ShapeStep> shape_steps;
  std::vector<PlannedStep> once;   // at load, in order; one variant each
  std::vector<PlannedStep> steps;  // in every run, in order
  std::vector<BufferPlan> buffers;
  std::vector<Place> places;  // by value id
  std::vector<ConstantPlan> constants;
  uint64_t params_size = 0;  // bytes of the uniform arena

  // For `inspect`: nodes that compute or move data, before and after the passes.
  size_t nodes_before_passes = 0;
  size_t nodes_after_passes = 0;

  // Sum of the planned buffers of one kind.
  uint64_t bytes(BufferKind kind) const;
};

struct PlanOptions {
  bool fuse = true;  // off: one kernel an operator (tests compare both)
};

// Checks every node, runs the passes, lowers, and places all values. Errors name the node or value.
Result<Plan> make_plan(Graph graph, const Capabilities& caps, const PlanOptions& options = {});

// Computes all live sizes from those of the inputs that are set in `live`, in program order.
// Refuses sizes that exceed the room planned for a value.
Status infer_shapes(const Plan& plan, LiveValues& live);

}  // namespace executorch::backends::webgpu
