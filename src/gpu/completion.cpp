#include "gpu/completion.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "gpu/adapter.h"

namespace executorch::backends::webgpu {

Completion::Completion() : state_(std::make_shared<State>()) {}

Completion Completion::done(Status status) {
  Completion completion;
  completion.state_->outcome = std::move(status);
  return completion;
}

bool Completion::ready() const {
  std::lock_guard<std::mutex> guard(state_->mutex);
  return state_->outcome.has_value();
}

Status Completion::wait() const {
  std::unique_lock<std::mutex> guard(state_->mutex);
  if (state_->outcome) return *state_->outcome;
#if ETWG_CAN_BLOCK
  const std::vector<WGPUFuture> futures = state_->futures;
  guard.unlock();
  ETWG_ASSIGN(WGPUInstance inst, instance());
  bool timed_waits = true;
  for (WGPUFuture future : futures) {
    WGPUFutureWaitInfo info = {};
    info.future = future;
    if (wgpuInstanceWaitAny(inst, 1, &info, UINT64_MAX) != WGPUWaitStatus_Success) {
      timed_waits = false;
    }
  }
  guard.lock();
  // A future that has resolved may still be running its callback on another thread.
  while (!state_->outcome) {
    if (timed_waits) {
      state_->changed.wait(guard);
    } else {
      guard.unlock();
      wgpuInstanceProcessEvents(inst);
      guard.lock();
      state_->changed.wait_for(guard, std::chrono::microseconds(100),
                               [&] { return state_->outcome.has_value(); });
    }
  }
  return *state_->outcome;
#else
  return fail(ErrorCode::kNotSupported,
              "a GPU operation is still running and this platform cannot wait for it; "
              "use the asynchronous call");
#endif
}

void Completion::on_done(Callback callback) const {
  std::unique_lock<std::mutex> guard(state_->mutex);
  if (!state_->outcome) {
    state_->callbacks.push_back(std::move(callback));
    return;
  }
  guard.unlock();  // an outcome never changes once it is there
  callback(*state_->outcome);
}

void Completion::finish(Status status) const {
  std::vector<Callback> callbacks;
  {
    std::lock_guard<std::mutex> guard(state_->mutex);
    if (state_->outcome) return;
    state_->outcome = std::move(status);
    callbacks.swap(state_->callbacks);
    state_->changed.notify_all();
  }
  for (const Callback& callback : callbacks) callback(*state_->outcome);
}

void Completion::add_future(WGPUFuture future) const {
  std::lock_guard<std::mutex> guard(state_->mutex);
  state_->futures.push_back(future);
}

}  // namespace executorch::backends::webgpu
