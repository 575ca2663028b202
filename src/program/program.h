#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "program/method.h"

namespace executorch::backends::webgpu {

// Named blobs, as they lie in a .pte or .ptd file; views into it.
using NamedData = std::map<std::string, Bytes, std::less<>>;

// An ExecuTorch program (.pte), read without ExecuTorch. Everything in it has been checked: every
// id is in range and of a fitting kind, every span lies within the file.
class Program {
 public:
  // `file` must outlive the program and all that it hands out; FileMap is one way to hold it.
  // Errors: kInvalidProgram, kNotSupported; the message names the method, value or instruction.
  static Result<Program> parse(Bytes file);

  // Adds the named data of a .ptd file, which must outlive the program. kInvalidProgram when it is
  // damaged or when a key is known already with other bytes.
  Status add_data_file(Bytes file);

  const std::vector<Method>& methods() const { return methods_; }
  // nullptr when there is none of this name. "forward" is the usual one.
  const Method* method(std::string_view name) const;

  // The bytes of this name, from the program or an added data file.
  std::optional<Bytes> named(std::string_view key) const;

 private:
  std::vector<Method> methods_;
  NamedData named_;
};

}  // namespace executorch::backends::webgpu
