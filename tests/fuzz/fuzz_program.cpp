// Fuzzes the readers of .pte and .ptd files: any bytes are refused or give a program whose ids are
// in range and whose spans lie in the file.

#include "program_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace executorch::backends::webgpu;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (auto program = Program::parse(bytes)) require_invariants(*program, bytes);
  // A data file is read into a program; any will do.
  Program program;
  (void)program.add_data_file(bytes);
  return 0;
}
