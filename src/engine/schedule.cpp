#include "engine/schedule.h"

#include <cstring>
#include <mutex>

#include "base/checked.h"

namespace executorch::backends::webgpu {

std::optional<std::pair<uint32_t, uint32_t>> fold_workgroups(uint64_t count, uint32_t max_per_dim) {
  if (count <= max_per_dim) return std::pair(static_cast<uint32_t>(count), 1u);
  const uint64_t rows = div_up(count, max_per_dim);
  if (rows > max_per_dim) return std::nullopt;
  // As even as possible, so that few workgroups are idle.
  return std::pair(static_cast<uint32_t>(div_up(count, rows)), static_cast<uint32_t>(rows));
}

Schedule::Schedule(Device& device, const Resources& resources, const Plan& plan,
                   const std::vector<PlannedStep>& steps, bool waits)
    : device_(device),
      resources_(resources),
      plan_(plan),
      steps_(steps),
      waits_(waits),
      slots_(steps.size()) {}

size_t Schedule::variant_for(const PlannedStep& step, const LiveValues& live) {
  size_t i = 0;
  while (i + 1 < step.variants.size() && step.variants[i].dispatch.applies &&
         !step.variants[i].dispatch.applies(live)) {
    ++i;
  }
  return i;
}

// The first variant that is right for the sizes and compiled; the last one always is both.
size_t Schedule::ready_variant(size_t step, const LiveValues& live) {
  const auto& variants = steps_[step].variants;
  const size_t best = variant_for(steps_[step], live);
  if (waits_) return best;
  size_t i = best;
  while (i + 1 < variants.size() &&
         !((!variants[i].dispatch.applies || variants[i].dispatch.applies(live)) &&
           slots_[step][i].pipeline->compiled().ready())) {
    ++i;
  }
  settled_ = settled_ && i == best;
  return i;
}

Status Schedule::request(size_t step, size_t variant) {
  auto& slots = slots_[step];
  slots.resize(steps_[step].variants.size());
  if (slots[variant].pipeline != nullptr) return {};
  const Dispatch& dispatch = steps_[step].variants[variant].dispatch;
  std::vector<BindingKind> kinds;
  for (const Binding& binding : dispatch.bindings) {
    kinds.push_back(binding.access == Access::kRead ? BindingKind::kReadOnlyStorage
                                                    : BindingKind::kStorage);
  }
  if (!dispatch.params.empty()) kinds.push_back(BindingKind::kUniform);
  PipelineDesc desc;
  desc.label = dispatch.kernel;
  desc.source = dispatch.source;
  desc.bindings = kinds;
  ETWG_ASSIGN(slots[variant].pipeline, device_.pipelines().get(desc));
  return {};
}

Status Schedule::request_pipelines(const LiveValues& live, bool all) {
  for (size_t i = 0; i < steps_.size(); ++i) ETWG_TRY(request(i, variant_for(steps_[i], live)));
  if (!all && waits_) return {};
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (size_t v = 0; v < steps_[i].variants.size(); ++v) ETWG_TRY(request(i, v));
  }
  return {};
}

Completion Schedule::compiled(const LiveValues& live) const {
  // One completion for many: the last one to finish finishes it.
  struct Count {
    std::mutex mutex;
    size_t left = 1;
    Status status;
  };
  auto count = std::make_shared<Count>();
  Completion all;
  const auto finish_one = [count, all](const Status& status) {
    std::unique_lock<std::mutex> guard(count->mutex);
    if (!status && count->status) count->status = status;
    if (--count->left > 0) return;
    const Status outcome = count->status;
    guard.unlock();
    all.finish(outcome);
  };
  const auto add = [&](const Slot& slot) {
    {
      const std::lock_guard<std::mutex> guard(count->mutex);
      ++count->left;
    }
    slot.pipeline->compiled().on_done(finish_one);
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    add(slots_[i][variant_for(steps_[i], live)]);
    if (!waits_) add(slots_[i].back());
  }
  finish_one({});
  return all;
}

Status Schedule::wait_compiled(const LiveValues& live) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    ETWG_TRY(slots_[i][variant_for(steps_[i], live)].pipeline->compiled().wait());
  }
  return {};
}

// Makes a variant recordable: pipeline compiled, bind group made.
Status Schedule::prepare(size_t step, size_t variant) {
  ETWG_TRY(request(step, variant));
  Slot& slot = slots_[step][variant];
  ETWG_TRY(slot.pipeline->compiled().wait());
  if (slot.bind_group) return {};
  const PlannedDispatch& planned = steps_[step].variants[variant];
  std::vector<BindingEntry> entries;
  for (const Binding& binding : planned.dispatch.bindings) {
    entries.push_back(resources_.binding(plan_.places[static_cast<size_t>(binding.value)]));
  }
  if (!planned.dispatch.params.empty()) {
    entries.push_back({resources_.params().handle(), planned.params_offset,
                       round_up(planned.dispatch.params.size() * 4, 16)});
  }
  ETWG_ASSIGN(slot.bind_group,
              create_bind_group(device_, *slot.pipeline, entries, planned.dispatch.kernel));
  return {};
}

Status Schedule::select(const LiveValues& live, std::vector<std::byte>& params) {
  ready_.clear();
  settled_ = true;
  const uint32_t max_per_dim = device_.capabilities().max_workgroups_per_dimension;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const size_t variant = ready_variant(i, live);
    const PlannedDispatch& planned = steps_[i].variants[variant];
    const Dispatch& dispatch = planned.dispatch;
    const uint64_t count = dispatch.workgroups(live);
    if (count == 0) continue;
    ETWG_TRY(prepare(i, variant));
    const auto grid = fold_workgroups(count, max_per_dim);
    if (!grid) {
      return fail(ErrorCode::kNotSupported, "{} (node {}): kernel {} needs {} workgroups, too many",
                  dispatch.op, dispatch.debug_id, dispatch.kernel, count);
    }
    for (size_t word = 0; word < dispatch.params.size(); ++word) {
      const uint32_t value = dispatch.params[word](live);
      std::memcpy(params.data() + planned.params_offset + word * 4, &value, sizeof(value));
    }
    const Slot& slot = slots_[i][variant];
    ready_.push_back(
        {slot.pipeline->handle(), slot.bind_group.get(), grid->first, grid->second, &dispatch});
  }
  return {};
}

}  // namespace executorch::backends::webgpu
