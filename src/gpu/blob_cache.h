#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "gpu/api.h"

#if ETWG_DAWN

namespace executorch::backends::webgpu {

// Keeps the blobs in which Dawn caches compiled pipelines, one file each, in a folder that
// processes may share. A damaged or foreign file counts as missing; a failed write is no error.
// Thread-safe.
class BlobCache {
 public:
  // The cache in `folder`, made if missing; null when `folder` is empty or cannot be made.
  // Lives as long as the process, because devices call it until their last object is gone.
  static BlobCache* open(const std::string& folder);

  void describe(WGPUDawnCacheDeviceDescriptor& descriptor);

 private:
  explicit BlobCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  size_t load(const std::string& key, uint8_t* value, size_t capacity) const;
  void store(const std::string& key, const uint8_t* value, size_t size) const;
  std::filesystem::path path_of(const std::string& key) const;

  std::filesystem::path folder_;
};

}  // namespace executorch::backends::webgpu

#endif  // ETWG_DAWN
