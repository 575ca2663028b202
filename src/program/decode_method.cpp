#include "program/decode_method.h"

#include "base/budget.h"
#include "program/decode_value.h"

namespace executorch::backends::webgpu {
namespace {

namespace fb = executorch_flatbuffer;

constexpr uint32_t kMaxNameLength = 256;  // of operators, delegates and compile specs

Status check_name(const flatbuffers::String* name) {
  if (name == nullptr || name->size() == 0) return invalid("has no name");
  if (name->size() > kMaxNameLength) return invalid("has a name of {} characters", name->size());
  return {};
}

Status check_id(int64_t id, size_t value_count) {
  if (id >= 0 && id < static_cast<int64_t>(value_count)) return {};
  return invalid("names value {} of {}", id, value_count);
}

Result<std::vector<HostId>> decode_ids(const flatbuffers::Vector<int32_t>* ids, size_t value_count,
                                       DecodeBudget& budget) {
  std::vector<HostId> list;
  if (!budget.take(count_of(ids))) return invalid("names more values than the file has bytes");
  for (uint32_t i = 0; i < count_of(ids); ++i) {
    ETWG_TRY(check_id(ids->Get(i), value_count));
    list.push_back(ids->Get(i));
  }
  return list;
}

Result<Instruction> decode_instruction(const fb::Instruction* table, const Method& method,
                                       size_t instruction_count, DecodeBudget& budget) {
  const auto type = table == nullptr ? fb::InstructionArguments::NONE : table->instr_args_type();
  if (type == fb::InstructionArguments::NONE || table->instr_args() == nullptr) {
    return invalid("has no content");
  }
  const size_t value_count = method.values.size();
  switch (type) {
    case fb::InstructionArguments::KernelCall: {
      const auto& call = *table->instr_args_as_KernelCall();
      if (call.op_index() < 0 || static_cast<size_t>(call.op_index()) >= method.operators.size()) {
        return invalid("calls operator {} of {}", call.op_index(), method.operators.size());
      }
      ETWG_ASSIGN(auto args, decode_ids(call.args(), value_count, budget));
      return KernelCall{static_cast<uint32_t>(call.op_index()), std::move(args)};
    }
    case fb::InstructionArguments::DelegateCall: {
      const auto& call = *table->instr_args_as_DelegateCall();
      if (call.delegate_index() < 0 ||
          static_cast<size_t>(call.delegate_index()) >= method.delegates.size()) {
        return invalid("calls delegate {} of {}", call.delegate_index(), method.delegates.size());
      }
      ETWG_ASSIGN(auto args, decode_ids(call.args(), value_count, budget));
      return DelegateCall{static_cast<uint32_t>(call.delegate_index()), std::move(args)};
    }
    case fb::InstructionArguments::MoveCall: {
      const auto& call = *table->instr_args_as_MoveCall();
      ETWG_TRY(check_id(call.move_from(), value_count));
      ETWG_TRY(check_id(call.move_to(), value_count));
      return MoveCall{call.move_from(), call.move_to()};
    }
    case fb::InstructionArguments::JumpFalseCall: {
      const auto& call = *table->instr_args_as_JumpFalseCall();
      ETWG_TRY(check_id(call.cond_value_index(), value_count));
      if (call.destination_instruction() < 0 ||
          static_cast<size_t>(call.destination_instruction()) > instruction_count) {
        return invalid("jumps to instruction {} of {}", call.destination_instruction(),
                       instruction_count);
      }
      return JumpFalseCall{call.cond_value_index(),
                           static_cast<uint32_t>(call.destination_instruction())};
    }
    case fb::InstructionArguments::FreeCall: {
      const auto& call = *table->instr_args_as_FreeCall();
      ETWG_TRY(check_id(call.value_index(), value_count));
      return FreeCall{call.value_index()};
    }
    default:
      return invalid("is of the unknown kind {}", static_cast<int>(type));
  }
}

Result<Bytes> find_blob(const fb::BackendDelegateDataReference* where, const ProgramBuffer& program,
                        const std::vector<Bytes>& segments) {
  if (where == nullptr) return invalid("has no data");
  const uint32_t index = where->index();
  if (where->location() == fb::DataLocation::SEGMENT) {
    if (index < segments.size()) return segments[index];
    return invalid("has its data in segment {} of {}", index, segments.size());
  }
  if (where->location() != fb::DataLocation::INLINE) {
    return invalid("has its data in the unknown location {}", static_cast<int>(where->location()));
  }
  const auto* all = program->backend_delegate_data();
  const auto* data = index < count_of(all) ? all->Get(index) : nullptr;
  if (data == nullptr || data->data() == nullptr) {
    return invalid("has its data in entry {} of {}", index, count_of(all));
  }
  return program.bytes_of(*data->data());
}

Result<Delegate> decode_delegate(const fb::BackendDelegate* table, const ProgramBuffer& program,
                                 const std::vector<Bytes>& segments, DecodeBudget& budget) {
  if (table == nullptr) return invalid("absent");
  Delegate delegate;
  ETWG_TRY(check_name(table->id()));
  delegate.id = table->id()->str();
  ETWG_ASSIGN(delegate.blob, find_blob(table->processed(), program, segments));
  if (!budget.take(count_of(table->compile_specs()))) {
    return invalid("has more compile specs than the file has bytes");
  }
  for (uint32_t i = 0; i < count_of(table->compile_specs()); ++i) {
    const fb::CompileSpec* spec = table->compile_specs()->Get(i);
    if (spec == nullptr) return invalid("compile spec {} is absent", i);
    if (auto ok = check_name(spec->key()); !ok) {
      return context(fmt::format("compile spec {}", i), std::move(ok.error()));
    }
    const Bytes value = spec->value() == nullptr ? Bytes() : program.bytes_of(*spec->value());
    delegate.compile_specs.push_back({spec->key()->str(), value});
  }
  return delegate;
}

Result<std::string> decode_operator(const fb::Operator* table) {
  if (table == nullptr) return invalid("absent");
  ETWG_TRY(check_name(table->name()));
  std::string name = table->name()->str();
  if (const auto* overload = table->overload(); overload != nullptr && overload->size() != 0) {
    ETWG_TRY(check_name(overload));
    name.append(".").append(overload->string_view());
  }
  return name;
}

// Decodes every entry of a table; `decode` takes one entry. Errors get the entry's number.
template <typename T, typename Tables, typename Decode>
Result<std::vector<T>> decode_all(std::string_view what, const Tables* tables, Decode decode) {
  std::vector<T> all;
  for (uint32_t i = 0; i < count_of(tables); ++i) {
    auto entry = decode(tables->Get(i));
    if (!entry) return context(fmt::format("{} {}", what, i), std::move(entry.error()));
    all.push_back(std::move(*entry));
  }
  return all;
}

}  // namespace

Result<Method> decode_method(const fb::ExecutionPlan& plan, const ProgramBuffer& program,
                             const std::vector<Bytes>& segments) {
  Method method;
  if (auto ok = check_name(plan.name()); !ok) return context("method", std::move(ok.error()));
  method.name = plan.name()->str();
  DecodeBudget budget(program.size());
  const size_t value_count = count_of(plan.values());
  ETWG_ASSIGN(method.values,
              decode_all<HostValue>("value", plan.values(), [&](const fb::EValue* value) {
                return decode_host_value(value, program, segments, value_count, budget);
              }));
  ETWG_TRY(check_host_lists(method.values));
  ETWG_ASSIGN(method.operators,
              decode_all<std::string>("operator", plan.operators(), decode_operator));
  ETWG_ASSIGN(
      method.delegates,
      decode_all<Delegate>("delegate", plan.delegates(), [&](const fb::BackendDelegate* delegate) {
        return decode_delegate(delegate, program, segments, budget);
      }));
  auto inputs = decode_ids(plan.inputs(), value_count, budget);
  if (!inputs) return context("the list of inputs", std::move(inputs.error()));
  method.inputs = std::move(*inputs);
  auto outputs = decode_ids(plan.outputs(), value_count, budget);
  if (!outputs) return context("the list of outputs", std::move(outputs.error()));
  method.outputs = std::move(*outputs);

  if (count_of(plan.chains()) != 1 || plan.chains()->Get(0) == nullptr) {
    return fail(ErrorCode::kNotSupported, "{} chains of instructions; one is supported",
                count_of(plan.chains()));
  }
  const auto* instructions = plan.chains()->Get(0)->instructions();
  ETWG_ASSIGN(
      method.instructions,
      decode_all<Instruction>("instruction", instructions, [&](const fb::Instruction* instruction) {
        return decode_instruction(instruction, method, count_of(instructions), budget);
      }));
  return method;
}

}  // namespace executorch::backends::webgpu
