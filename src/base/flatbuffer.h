#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/bytes.h"
#include "base/result.h"

namespace executorch::backends::webgpu {

// Item `i` of a vector of scalars, which may have any alignment: FlatBuffers' verifier makes sure
// of that of a vector's length (4 bytes), but not of items that need 8.
template <typename T>
T item_of(const flatbuffers::Vector<T>& vector, uint32_t i) {
  T value;
  std::memcpy(&value, vector.Data() + i * sizeof(T), sizeof(T));
  return flatbuffers::EndianScalar(value);
}

// The length of a vector that may be absent, which means empty.
template <typename Vector>
uint32_t count_of(const Vector* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// The items of a list that may be absent, which means empty.
template <typename To, typename Items>
Result<std::vector<To>> decode_items(const Items* items, DecodeBudget& budget) {
  std::vector<To> list;
  if (items == nullptr) return list;
  if (!budget.take(items->size())) {
    return invalid("list of {} items: the lists together are longer than the file", items->size());
  }
  list.reserve(items->size());
  for (uint32_t i = 0; i < items->size(); ++i) {
    list.push_back(static_cast<To>(item_of(*items, i)));
  }
  return list;
}

// A FlatBuffer that came from a file: after `open`, everything reachable from the root lies within
// its bytes. What the numbers in it mean is still to be checked.
template <typename Root>
class FlatBuffer {
 public:
  // `what` names the buffer in messages. `bytes` must outlive the object.
  static Result<FlatBuffer> open(std::string_view what, Bytes bytes, const char* identifier) {
    if (bytes.size() < 8) {
      return fail(ErrorCode::kInvalidProgram, "{}: {} bytes are too few for a FlatBuffer", what,
                  bytes.size());
    }
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
      return fail(ErrorCode::kNotSupported,
                  "{}: a FlatBuffer of {} bytes is over the format's 2 GiB", what, bytes.size());
    }
    if (!has_magic(bytes, 4, identifier)) {
      return fail(ErrorCode::kInvalidProgram, "{}: the FlatBuffer identifier {} is missing", what,
                  identifier);
    }
    FlatBuffer buffer(bytes);
    // A table takes 8 bytes or more (its own word and a reference), so a file without shared tables
    // has fewer than size / 8; the floor leaves small files room to share.
    const auto max_tables =
        static_cast<flatbuffers::uoffset_t>(std::max<size_t>(1'000'000, bytes.size() / 8));
    flatbuffers::Verifier verifier(buffer.data_, bytes.size(), /*max_depth=*/64, max_tables);
    if (!verifier.VerifyBuffer<Root>(identifier)) {
      return fail(ErrorCode::kInvalidProgram,
                  "{}: the FlatBuffer is damaged (an offset or a length leads outside of it)",
                  what);
    }
    return buffer;
  }

  size_t size() const { return bytes_.size(); }
  const Root* operator->() const { return flatbuffers::GetRoot<Root>(data_); }

  // The bytes of a vector of this FlatBuffer, as a view that lives as long as the bytes given to
  // `open`.
  Bytes bytes_of(const flatbuffers::Vector<uint8_t>& vector) const {
    return bytes_.subspan(static_cast<size_t>(vector.data() - data_), vector.size());
  }

 private:
  explicit FlatBuffer(Bytes bytes)
      : bytes_(bytes), data_(reinterpret_cast<const uint8_t*>(bytes.data())) {
    // Scalars are read in place, which needs them aligned in memory as they are in the buffer. The
    // files of the exporter are; a copy serves all others.
    if (reinterpret_cast<uintptr_t>(data_) % alignof(uint64_t) == 0) return;
    copy_ = std::make_unique<uint64_t[]>(bytes.size() / sizeof(uint64_t) + 1);
    std::memcpy(copy_.get(), bytes.data(), bytes.size());
    data_ = reinterpret_cast<const uint8_t*>(copy_.get());
  }

  Bytes bytes_;
  std::unique_ptr<uint64_t[]> copy_;
  const uint8_t* data_;
};

}  // namespace executorch::backends::webgpu
