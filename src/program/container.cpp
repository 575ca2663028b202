#include "program/container.h"

namespace executorch::backends::webgpu {
namespace {

constexpr size_t kIdentifierAt = 4;
constexpr size_t kHeaderAt = 8;  // both kinds of file splice their header in here
constexpr size_t kHeaderLengthAt = 12;

tl::unexpected<Error> cut_off(std::string_view what, Bytes file, std::string_view part) {
  return fail(ErrorCode::kInvalidProgram, "{}: cut off: its {} does not fit the file's {} bytes",
              what, part, file.size());
}

// The region [base, base + size) of the file, or up to the file's end when the size is not known. A
// base of zero means that there are no segments.
std::optional<Bytes> segment_region(Bytes file, uint64_t base, std::optional<uint64_t> size) {
  if (base == 0) return Bytes();
  if (base > file.size()) return std::nullopt;
  return sub_bytes(file, base, size.value_or(file.size() - base));
}

}  // namespace

Result<Container> split_program(Bytes file) {
  constexpr size_t kProgramSizeAt = 16;
  constexpr size_t kSegmentBaseAt = 24;
  constexpr size_t kSegmentSizeAt = 32;
  // The header's length counts from its magic. The first writers had no segment size.
  constexpr uint32_t kShortHeader = 24;
  constexpr uint32_t kLongHeader = 32;

  if (has_magic(file, kIdentifierAt, "FT01")) {
    return fail(ErrorCode::kInvalidProgram, "program: this is a data file (.ptd), not a program");
  }
  if (!has_magic(file, kIdentifierAt, "ET12")) {
    return fail(ErrorCode::kInvalidProgram,
                "program: not a .pte file (no ET12 identifier in its {} bytes)", file.size());
  }
  if (!has_magic(file, kHeaderAt, "eh00")) return Container{file, {}};
  if (file.size() < kHeaderAt + kShortHeader) return cut_off("program", file, "header");
  const auto length = load_le<uint32_t>(file, kHeaderLengthAt);
  if (length < kShortHeader) {
    return fail(ErrorCode::kInvalidProgram, "program: header length is {}, less than {}", length,
                kShortHeader);
  }
  const bool has_segment_size = length >= kLongHeader;
  if (has_segment_size && file.size() < kHeaderAt + kLongHeader) {
    return cut_off("program", file, "header");
  }
  const auto flatbuffer = sub_bytes(file, 0, load_le<uint64_t>(file, kProgramSizeAt));
  if (!flatbuffer) return cut_off("program", file, "FlatBuffer");
  const auto segments = segment_region(
      file, load_le<uint64_t>(file, kSegmentBaseAt),
      has_segment_size ? std::optional(load_le<uint64_t>(file, kSegmentSizeAt)) : std::nullopt);
  if (!segments) return cut_off("program", file, "segment data");
  return Container{*flatbuffer, *segments};
}

Result<Container> split_data_file(Bytes file) {
  // Positions in the file; the offset of the FlatBuffer is not used, for the spliced file is read
  // from 0.
  constexpr size_t kFlatbufferOffsetAt = 16;
  constexpr size_t kFlatbufferSizeAt = 24;
  constexpr size_t kSegmentBaseAt = 32;
  constexpr size_t kSegmentSizeAt = 40;
  constexpr uint32_t kHeaderLength = 40;

  if (!has_magic(file, kIdentifierAt, "FT01") || !has_magic(file, kHeaderAt, "FH01")) {
    return fail(ErrorCode::kInvalidProgram,
                "data file: not a .ptd file (no FT01 identifier and FH01 header in its {} bytes)",
                file.size());
  }
  if (file.size() < kHeaderAt + kHeaderLength) return cut_off("data file", file, "header");
  const auto length = load_le<uint32_t>(file, kHeaderLengthAt);
  if (length < kHeaderLength) {
    return fail(ErrorCode::kInvalidProgram, "data file: header length is {}, less than {}", length,
                kHeaderLength);
  }
  // The writer gives the FlatBuffer's size without the header, which it calls the FlatBuffer's
  // offset although the two are interleaved: together they are the FlatBuffer that starts the file.
  const auto size = checked_add(load_le<uint64_t>(file, kFlatbufferOffsetAt),
                                load_le<uint64_t>(file, kFlatbufferSizeAt));
  const auto flatbuffer = size ? sub_bytes(file, 0, *size) : std::nullopt;
  if (!flatbuffer) return cut_off("data file", file, "FlatBuffer");
  const auto segments = segment_region(file, load_le<uint64_t>(file, kSegmentBaseAt),
                                       load_le<uint64_t>(file, kSegmentSizeAt));
  if (!segments) return cut_off("data file", file, "segment data");
  return Container{*flatbuffer, *segments};
}

}  // namespace executorch::backends::webgpu
