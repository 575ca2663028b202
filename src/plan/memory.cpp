#include "plan/memory.h"

#include <algorithm>

#include "base/checked.h"

namespace executorch::backends::webgpu {

namespace {

constexpr uint64_t kPadding = 16;                // kernels read and write whole vec4<f32>
constexpr uint64_t kPooledConstant = 256 << 10;  // smaller constants share buffers
constexpr uint64_t kPoolBytes = 16 << 20;

// First and last step that touches a storage, as indices into the steps.
struct Lifetime {
  int64_t first = INT64_MAX;
  int64_t last = -1;
  bool in_steps() const { return last >= 0; }
  void touch(int64_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
};

class MemoryPlanner {
 public:
  MemoryPlanner(const LoweredGraph& lowered, const Capabilities& caps, Plan& plan)
      : lowered_(lowered),
        caps_(caps),
        plan_(plan),
        lifetimes_(count()),
        used_(count()),
        sizes_(count()) {}

  Status run() {
    measure();
    find_lifetimes();
    ETWG_TRY(place_lasting());
    ETWG_TRY(place_activations());
    return place_values();
  }

 private:
  size_t count() const { return lowered_.graph.values.size(); }
  ValueId root(ValueId value) const { return lowered_.root[static_cast<size_t>(value)]; }

  static uint64_t bytes_of(const Tensor& tensor) {
    return round_up(static_cast<uint64_t>(tensor.max_dims.numel()) * size_of(tensor.dtype),
                    kPadding);
  }

  // Each storage must have room for every value that lies in it.
  void measure() {
    for (size_t i = 0; i < count(); ++i) {
      const Tensor* tensor = lowered_.graph.tensor(static_cast<ValueId>(i));
      if (tensor == nullptr) continue;
      uint64_t& size = sizes_[static_cast<size_t>(lowered_.root[i])];
      size = std::max({size, bytes_of(*tensor), kPadding});
    }
  }

  void find_lifetimes() {
    const auto touch = [&](ValueId value, int64_t step) {
      lifetimes_[static_cast<size_t>(root(value))].touch(step);
    };
    int64_t step = 0;
    const auto last_step = static_cast<int64_t>(lowered_.steps.size());
    for (const Step& s : lowered_.steps) {
      for (const Dispatch& variant : s.variants) {
        for (const Binding& binding : variant.bindings) touch(binding.value, step);
      }
      ++step;
    }
    // Inputs are written before the first step, outputs read after the last.
    for (ValueId id : lowered_.graph.inputs) {
      if (lowered_.graph.tensor(id) == nullptr) continue;
      if (lifetimes_[static_cast<size_t>(root(id))].in_steps()) touch(id, -1);
    }
    for (ValueId id : lowered_.graph.outputs) {
      if (lowered_.graph.tensor(id) == nullptr) continue;
      touch(id, last_step);
      if (is_input(id)) touch(id, -1);
    }
    for (const Dispatch& dispatch : lowered_.once) {
      for (const Binding& binding : dispatch.bindings) {
        used_[static_cast<size_t>(root(binding.value))] = true;
      }
    }
  }

  bool is_input(ValueId value) const {
    for (ValueId id : lowered_.graph.inputs) {
      if (lowered_.graph.tensor(id) != nullptr && root(id) == root(value)) return true;
    }
    return false;
  }

  std::string label(ValueId value) const {
    const Tensor& tensor = *lowered_.graph.tensor(value);
    return fmt::format("value {} ({} {})", value, name_of(tensor.dtype),
                       to_string(tensor.max_dims));
  }

  Result<uint32_t> add_buffer(uint64_t size, BufferKind kind, std::string label) {
    if (size > caps_.max_buffer_size) {
      return fail(ErrorCode::kOutOfMemory,
                  "{} needs {} bytes, but a buffer of this device holds at most {}", label, size,
                  caps_.max_buffer_size);
    }
    plan_.buffers.push_back({size, kind, std::move(label)});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }

  // Constants, state, and what the load stage makes.
  Status place_lasting() {
    roots_.resize(count());
    uint32_t pool = kNoBuffer;
    for (size_t i = 0; i < count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const Tensor* tensor = lowered_.graph.tensor(id);
      if (tensor == nullptr || root(id) != id) continue;
      const bool in_steps = lifetimes_[i].in_steps();
      if (!in_steps && !used_[i]) continue;
      if (tensor->constant >= 0) {
        const BufferKind kind = in_steps ? BufferKind::kConstant : BufferKind::kLoadOnly;
        Place place;
        place.size = sizes_[i];
        if (kind == BufferKind::kConstant && sizes_[i] < kPooledConstant && !lowered_.mutated[i]) {
          uint64_t offset = 0;
          if (pool != kNoBuffer) {
            offset = round_up(plan_.buffers[pool].size, caps_.min_storage_offset_alignment);
          }
          if (pool == kNoBuffer || offset + sizes_[i] > kPoolBytes) {
            ETWG_ASSIGN(pool, add_buffer(0, kind, "small constants"));
            offset = 0;
          }
          plan_.buffers[pool].size = offset + sizes_[i];
          place.buffer = pool;
          place.offset = offset;
        } else {
          ETWG_ASSIGN(place.buffer, add_buffer(sizes_[i], kind, "constant " + label(id)));
        }
        roots_[i] = place;
        plan_.constants.push_back({static_cast<uint32_t>(tensor->constant), place});
      } else if (lowered_.constant[i] || lowered_.mutated[i]) {
        const bool lasts = in_steps || lowered_.mutated[i];
        const BufferKind kind = lasts ? BufferKind::kPersistent : BufferKind::kLoadOnly;
        ETWG_ASSIGN(roots_[i].buffer, add_buffer(sizes_[i], kind, label(id)));
        roots_[i].size = sizes_[i];
      }
    }
    return {};
  }

  // Linear scan over the steps: a value takes the free buffer that fits best, growing the largest
  // one if none does, and gives it back after its last step.
  Status place_activations() {
    std::vector<ValueId> order;
    for (size_t i = 0; i < count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (lowered_.graph.tensor(id) == nullptr || root(id) != id) continue;
      if (lifetimes_[i].in_steps() && roots_[i].buffer == kNoBuffer) order.push_back(id);
    }
    std::stable_sort(order.begin(), order.end(), [&](ValueId a, ValueId b) {
      return lifetimes_[static_cast<size_t>(a)].first < lifetimes_[static_cast<size_t>(b)].first;
    });
    std::vector<std::pair<uint32_t, int64_t>> in_use;  // buffer, last step
    std::vector<uint32_t> free;
    for (ValueId id : order) {
      const Lifetime& life = lifetimes_[static_cast<size_t>(id)];
      const uint64_t size = sizes_[static_cast<size_t>(id)];
      for (auto it = in_use.begin(); it != in_use.end();) {
        if (it->second < life.first) {
          free.push_back(it->first);
          it = in_use.erase(it);
        } else {
          ++it;
        }
      }
      const auto best = std::min_element(free.begin(), free.end(), [&](uint32_t a, uint32_t b) {
        const uint64_t size_a = plan_.buffers[a].size, size_b = plan_.buffers[b].size;
        const bool fits_a = size_a >= size, fits_b = size_b >= size;
        if (fits_a != fits_b) return fits_a;
        return fits_a ? size_a < size_b : size_a > size_b;
      });
      uint32_t buffer = kNoBuffer;
      if (best != free.end() && size <= caps_.max_buffer_size) {
        buffer = *best;
        free.erase(best);
        plan_.buffers[buffer].size = std::max(plan_.buffers[buffer].size, size);
      } else {
        ETWG_ASSIGN(buffer, add_buffer(size, BufferKind::kActivation, label(id)));
      }
      roots_[static_cast<size_t>(id)] = {buffer, 0, size};
      in_use.emplace_back(buffer, life.last);
    }
    return {};
  }

  Status place_values() {
    plan_.places.resize(count());
    for (size_t i = 0; i < count(); ++i) {
      const Tensor* tensor = lowered_.graph.tensor(static_cast<ValueId>(i));
      if (tensor == nullptr) continue;
      const Place& base = roots_[static_cast<size_t>(lowered_.root[i])];
      if (base.buffer == kNoBuffer) continue;
      plan_.places[i] = {base.buffer, base.offset, std::max(bytes_of(*tensor), kPadding)};
    }
    const auto check = [&](const Dispatch& dispatch) -> Status {
      for (const Binding& binding : dispatch.bindings) {
        const uint64_t size = plan_.places[static_cast<size_t>(binding.value)].size;
        if (size <= caps_.max_storage_binding_size) continue;
        return fail(
            ErrorCode::kOutOfMemory,
            "{} (node {}): {} has {} bytes, but one binding of this device covers at most {}",
            dispatch.op, dispatch.debug_id, label(binding.value), size,
            caps_.max_storage_binding_size);
      }
      if (dispatch.bindings.size() > caps_.max_storage_buffers_per_stage) {
        return fail(ErrorCode::kNotSupported,
                    "{} (node {}): kernel {} binds {} buffers, this device allows {}", dispatch.op,
                    dispatch.debug_id, dispatch.kernel, dispatch.bindings.size(),
                    caps_.max_storage_buffers_per_stage);
      }
      const uint64_t params = uint64_t{4} * dispatch.params.size();
      if (params > caps_.max_uniform_binding_size) {
        return fail(ErrorCode::kNotSupported,
                    "{} (node {}): kernel {} has {} bytes of params, this device allows {}",
                    dispatch.op, dispatch.debug_id, dispatch.kernel, params,
                    caps_.max_uniform_binding_size);
      }
      return {};
    };
    for (const Dispatch& dispatch : lowered_.once) ETWG_TRY(check(dispatch));
    for (const Step& step : lowered_.steps) {
      for (const Dispatch& variant : step.variants) ETWG_TRY(check(variant));
    }
    return {};
  }

  const LoweredGraph& lowered_;
  const Capabilities& caps_;
  Plan& plan_;
  std::vector<Lifetime> lifetimes_;  // by root
  std::vector<bool> used_;           // by root: bound by a dispatch of the load stage
  std::vector<uint64_t> sizes_;      // by root
  std::vector<Place> roots_;         // by root
};

}  // namespace

Status plan_memory(const LoweredGraph& lowered, const Capabilities& caps, Plan& plan) {
  return MemoryPlanner(lowered, caps, plan).run();
}

}  // namespace executorch::backends::webgpu
