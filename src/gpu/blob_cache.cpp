#include "gpu/blob_cache.h"

#if ETWG_DAWN

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>

namespace executorch::backends::webgpu {
namespace {

constexpr char kMagic[8] = {'E', 'T', 'W', 'G', 'B', 'L', 'B', '1'};

struct Header {
  char magic[8];
  uint64_t key_size;
  uint64_t value_size;
  uint64_t value_hash;
};

// FNV-1a, 64 bits.
uint64_t hash(const void* data, size_t size) {
  uint64_t out = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < size; ++i) {
    out = (out ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3ull;
  }
  return out;
}

std::string key_string(const uint8_t* key, size_t size) {
  return std::string(reinterpret_cast<const char*>(key), size);
}

}  // namespace

BlobCache* BlobCache::open(const std::string& folder) {
  if (folder.empty()) return nullptr;
  static std::mutex* mutex = new std::mutex();
  static auto* caches = new std::map<std::string, std::unique_ptr<BlobCache>>();
  std::lock_guard<std::mutex> guard(*mutex);
  std::unique_ptr<BlobCache>& cache = (*caches)[folder];
  if (cache == nullptr) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return nullptr;
    cache.reset(new BlobCache(folder));
  }
  return cache.get();
}

void BlobCache::describe(WGPUDawnCacheDeviceDescriptor& descriptor) {
  descriptor.dawnLoadCacheDataCallbackInfo.userdata1 = this;
  descriptor.dawnLoadCacheDataCallbackInfo.callback = [](size_t key_size, uint8_t const* key,
                                                         size_t value_size, uint8_t* value,
                                                         void* self, void*) {
    return static_cast<BlobCache*>(self)->load(key_string(key, key_size), value, value_size);
  };
  descriptor.dawnStoreCacheDataCallbackInfo.userdata1 = this;
  descriptor.dawnStoreCacheDataCallbackInfo.callback = [](size_t key_size, uint8_t const* key,
                                                          size_t value_size, uint8_t const* value,
                                                          void* self, void*) {
    static_cast<BlobCache*>(self)->store(key_string(key, key_size), value, value_size);
  };
}

std::filesystem::path BlobCache::path_of(const std::string& key) const {
  return folder_ / fmt::format("{:016x}.blob", hash(key.data(), key.size()));
}

// Dawn asks for the size first (no buffer), then for the bytes; 0 means there is none.
size_t BlobCache::load(const std::string& key, uint8_t* value, size_t capacity) const {
  std::ifstream file(path_of(key), std::ios::binary | std::ios::ate);
  if (!file) return 0;
  const auto length = static_cast<uint64_t>(file.tellg());
  file.seekg(0);
  Header header = {};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return 0;
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return 0;
  if (header.key_size != key.size() || header.value_size > length ||
      length != sizeof(header) + header.key_size + header.value_size) {
    return 0;
  }
  std::string bytes(header.key_size + header.value_size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return 0;
  if (bytes.compare(0, key.size(), key) != 0) return 0;
  if (hash(bytes.data() + key.size(), header.value_size) != header.value_hash) return 0;
  if (value == nullptr || capacity < header.value_size) return header.value_size;
  std::memcpy(value, bytes.data() + key.size(), header.value_size);
  return header.value_size;
}

// Written aside and renamed, so that another process never reads half a file.
void BlobCache::store(const std::string& key, const uint8_t* value, size_t size) const {
  static std::atomic<uint64_t> serial{0};
  const std::filesystem::path path = path_of(key);
  std::filesystem::path draft = path;
  draft += fmt::format(".{:x}.{}", std::chrono::steady_clock::now().time_since_epoch().count(),
                       serial.fetch_add(1));
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.key_size = key.size();
  header.value_size = size;
  header.value_hash = hash(value, size);
  bool written = false;
  {
    std::ofstream file(draft, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    file.write(key.data(), static_cast<std::streamsize>(key.size()));
    file.write(reinterpret_cast<const char*>(value), static_cast<std::streamsize>(size));
    file.close();
    written = !file.fail();
  }
  std::error_code error;
  if (written) std::filesystem::rename(draft, path, error);
  if (!written || error) std::filesystem::remove(draft, error);
}

}  // namespace executorch::backends::webgpu

#endif  // ETWG_DAWN
