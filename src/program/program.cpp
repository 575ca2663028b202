#include "program/program.h"

#include <readers/flat_tensor_generated.h>
#include <readers/program_generated.h>

#include "base/flatbuffer.h"
#include "program/container.h"
#include "program/decode_method.h"

namespace executorch::backends::webgpu {

Result<Program> Program::parse(Bytes file) {
  ETWG_ASSIGN(const Container parts, split_program(file));
  ETWG_ASSIGN(const auto root, ProgramBuffer::open("program", parts.flatbuffer, "ET12"));
  auto segments = decode_segments(root->segments(), parts.segments);
  if (!segments) return context("program", std::move(segments.error()));

  Program program;
  if (auto ok = decode_named_data(root->named_data(), *segments, program.named_); !ok) {
    return context("program", std::move(ok.error()));
  }
  const auto* plans = root->execution_plan();
  for (uint32_t i = 0; plans != nullptr && i < plans->size(); ++i) {
    const auto* plan = plans->Get(i);
    if (plan == nullptr) {
      return fail(ErrorCode::kInvalidProgram, "program: method {} is absent", i);
    }
    auto method = decode_method(*plan, root, *segments);
    if (!method) {
      const bool named = plan->name() != nullptr && plan->name()->size() <= 256;
      return context(named ? fmt::format("program: method {} ({})", i, plan->name()->string_view())
                           : fmt::format("program: method {}", i),
                     std::move(method.error()));
    }
    if (program.method(method->name) != nullptr) {
      return fail(ErrorCode::kInvalidProgram, "program: two methods are named {}", method->name);
    }
    program.methods_.push_back(std::move(*method));
  }
  if (program.methods_.empty()) {
    return fail(ErrorCode::kInvalidProgram, "program: it has no methods");
  }
  return program;
}

Status Program::add_data_file(Bytes file) {
  ETWG_ASSIGN(const Container parts, split_data_file(file));
  ETWG_ASSIGN(const auto root, FlatBuffer<flat_tensor_flatbuffer::FlatTensor>::open(
                                   "data file", parts.flatbuffer, "FT01"));
  if (root->version() != 0) {
    return fail(ErrorCode::kNotSupported, "data file: version {}; only 0 is supported",
                root->version());
  }
  auto segments = decode_segments(root->segments(), parts.segments);
  if (!segments) return context("data file", std::move(segments.error()));
  // Into a copy, so that a damaged file leaves nothing behind.
  NamedData all = named_;
  if (auto ok = decode_named_data(root->named_data(), *segments, all); !ok) {
    return context("data file", std::move(ok.error()));
  }
  named_ = std::move(all);
  return {};
}

const Method* Program::method(std::string_view name) const {
  for (const Method& method : methods_) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

std::optional<Bytes> Program::named(std::string_view key) const {
  const auto found = named_.find(key);
  if (found == named_.end()) return std::nullopt;
  return found->second;
}

}  // namespace executorch::backends::webgpu
