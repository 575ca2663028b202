#pragma once

#include "base/bytes.h"
#include "base/result.h"

namespace executorch::backends::webgpu {

// The two parts of a delegate blob; views into it.
struct BlobParts {
  Bytes flatbuffer;  // the VK00 FlatBuffer; at least one byte
  Bytes raw;         // constants that are stored without a name; empty in most files
};

// Finds the parts by the VH00 header. Both lie within `blob`, and do not overlap.
Result<BlobParts> split_blob(Bytes blob);

}  // namespace executorch::backends::webgpu
