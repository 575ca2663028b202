#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gpu/api.h"

namespace executorch::backends::webgpu {

// The outcome of something the GPU does later: a mapping, a queue's work, a pipeline, an adapter.
// Copies share one outcome. Thread-safe. The callback that WebGPU calls may come from any thread.
class Completion {
 public:
  using Callback = std::function<void(const Status&)>;

  // A completion that something will finish: once, by `finish`.
  Completion();
  // One that is finished already.
  static Completion done(Status status = {});

  bool ready() const;

  // Blocks until finished and returns the outcome. Where blocking is impossible (a browser), the
  // outcome if it is there, kNotSupported otherwise: use on_done there.
  Status wait() const;

  // Calls `callback` with the outcome: at once if finished, else from the thread that finishes it.
  // Natively that thread may hold a device's lock, so keep the callback short and pass real work
  // on; in a browser it runs from the event loop and may do anything.
  void on_done(Callback callback) const;

  // For those who start the operation: the first call decides the outcome, later ones do nothing.
  void finish(Status status) const;
  // The future to block on in wait(). An operation may have several.
  void add_future(WGPUFuture future) const;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Status> outcome;
    std::vector<Callback> callbacks;
    std::vector<WGPUFuture> futures;
  };
  std::shared_ptr<State> state_;
};

}  // namespace executorch::backends::webgpu
