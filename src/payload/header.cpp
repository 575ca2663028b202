#include "payload/header.h"

namespace executorch::backends::webgpu {
namespace {

// Byte positions in the header, which starts the blob. The magic stands where a FlatBuffer would
// have its identifier; the four bytes before it are zero.
constexpr size_t kMagicAt = 4;
constexpr size_t kHeaderLengthAt = 8;
constexpr size_t kFlatbufferOffsetAt = 10;
constexpr size_t kFlatbufferSizeAt = 14;
constexpr size_t kBytesOffsetAt = 18;
constexpr size_t kBytesSizeAt = 22;
constexpr size_t kHeaderLength = 30;

}  // namespace

Result<BlobParts> split_blob(Bytes blob) {
  if (!has_magic(blob, kMagicAt, "VH00")) {
    return fail(ErrorCode::kInvalidProgram, "delegate payload: no VH00 header in its {} bytes",
                blob.size());
  }
  if (blob.size() < kHeaderLength) {
    return fail(ErrorCode::kInvalidProgram, "delegate payload: header cut off after {} of {} bytes",
                blob.size(), kHeaderLength);
  }
  const auto header_length = load_le<uint16_t>(blob, kHeaderLengthAt);
  if (header_length != kHeaderLength) {
    return fail(ErrorCode::kInvalidProgram, "delegate payload: header length is {}, not {}",
                header_length, kHeaderLength);
  }
  const uint64_t flatbuffer_offset = load_le<uint32_t>(blob, kFlatbufferOffsetAt);
  const uint64_t flatbuffer_size = load_le<uint32_t>(blob, kFlatbufferSizeAt);
  const uint64_t bytes_offset = load_le<uint32_t>(blob, kBytesOffsetAt);
  const uint64_t bytes_size = load_le<uint64_t>(blob, kBytesSizeAt);

  const auto flatbuffer = sub_bytes(blob, flatbuffer_offset, flatbuffer_size);
  if (!flatbuffer || flatbuffer_offset < kHeaderLength || flatbuffer_size == 0) {
    return fail(
        ErrorCode::kInvalidProgram,
        "delegate payload: FlatBuffer of {} bytes at {} does not fit the {} bytes of the blob",
        flatbuffer_size, flatbuffer_offset, blob.size());
  }
  if (bytes_offset < flatbuffer_offset + flatbuffer_size || bytes_offset > blob.size()) {
    return fail(ErrorCode::kInvalidProgram,
                "delegate payload: constants at {} overlap the FlatBuffer or lie past the end ({})",
                bytes_offset, blob.size());
  }
  // A size of zero stands for "the rest": the exporter writes it whether or not bytes follow.
  const uint64_t rest = blob.size() - bytes_offset;
  const auto raw = sub_bytes(blob, bytes_offset, bytes_size == 0 ? rest : bytes_size);
  if (!raw) {
    return fail(ErrorCode::kInvalidProgram,
                "delegate payload: {} bytes of constants at {}, but the blob ends after {}",
                bytes_size, bytes_offset, blob.size());
  }
  return BlobParts{*flatbuffer, *raw};
}

}  // namespace executorch::backends::webgpu
