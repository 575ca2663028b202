#include "program/file_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#ifndef __EMSCRIPTEN__
#include <sys/mman.h>
#endif

namespace executorch::backends::webgpu {
namespace {

// The first `size` bytes of an open file, or nullptr with errno set.
const void* acquire(int fd, size_t size) {
#ifdef __EMSCRIPTEN__
  auto* memory = static_cast<char*>(std::malloc(size));
  for (size_t done = 0; memory != nullptr && done < size;) {
    const ssize_t count = ::read(fd, memory + done, size - done);
    if (count <= 0) {
      std::free(memory);
      return nullptr;
    }
    done += static_cast<size_t>(count);
  }
  return memory;
#else
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  return memory == MAP_FAILED ? nullptr : memory;
#endif
}

void release(Bytes bytes) {
  if (bytes.empty()) return;
  void* memory = const_cast<std::byte*>(bytes.data());
#ifdef __EMSCRIPTEN__
  std::free(memory);
#else
  ::munmap(memory, bytes.size());
#endif
}

}  // namespace

Result<FileMap> FileMap::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorCode::kNotFound, "{}: {}", path, std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::kNotFound, "{}: not a regular file", path);
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size == 0) {
    ::close(fd);
    return FileMap(Bytes());
  }
  const void* memory = size > SIZE_MAX ? nullptr : acquire(fd, static_cast<size_t>(size));
  const int error = errno;
  ::close(fd);
  if (memory == nullptr) {
    return fail(ErrorCode::kOutOfMemory, "{}: cannot map its {} bytes: {}", path, size,
                std::strerror(error));
  }
  return FileMap(Bytes(static_cast<const std::byte*>(memory), static_cast<size_t>(size)));
}

void FileMap::forget([[maybe_unused]] Bytes part) const {
#ifndef __EMSCRIPTEN__
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (part.data() < bytes_.data() || part.data() + part.size() > bytes_.data() + bytes_.size()) {
    return;
  }
  const auto begin = static_cast<size_t>(part.data() - bytes_.data());
  const size_t first = (begin + page - 1) / page * page;
  const size_t last = (begin + part.size()) / page * page;
  if (first >= last) return;
  auto* memory = const_cast<std::byte*>(bytes_.data() + first);
  (void)::madvise(memory, last - first, MADV_DONTNEED);  // a hint: it may be refused
#endif
}

FileMap::FileMap(FileMap&& other) noexcept : bytes_(std::exchange(other.bytes_, Bytes())) {}

FileMap& FileMap::operator=(FileMap&& other) noexcept {
  if (this != &other) {
    release(bytes_);
    bytes_ = std::exchange(other.bytes_, Bytes());
  }
  return *this;
}

FileMap::~FileMap() { release(bytes_); }

}  // namespace executorch::backends::webgpu
