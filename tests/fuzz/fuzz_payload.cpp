// Fuzzes the payload reader: any bytes are refused or give a graph that keeps every promise.
//
// The corpus may hold delegate blobs or whole .pte files, whose delegates are then the blobs.

#include "invariants.h"
#include "payload/payload.h"
#include "program/program.h"

namespace executorch::backends::webgpu {
namespace {

// What is to hold of every payload that parses. Later layers (passes, plan) add their call here.
void check_payload(const Payload& payload) { require_invariants(payload); }

void check_blob(Bytes blob) {
  if (const auto payload = parse_payload(blob)) check_payload(*payload);
}

}  // namespace
}  // namespace executorch::backends::webgpu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace executorch::backends::webgpu;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  check_blob(bytes);
  if (const auto program = Program::parse(bytes)) {
    for (const Method& method : program->methods()) {
      for (const Delegate& delegate : method.delegates) check_blob(delegate.blob);
    }
  }
  return 0;
}
