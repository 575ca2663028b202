#pragma once

#include "invariants.h"
#include "plan/plan.h"

namespace executorch::backends::webgpu {

// Ends the process, saying why, unless a plan keeps WebGPU's rules and its own places.
inline void require_invariants(const PlannedDispatch& planned, const Plan& plan,
                               const Capabilities& caps) {
  const Dispatch& dispatch = planned.dispatch;
  require(!dispatch.kernel.empty() && !dispatch.source.empty(), "kernel has a source");
  require(dispatch.workgroups != nullptr, "dispatch has a grid");
  require(dispatch.bindings.size() <= caps.max_storage_buffers_per_stage, "number of bindings");
  require(planned.params_offset % caps.min_uniform_offset_alignment == 0 &&
              planned.params_offset + dispatch.params.size() * 4 <= plan.params_size,
          "params in the arena");
  for (const Binding& binding : dispatch.bindings) {
    require(plan.graph.tensor(binding.value) != nullptr, "binding is a tensor");
    const Place& place = plan.places[static_cast<size_t>(binding.value)];
    require(place.buffer != kNoBuffer, "binding has a place");
    require(place.offset % caps.min_storage_offset_alignment == 0, "binding is aligned");
    require(place.size > 0 && place.size <= caps.max_storage_binding_size, "binding size");
    for (const Binding& other : dispatch.bindings) {
      if (&other == &binding) continue;
      require(plan.places[static_cast<size_t>(other.value)].buffer != place.buffer ||
                  (binding.access == Access::kRead && other.access == Access::kRead),
              "a buffer is not written and bound again in one dispatch");
    }
  }
}

inline void require_invariants(const Plan& plan, const Capabilities& caps) {
  require(plan.places.size() == plan.graph.values.size(), "a place for each value");
  for (size_t i = 0; i < plan.places.size(); ++i) {
    const Place& place = plan.places[i];
    if (place.buffer == kNoBuffer) continue;
    require(place.buffer < plan.buffers.size(), "buffer in range");
    const uint64_t size = plan.buffers[place.buffer].size;
    require(size <= caps.max_buffer_size, "buffer size");
    require(place.offset <= size && place.size <= size - place.offset, "place in its buffer");
    const Tensor& tensor = *plan.graph.tensor(static_cast<ValueId>(i));
    require(static_cast<uint64_t>(tensor.max_dims.numel()) * size_of(tensor.dtype) <= place.size,
            "place is large enough");
  }
  for (const ConstantPlan& constant : plan.constants) {
    require(constant.constant < plan.graph.constants.size(), "constant in range");
    require(plan.graph.constants[constant.constant].nbytes <= constant.place.size,
            "room for a constant");
  }
  for (const auto* steps : {&plan.once, &plan.steps}) {
    for (const PlannedStep& step : *steps) {
      require(!step.variants.empty(), "a step has a variant");
      for (const PlannedDispatch& variant : step.variants) {
        require_invariants(variant, plan, caps);
      }
    }
  }
  for (const PlannedStep& step : plan.once) {
    require(step.variants.size() == 1, "one variant at load");
  }
  for (const PlannedStep& step : plan.steps) {
    require(step.variants.back().dispatch.applies == nullptr, "a variant for all sizes");
  }
}

// What a run works out on the host from live sizes.
inline void evaluate(const Plan& plan, const LiveValues& live) {
  for (const auto* steps : {&plan.once, &plan.steps}) {
    for (const PlannedStep& step : *steps) {
      for (const PlannedDispatch& variant : step.variants) {
        const Dispatch& dispatch = variant.dispatch;
        if (dispatch.applies && !dispatch.applies(live)) continue;
        if (dispatch.flops) (void)dispatch.flops(live);
        if (dispatch.workgroups(live) == 0) continue;
        for (const LiveFn& param : dispatch.params) (void)param(live);
        break;
      }
    }
  }
}

}  // namespace executorch::backends::webgpu
