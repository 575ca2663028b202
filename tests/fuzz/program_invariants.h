#pragma once

#include "invariants.h"
#include "program/program.h"

namespace executorch::backends::webgpu {

// Ends the process, saying why, unless everything holds that Program promises. `file` is what it
// was parsed from.
inline void require_invariants(const Program& program, Bytes file) {
  const auto inside = [&](Bytes bytes) {
    return bytes.empty() || (bytes.data() >= file.data() &&
                             bytes.data() + bytes.size() <= file.data() + file.size());
  };
  for (const Method& method : program.methods()) {
    const auto in_range = [&](HostId id) {
      return id >= 0 && static_cast<size_t>(id) < method.values.size();
    };
    require(!method.name.empty() && program.method(method.name) == &method, "method has its name");
    for (const HostValue& value : method.values) {
      if (const auto* tensor = std::get_if<HostTensor>(&value)) {
        require(tensor->sizes.numel() >= 0, "element count");
        require(tensor->dim_order.size() == static_cast<size_t>(tensor->sizes.rank()), "dim order");
        require(inside(tensor->data), "tensor data in the file");
        require(tensor->data.empty() ||
                    (tensor->dtype &&
                     tensor->data.size() ==
                         static_cast<uint64_t>(tensor->sizes.numel()) * size_of(*tensor->dtype)),
                "tensor data as long as the tensor");
      } else if (const auto* list = std::get_if<HostIntList>(&value)) {
        for (HostId id : list->items) {
          require(in_range(id) && std::holds_alternative<int64_t>(method.value(id)),
                  "int list item");
        }
      } else if (const auto* tensors = std::get_if<HostTensorList>(&value)) {
        for (HostId id : tensors->items) require(id == -1 || in_range(id), "tensor list item");
      }
    }
    for (HostId id : method.inputs) require(in_range(id), "input in range");
    for (HostId id : method.outputs) require(in_range(id), "output in range");
    for (const Instruction& instruction : method.instructions) {
      if (const auto* call = std::get_if<KernelCall>(&instruction)) {
        require(call->op < method.operators.size(), "operator in range");
        for (HostId id : call->args) require(in_range(id), "kernel argument in range");
      } else if (const auto* call = std::get_if<DelegateCall>(&instruction)) {
        require(call->delegate < method.delegates.size(), "delegate in range");
        for (HostId id : call->args) require(in_range(id), "delegate argument in range");
      } else if (const auto* move = std::get_if<MoveCall>(&instruction)) {
        require(in_range(move->from) && in_range(move->to), "move in range");
      } else if (const auto* jump = std::get_if<JumpFalseCall>(&instruction)) {
        require(in_range(jump->condition) && jump->destination <= method.instructions.size(),
                "jump in range");
      } else if (const auto* free = std::get_if<FreeCall>(&instruction)) {
        require(in_range(free->value), "free in range");
      }
    }
    for (const Delegate& delegate : method.delegates) {
      require(!delegate.id.empty() && inside(delegate.blob), "delegate blob in the file");
      for (const CompileSpec& spec : delegate.compile_specs) {
        require(inside(spec.value), "compile spec in the file");
      }
    }
    require(method.fully_delegated() == method.cpu_work().empty(), "fully delegated");
  }
}

}  // namespace executorch::backends::webgpu
