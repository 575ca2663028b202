// A run that has been seen before allocates nothing for each of its dispatches.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "gpu_test_util.h"

// The ends of the executable's code, from the linker.
extern const char __executable_start, etext;

namespace {

std::atomic<size_t> allocations{0};

}  // namespace

// Replaces the operator for all libraries of the process, WebGPU's among them; those that the code
// of this executable makes are counted. Not inlined: g++ would warn of memory from new that goes to
// free.
[[gnu::noinline]] void* operator new(size_t size) {
  const char* caller = static_cast<const char*>(__builtin_return_address(0));
  if (caller >= &__executable_start && caller < &etext) ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace executorch::backends::webgpu {
namespace {

// A chain of `length` operators, each a dispatch of its own.
Graph chain(int length) {
  Graph graph;
  Tensor tensor;
  tensor.max_dims = Shape{64};
  ValueId value = graph.add(tensor);
  graph.inputs = {value};
  for (int i = 0; i < length; ++i) {
    Node node;
    node.op = "aten.neg.default";
    node.args = {value};
    value = graph.add(tensor);
    node.outputs = {value};
    graph.nodes.push_back(node);
  }
  graph.outputs = {value};
  return graph;
}

size_t allocations_of_a_run(int length) {
  PlanOptions one_dispatch_each;
  one_dispatch_each.fuse = false;
  auto executable = load_graph(chain(length), {}, {}, one_dispatch_each);
  std::vector<float> in(64, 1.5f), out(64);
  const HostInput inputs[] = {HostTensorView{in.data(), DType::kFloat32, {64}}};
  const Executable::HostOutput outputs[] = {{out.data(), DType::kFloat32}};
  size_t before = 0;
  for (int run = 0; run < 4; ++run) {
    before = allocations;
    EXPECT_TRUE(executable->run(inputs, outputs));
  }
  EXPECT_EQ(executable->dispatch_count(), static_cast<size_t>(length));
  EXPECT_EQ(out[0], length % 2 == 0 ? 1.5f : -1.5f);
  return allocations - before;
}

TEST(Allocation, DoesNotGrowWithDispatches) {
  const size_t few = allocations_of_a_run(4);
  EXPECT_GT(allocations, 0u);
  EXPECT_EQ(allocations_of_a_run(104), few);
}

}  // namespace
}  // namespace executorch::backends::webgpu
