#include "program/method.h"

#include <algorithm>

namespace executorch::backends::webgpu {

bool HostTensor::contiguous() const { return std::is_sorted(dim_order.begin(), dim_order.end()); }

std::vector<std::string> Method::cpu_work() const {
  std::vector<std::string> work = operators;
  const auto add = [&](const char* kind) {
    if (std::find(work.begin(), work.end(), kind) == work.end()) work.emplace_back(kind);
  };
  for (const Instruction& instruction : instructions) {
    if (std::holds_alternative<MoveCall>(instruction)) add("move");
    if (std::holds_alternative<JumpFalseCall>(instruction)) add("jump_false");
    if (std::holds_alternative<FreeCall>(instruction)) add("free");
  }
  return work;
}

}  // namespace executorch::backends::webgpu
