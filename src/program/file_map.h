#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace executorch::backends::webgpu {

// A whole file, readable as bytes for as long as the object lives. Mapped, so that what is not read
// takes no memory; where there is nothing to map (wasm) it is read. Moving it keeps the bytes where
// they are.
//
// The file must not be made shorter meanwhile: reading mapped bytes that are gone ends the process.
class FileMap {
 public:
  // kNotFound, with the reason, when the file cannot be opened; kOutOfMemory when it cannot be
  // mapped.
  static Result<FileMap> open(const std::string& path);

  FileMap(FileMap&& other) noexcept;
  FileMap& operator=(FileMap&& other) noexcept;
  ~FileMap();

  // Aligned to 8 bytes or better; empty for an empty file.
  Bytes bytes() const { return bytes_; }

  // Gives back the memory that holds the pages of `part`, as far as they lie wholly in it. The
  // bytes stay readable; what is touched again is fetched again. Bytes of other files are left
  // alone.
  void forget(Bytes part) const;

 private:
  explicit FileMap(Bytes bytes) : bytes_(bytes) {}
  Bytes bytes_;
};

}  // namespace executorch::backends::webgpu
