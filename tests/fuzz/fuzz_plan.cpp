// Fuzzes all that is behind the payload reader and needs no GPU: operators' checks, shape rules and
// lowering, passes, the planner. A graph is refused or gives a plan that keeps WebGPU's rules, and
// whose sizes, grids and parameters can be worked out for any live sizes that the shape rules take.
//
// The corpus may hold delegate blobs or whole .pte files, with edits behind them (graph_edits.h).

#include <cstring>
#include <random>

#include "graph_edits.h"
#include "payload/payload.h"
#include "plan_invariants.h"
#include "program/program.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace executorch::backends::webgpu {
namespace {

Capabilities rich() {
  Capabilities caps;
  caps.max_storage_binding_size = caps.max_buffer_size = uint64_t{1} << 32;
  caps.max_storage_buffers_per_stage = 16;
  caps.max_invocations_per_workgroup = caps.max_workgroup_size_x = 1024;
  caps.max_workgroup_storage = 48u << 10;
  caps.min_storage_offset_alignment = caps.min_uniform_offset_alignment = 32;
  caps.subgroup_min_size = caps.subgroup_max_size = 32;
  caps.f16 = caps.subgroups = caps.packed_dot = true;
  return caps;
}

// Live sizes below the maxima, some of them 0.
void shrink_inputs(const Plan& plan, LiveValues& live, std::minstd_rand& random) {
  for (ValueId id : plan.graph.inputs) {
    const Tensor* tensor = plan.graph.tensor(id);
    if (tensor == nullptr) {
      live.set_integer(id, static_cast<int64_t>(random() % 7) - 1);
      continue;
    }
    Shape dims = tensor->max_dims;
    for (int d = 0; d < dims.rank(); ++d) {
      if (random() % 4 == 0) dims[d] = static_cast<int64_t>(random()) % (dims[d] + 1);
    }
    live.set_dims(id, dims);
  }
}

void check_plan(const Graph& graph, const Capabilities& caps, bool fuse, uint32_t seed) {
  const auto plan = make_plan(graph, caps, {.fuse = fuse});
  if (!plan) {
    require(plan.error().code != ErrorCode::kInternal, plan.error().message.c_str());
    return;
  }
  require_invariants(*plan, caps);
  std::minstd_rand random(seed);
  for (int i = 0; i < 3; ++i) {
    LiveValues live(plan->graph);
    if (i > 0) shrink_inputs(*plan, live, random);
    if (infer_shapes(*plan, live)) evaluate(*plan, live);
  }
}

void check_blob(Bytes blob, std::span<const uint8_t> edits) {
  auto payload = parse_payload(blob);
  if (!payload) return;
  edit_graph(payload->graph, edits);
  require_invariants(*payload);
  const auto seed = static_cast<uint32_t>(blob.size());
  check_plan(payload->graph, Capabilities(), true, seed);
  check_plan(payload->graph, rich(), edits.size() % 16 != 0, seed);
}

}  // namespace
}  // namespace executorch::backends::webgpu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace executorch::backends::webgpu;
  const auto edits = edits_of({data, size});
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  check_blob(bytes, edits);
  if (const auto program = Program::parse(bytes)) {
    for (const Method& method : program->methods()) {
      for (const Delegate& delegate : method.delegates) check_blob(delegate.blob, edits);
    }
  }
  return 0;
}

// Mostly makes and alters edits; now and then bytes, as libFuzzer does it.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  using namespace executorch::backends::webgpu;
  std::minstd_rand random(seed);
  const size_t edits = edits_of({data, size}).size();
  const bool has_trailer = size >= kTrailerBytes && std::memcmp(data + size - 4, "EDT", 3) == 0;
  const size_t plain = has_trailer ? size - kTrailerBytes - edits : size;
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, plain, max_size);
  size_t count = edits / kEditBytes;
  const bool add = count == 0 || (count < 12 && random() % 3 == 0);
  if (add && plain + (count + 1) * kEditBytes + kTrailerBytes <= max_size) ++count;
  if (count == 0) return LLVMFuzzerMutate(data, size, max_size);
  uint8_t* edit = data + plain + (add ? count - 1 : random() % count) * kEditBytes;
  const size_t from = add ? 0 : random() % kEditBytes;
  const size_t to = add ? kEditBytes : from + 1;
  for (size_t i = from; i < to; ++i) edit[i] = static_cast<uint8_t>(random());
  // Most graphs and tables are short.
  if (random() % 2 == 0) edit[3] = edit[5] = edit[6] = edit[7] = 0;
  uint8_t* trailer = data + plain + count * kEditBytes;
  std::memcpy(trailer, "EDT", 3);
  trailer[3] = static_cast<uint8_t>(count);
  return plain + count * kEditBytes + kTrailerBytes;
}
