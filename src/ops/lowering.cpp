#include "ops/lowering.h"

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "kernels/kernel_builder.h"

namespace executorch::backends::webgpu {

namespace {

// Folding a node into the load stage keeps its output in memory for good; above this size that
// costs more than computing it again.
constexpr int64_t kMaxFoldedElements = 1 << 22;

void for_each_tensor(const Graph& graph, ValueId id, const std::function<void(ValueId)>& visit) {
  if (graph.tensor(id) != nullptr) {
    visit(id);
  } else if (const auto* list = std::get_if<ValueList>(&graph.value(id))) {
    for (ValueId item : list->items) for_each_tensor(graph, item, visit);
  }
}

bool reads_symbols(const Graph& graph, ValueId id) {
  if (std::holds_alternative<SymInt>(graph.value(id))) return true;
  const auto* list = std::get_if<ValueList>(&graph.value(id));
  if (list == nullptr) return false;
  for (ValueId item : list->items) {
    if (reads_symbols(graph, item)) return true;
  }
  return false;
}

// Values that a node writes although something wrote them before (a cache updated in place).
std::vector<bool> find_mutated(const Graph& graph) {
  std::vector<bool> defined(graph.values.size()), mutated(graph.values.size());
  for (ValueId id : graph.inputs) defined[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Tensor* tensor = graph.tensor(static_cast<ValueId>(i));
    if (tensor != nullptr && tensor->constant >= 0) defined[i] = true;
  }
  const auto visit = [&](const Node& node) {
    for (ValueId id : node.args) {
      for_each_tensor(graph, id, [&](ValueId t) { defined[static_cast<size_t>(t)] = true; });
    }
    for (ValueId id : node.outputs) {
      if (defined[static_cast<size_t>(id)]) mutated[static_cast<size_t>(id)] = true;
      defined[static_cast<size_t>(id)] = true;
    }
  };
  for (const Node& node : graph.nodes) {
    visit(node);
    for (const Node& follower : node.followers) visit(follower);
  }
  return mutated;
}

std::vector<bool> find_read(const Graph& graph) {
  std::vector<bool> read(graph.values.size());
  const auto visit = [&](const Node& node) {
    for (ValueId id : node.args) {
      for_each_tensor(graph, id, [&](ValueId t) { read[static_cast<size_t>(t)] = true; });
    }
  };
  for (ValueId id : graph.outputs) read[static_cast<size_t>(id)] = true;
  for (const Node& node : graph.nodes) {
    visit(node);
    for (const Node& follower : node.followers) visit(follower);
  }
  return read;
}

}  // namespace

Lowering::Lowering(Graph graph, const Capabilities& caps) : caps_(caps), maxima_(graph) {
  out_.mutated = find_mutated(graph);
  read_ = find_read(graph);
  out_.root.resize(graph.values.size(), kNoValue);
  out_.constant.resize(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Tensor* tensor = graph.tensor(static_cast<ValueId>(i));
    if (tensor == nullptr) continue;
    out_.root[i] = static_cast<ValueId>(i);
    out_.constant[i] = tensor->constant >= 0;
  }
  out_.graph = std::move(graph);
}

void Lowering::begin(const Node& node) {
  node_ = &node;
  std::vector<ValueId> written = node.outputs;
  for (const Node& follower : node.followers) written.push_back(follower.outputs[0]);
  const auto is_own = [&](ValueId id) {
    return std::find(written.begin(), written.end(), id) != written.end();
  };

  // Fold: the node yields the same in every run when all that it reads does.
  once_ = graph().tensor(node.result()) != nullptr &&
          graph().tensor(node.result())->max_dims.numel() <= kMaxFoldedElements;
  for (ValueId id : written) once_ = once_ && !out_.mutated[static_cast<size_t>(id)];
  const auto scan = [&](const Node& part) {
    for (ValueId arg : part.args) {
      if (reads_symbols(graph(), arg)) once_ = false;
      for_each_tensor(graph(), arg,
                      [&](ValueId t) { once_ = once_ && (is_own(t) || is_constant(t)); });
    }
  };
  scan(node);
  for (const Node& follower : node.followers) scan(follower);
  if (!once_) return;
  for (ValueId id : written) out_.constant[static_cast<size_t>(id)] = true;
}

void Lowering::initialize(ValueId state, ValueId constant) {
  if (!out_.mutated[static_cast<size_t>(state)]) {
    alias(state, constant);
  } else {
    emit({copy_words(constant, state)}, /*once=*/true);
  }
}

bool Lowering::is_constant(ValueId value) const {
  return out_.constant[static_cast<size_t>(value)] && !out_.mutated[static_cast<size_t>(value)];
}

void Lowering::alias(ValueId view, ValueId base) {
  const ValueId root_id = root(base);
  if (out_.mutated[static_cast<size_t>(view)] || out_.mutated[static_cast<size_t>(root_id)]) {
    emit({copy_words(base, view)}, once_);
    return;
  }
  out_.root[static_cast<size_t>(view)] = root_id;
  if (is_constant(root_id)) out_.constant[static_cast<size_t>(view)] = true;
}

ValueId Lowering::add_tensor(DType dtype, const Shape& max_dims, bool constant) {
  Tensor tensor;
  tensor.dtype = tensor.staging = dtype;
  tensor.max_dims = max_dims;
  const ValueId id = out_.graph.add(tensor);
  out_.root.push_back(id);
  maxima_.append(max_dims);
  out_.constant.push_back(constant);
  out_.mutated.push_back(false);
  return id;
}

ValueId Lowering::scratch(DType dtype, const Shape& max_dims) {
  return add_tensor(dtype, max_dims, once_);
}

ValueId Lowering::prepacked(DType dtype, const Shape& max_dims) {
  return add_tensor(dtype, max_dims, /*constant=*/true);
}

Dispatch Lowering::copy_words(ValueId from, ValueId to) const {
  const Tensor& target = *graph().tensor(to);
  const uint64_t bytes = static_cast<uint64_t>(target.max_dims.numel()) * size_of(target.dtype);
  KernelBuilder kernel(graph(), caps_, "copy", Lanes::k1);
  kernel.raw_input("source", from, "u32");
  kernel.raw_output("destination", to, "u32");
  kernel.param("words",
               [bytes](const LiveValues&) { return static_cast<uint32_t>(div_up(bytes, 4)); });
  kernel.body("copy_words");
  kernel.invocations([bytes](const LiveValues&) { return div_up(bytes, 4); });
  return kernel.finish();
}

void Lowering::add(Dispatch dispatch) { add(std::vector<Dispatch>{std::move(dispatch)}); }

void Lowering::add(std::vector<Dispatch> variants) { emit(std::move(variants), once_); }

void Lowering::add(const std::function<Dispatch(bool general)>& build) {
  std::vector<Dispatch> variants{build(false)};
  if (variants[0].applies) variants.push_back(build(true));
  add(std::move(variants));
}

void Lowering::add_once(Dispatch dispatch) { emit({std::move(dispatch)}, /*once=*/true); }

// WebGPU forbids a buffer to be read-only and writable in one dispatch: reads go to a copy, one for
// all variants.
void Lowering::separate_reads(std::vector<Dispatch>& variants, bool once) {
  std::map<ValueId, ValueId> copies;
  for (Dispatch& dispatch : variants) {
    for (Binding& read : dispatch.bindings) {
      if (read.access != Access::kRead) continue;
      const bool written = std::any_of(
          dispatch.bindings.begin(), dispatch.bindings.end(), [&](const Binding& other) {
            return other.access == Access::kReadWrite && root(other.value) == root(read.value);
          });
      if (!written) continue;
      const auto [copy, is_new] = copies.try_emplace(read.value, kNoValue);
      if (is_new) {
        const Tensor tensor = *graph().tensor(read.value);
        copy->second = add_tensor(tensor.dtype, tensor.max_dims, once);
        emit({copy_words(read.value, copy->second)}, once);
      }
      read.value = copy->second;
    }
  }
}

void Lowering::emit(std::vector<Dispatch> variants, bool once) {
  separate_reads(variants, once);
  for (Dispatch& dispatch : variants) {
    dispatch.debug_id = node_->debug_id;
    dispatch.op = node_->op;
  }
  if (!once) {
    out_.steps.push_back({std::move(variants)});
    return;
  }
  // What runs at load has its maximum sizes: one variant is enough.
  const auto fits = [this](const Dispatch& dispatch) {
    return !dispatch.applies || dispatch.applies(maxima_);
  };
  const auto first = std::find_if(variants.begin(), variants.end() - 1, fits);
  out_.once.push_back(std::move(*first));
}

}  // namespace executorch::backends::webgpu
