#include "plan/plan.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/checked.h"
#include "passes/passes.h"
#include "plan/memory.h"

namespace executorch::backends::webgpu {

namespace {

size_t count_working_nodes(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes) {
    const OpKind kind = traits_of(node.op).kind;
    count += kind == OpKind::kCompute || kind == OpKind::kPointwise ? 1 : 0;
  }
  return count;
}

Status check_graph(const Graph& graph) {
  for (const Node& node : graph.nodes) ETWG_TRY(check_node(NodeView(graph, node)));
  return {};
}

Result<LoweredGraph> lower_graph(Graph graph, const Capabilities& caps) {
  const std::vector<Node> nodes = graph.nodes;  // lowering adds values to its own copy
  Lowering lowering(std::move(graph), caps);
  for (const Node& node : nodes) {
    const Op* op = find_op(node.op);
    if (op->lower == nullptr) continue;
    lowering.begin(node);
    ETWG_TRY(op->lower(NodeView(lowering.graph(), node), lowering));
  }
  return lowering.finish();
}

// The last variant of a step runs when no other applies, so it must be right for all sizes.
Status check_variants(const LoweredGraph& lowered, const LiveValues& maxima) {
  for (const Dispatch& dispatch : lowered.once) {
    if (!dispatch.applies || dispatch.applies(maxima)) continue;
    return fail(ErrorCode::kInternal, "{} (node {}): kernel {} is not for the largest sizes",
                dispatch.op, dispatch.debug_id, dispatch.kernel);
  }
  for (const Step& step : lowered.steps) {
    const Dispatch& last = step.variants.back();
    if (!last.applies) continue;
    return fail(ErrorCode::kInternal, "{} (node {}): kernel {} has no variant for all sizes",
                last.op, last.debug_id, last.kernel);
  }
  return {};
}

// What is read must have been written, also by followers and to the last output: an operator whose
// kernels leave something out is found here, not by its wrong numbers.
class WrittenBeforeRead {
 public:
  explicit WrittenBeforeRead(const LoweredGraph& lowered)
      : lowered_(lowered), written_(lowered.root.size()) {
    for (size_t i = 0; i < written_.size(); ++i) {
      const Tensor* tensor = lowered.graph.tensor(static_cast<ValueId>(i));
      if (tensor == nullptr) continue;
      const bool given = tensor->constant >= 0 || tensor->max_dims.numel() == 0;
      if (given) written(static_cast<ValueId>(i)) = true;
    }
    for (ValueId id : lowered.graph.inputs) {
      if (lowered.graph.tensor(id) != nullptr) written(id) = true;
    }
  }

  Status check() {
    for (const Dispatch& dispatch : lowered_.once) ETWG_TRY(check_step({&dispatch, 1}));
    for (const Step& step : lowered_.steps) ETWG_TRY(check_step(step.variants));
    for (ValueId id : lowered_.graph.outputs) {
      if (lowered_.graph.tensor(id) == nullptr || written(id)) continue;
      return fail(ErrorCode::kInternal, "no kernel writes output value {}", id);
    }
    return {};
  }

 private:
  std::vector<bool>::reference written(ValueId id) {
    return written_[static_cast<size_t>(lowered_.root[static_cast<size_t>(id)])];
  }

  Status check_step(std::span<const Dispatch> variants) {
    for (const Dispatch& variant : variants) {
      for (const Binding& binding : variant.bindings) {
        if (binding.access == Access::kReadWrite || written(binding.value)) continue;
        return fail(ErrorCode::kInternal,
                    "{} (node {}): kernel {} reads value {}, which no kernel wrote", variant.op,
                    variant.debug_id, variant.kernel, binding.value);
      }
    }
    for (const Binding& binding : variants.back().bindings) {
      if (binding.access == Access::kReadWrite) written(binding.value) = true;
    }
    return {};
  }

  const LoweredGraph& lowered_;
  std::vector<bool> written_;  // by root
};

void collect_shape_steps(const Node& node, std::vector<ShapeStep>& steps) {
  steps.push_back({find_op(node.op), &node});
  for (const Node& follower : node.followers) collect_shape_steps(follower, steps);
}

// Room for the sizes that the shape rules yield at the maxima, where the file declares less.
void widen_bounds(Graph& graph, const LiveValues& live) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    auto* tensor = std::get_if<Tensor>(&graph.values[i]);
    const Shape& dims = live.dims(static_cast<ValueId>(i));
    if (tensor != nullptr && dims.rank() == tensor->max_dims.rank() &&
        dims.numel() > tensor->max_dims.numel()) {
      tensor->max_dims = dims;
    }
  }
}

Status run_shape_rule(const Graph& graph, const Op& op, const Node& node, LiveValues& live) {
  if (op.infer == nullptr) return {};
  const NodeView view(graph, node);
  ETWG_TRY(op.infer(view, live));
  for (ValueId id : node.outputs) {
    // Products of sizes must not overflow anywhere after this.
    if (bounded_numel(live.dims(id), kMaxElements)) continue;
    return view.error(ErrorCode::kInvalidArgument, "live sizes {} are too many elements",
                      to_string(live.dims(id)));
  }
  return {};
}

// The shape rules must agree with the file at the maxima. The file does not say how large a
// symbolic input can get, so that rules which depend on one may fail here; each run checks them
// again.
Status infer_maxima(const Graph& graph, LiveValues& live) {
  const bool open = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                [&](ValueId id) { return graph.tensor(id) == nullptr; });
  for (const Node& node : graph.nodes) {
    Status status = run_shape_rule(graph, *find_op(node.op), node, live);
    if (!status && !open) return status;
    for (ValueId id : node.outputs) {
      const Tensor* tensor = graph.tensor(id);
      if (tensor == nullptr) continue;
      if (status && live.dims(id).rank() != tensor->max_dims.rank()) {
        return NodeView(graph, node)
            .error(ErrorCode::kInvalidProgram, "output of sizes {} is declared as {}",
                   to_string(live.dims(id)), to_string(tensor->max_dims));
      }
      if (open) live.set_dims(id, tensor->max_dims);
    }
  }
  return {};
}

class ParamsArena {
 public:
  explicit ParamsArena(const Capabilities& caps) : alignment_(caps.min_uniform_offset_alignment) {}

  PlannedStep place(std::vector<Dispatch> variants) {
    PlannedStep step;
    for (Dispatch& dispatch : variants) {
      PlannedDispatch planned;
      planned.params_offset = size_;
      size_ += round_up(dispatch.params.size() * 4, alignment_);
      planned.dispatch = std::move(dispatch);
      step.variants.push_back(std::move(planned));
    }
    return step;
  }
  uint64_t size() const { return size_; }

 private:
  uint64_t alignment_;
  uint64_t size_ = 0;
};

}  // namespace

uint64_t Plan::bytes(BufferKind kind) const {
  uint64_t sum = 0;
  for (const BufferPlan& buffer : buffers) sum += buffer.kind == kind ? buffer.size : 0;
  return sum;
}

Result<Plan> make_plan(Graph graph, const Capabilities& caps, const PlanOptions& options) {
  ETWG_TRY(check_graph(graph));
  Plan plan;
  plan.nodes_before_passes = count_working_nodes(graph);

  LiveValues live(graph);
  ETWG_TRY(infer_maxima(graph, live));
  widen_bounds(graph, live);

  PassOptions pass_options;
  pass_options.fuse = options.fuse;
  pass_options.max_bindings = caps.max_storage_buffers_per_stage;
  run_passes(graph, traits_of, pass_options);
  plan.nodes_after_passes = count_working_nodes(graph);

  ETWG_ASSIGN(LoweredGraph lowered, lower_graph(std::move(graph), caps));
  ETWG_TRY(check_variants(lowered, LiveValues(lowered.graph)));
  ETWG_TRY(WrittenBeforeRead(lowered).check());
  ETWG_TRY(plan_memory(lowered, caps, plan));
  ParamsArena arena(caps);
  for (Dispatch& dispatch : lowered.once) plan.once.push_back(arena.place({std::move(dispatch)}));
  for (Step& step : lowered.steps) plan.steps.push_back(arena.place(std::move(step.variants)));
  plan.params_size = arena.size();
  plan.graph = std::move(lowered.graph);
  for (const Node& node : plan.graph.nodes) collect_shape_steps(node, plan.shape_steps);
  return plan;
}

Status infer_shapes(const Plan& plan, LiveValues& live) {
  for (const ShapeStep& step : plan.shape_steps) {
    ETWG_TRY(run_shape_rule(plan.graph, *step.op, *step.node, live));
    for (ValueId id : step.node->outputs) {
      const Tensor* tensor = plan.graph.tensor(id);
      if (tensor == nullptr) continue;
      const Shape& dims = live.dims(id);
      // Kernels are made for the rank, and buffers for the number of elements.
      if (dims.rank() == tensor->max_dims.rank() && dims.numel() <= tensor->max_dims.numel()) {
        continue;
      }
      return NodeView(plan.graph, *step.node)
          .error(ErrorCode::kInvalidArgument, "live sizes {} exceed the maximum {}",
                 to_string(dims), to_string(tensor->max_dims));
    }
  }
  return {};
}

}  // namespace executorch::backends::webgpu
