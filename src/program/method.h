#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "ir/dtype.h"
#include "ir/shape.h"

namespace executorch::backends::webgpu {

// What a method of a .pte file consists of. A HostId is an index into Method::values, which are the
// values that the caller and the instructions see; the ValueIds inside a delegate's payload are
// others.
using HostId = int32_t;

enum class Dynamism : uint8_t { kStatic, kBounded, kUnbounded };

struct HostTensor {
  int scalar_type = 0;         // ExecuTorch's number
  std::optional<DType> dtype;  // the same for this library; nullopt when it has no such type
  Shape sizes;                 // upper bounds, unless static
  Dynamism dynamism = Dynamism::kStatic;
  std::vector<uint8_t> dim_order;  // a permutation of 0..rank-1, outermost first
  // What the tensor holds at the start, as long as `sizes` say: a constant or an initial state.
  // Empty when it holds nothing, or when `external_key` names it in the program's named data.
  Bytes data;
  std::string external_key;

  bool contiguous() const;  // whether the dim order is the plain one
};

struct HostNull {};
struct HostIntList {
  std::vector<HostId> items;  // of Ints
};
struct HostTensorList {
  std::vector<HostId> items;  // of tensors; -1 stands for None
};

using HostValue = std::variant<HostNull, int64_t, double, bool, std::string, HostTensor,
                               HostIntList, std::vector<double>, std::vector<bool>, HostTensorList>;

struct KernelCall {
  uint32_t op = 0;  // index into Method::operators
  std::vector<HostId> args;
};
struct DelegateCall {
  uint32_t delegate = 0;     // index into Method::delegates
  std::vector<HostId> args;  // inputs, then outputs
};
struct MoveCall {
  HostId from = 0, to = 0;
};
struct JumpFalseCall {
  HostId condition = 0;
  uint32_t destination = 0;  // index into Method::instructions, or their number
};
struct FreeCall {
  HostId value = 0;
};

using Instruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall>;

struct CompileSpec {
  std::string key;
  Bytes value;
};

struct Delegate {
  std::string id;  // of the backend, e.g. "VulkanBackend"
  Bytes blob;      // the payload
  std::vector<CompileSpec> compile_specs;
};

struct Method {
  std::string name;
  std::vector<HostValue> values;
  std::vector<HostId> inputs;
  std::vector<HostId> outputs;
  std::vector<Instruction> instructions;  // in execution order
  std::vector<Delegate> delegates;
  std::vector<std::string> operators;  // CPU operators, e.g. "aten::add.out"

  // Whether calling the delegates in turn is all there is to do.
  bool fully_delegated() const { return cpu_work().empty(); }
  // The CPU operators, and the kinds of other instructions ("move"), that stand in the way of that.
  std::vector<std::string> cpu_work() const;

  const HostValue& value(HostId id) const { return values[static_cast<size_t>(id)]; }
  // The tensor with this id, or nullptr when the value is something else.
  const HostTensor* tensor(HostId id) const { return std::get_if<HostTensor>(&value(id)); }
};

}  // namespace executorch::backends::webgpu
