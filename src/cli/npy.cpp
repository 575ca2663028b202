#include "cli/npy.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <ranges>

#include "program/file_map.h"

namespace executorch::backends::webgpu::cli {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array<TypeName, 8> kTypeNames = {{{DType::kBool, "|b1"},
                                                 {DType::kUInt8, "|u1"},
                                                 {DType::kInt8, "|i1"},
                                                 {DType::kInt32, "<i4"},
                                                 {DType::kInt64, "<i8"},
                                                 {DType::kFloat16, "<f2"},
                                                 {DType::kFloat32, "<f4"},
                                                 {DType::kFloat64, "<f8"}}};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \n\t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n\t") + 1 - begin);
}

// What follows `'key':` in the header, a dictionary as Python prints it; empty when it is not
// there.
std::string_view field(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{}{}{}:", quote, key, quote);
    const size_t at = header.find(quoted);
    if (at != std::string_view::npos) return trimmed(header.substr(at + quoted.size()));
  }
  return {};
}

std::optional<Shape> parse_shape(std::string_view text) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) return std::nullopt;
  Shape shape;
  text = text.substr(1, end - 1);
  while (!trimmed(text).empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = trimmed(text.substr(0, comma));
    int64_t size = -1;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), size);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size() || size < 0 ||
        shape.rank() == kMaxRank) {
      return std::nullopt;
    }
    shape.push_back(size);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shape;
}

Result<HostArray> parse_header(std::string_view header) {
  const auto wrong = [](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument, "{}", what);
  };
  const std::string_view order = field(header, "fortran_order");
  if (order.starts_with("True")) return wrong("it is in Fortran order; only C order can be read");
  if (!order.starts_with("False")) return wrong("its header does not tell the order");
  const auto shape = parse_shape(field(header, "shape"));
  if (!shape) return wrong("its header has no shape, or one of too many dimensions");
  if (!bounded_numel(*shape, uint64_t{1} << 40)) return wrong("its shape is too large");
  const std::string_view descr = field(header, "descr");
  for (const TypeName& type : kTypeNames) {
    if (descr.size() >= 5 && descr.substr(1).starts_with(type.name)) {
      HostArray array(type.dtype);
      array.dims = *shape;
      return array;
    }
  }
  return fail(ErrorCode::kInvalidArgument, "its elements are {}; known are {}",
              descr.substr(0, descr.find(',')),
              fmt::join(kTypeNames | std::views::transform(&TypeName::name), " "));
}

}  // namespace

Result<HostArray> parse_npy(Bytes file, const std::string& name) {
  if (!has_magic(file, 0, kMagic) || file.size() < 12) {
    return fail(ErrorCode::kInvalidArgument, "{}: not a .npy file", name);
  }
  const auto version = std::to_integer<int>(file[6]);
  if (version < 1 || version > 3) {
    return fail(ErrorCode::kInvalidArgument, "{}: version {} of .npy is not known", name, version);
  }
  const size_t start = version == 1 ? 10 : 12;
  const uint64_t length = version == 1 ? load_le<uint16_t>(file, 8) : load_le<uint32_t>(file, 8);
  const auto header = sub_bytes(file, start, length);
  if (!header) return fail(ErrorCode::kInvalidArgument, "{}: cut off in its header", name);
  auto array = parse_header({reinterpret_cast<const char*>(header->data()), header->size()});
  if (!array) return context(name, array.error());
  const uint64_t nbytes = static_cast<uint64_t>(array->dims.numel()) * size_of(array->dtype);
  const auto data = sub_bytes(file, start + length, nbytes);
  if (!data) {
    return fail(ErrorCode::kInvalidArgument, "{}: cut off: {} bytes of data instead of {}", name,
                file.size() - start - length, nbytes);
  }
  array->data.assign(data->begin(), data->end());
  return array;
}

Result<HostArray> read_npy(const std::string& path) {
  ETWG_ASSIGN(const FileMap file, FileMap::open(path));
  return parse_npy(file.bytes(), path);
}

Status write_npy(const std::string& path, const HostArray& array) {
  std::string_view type;
  for (const TypeName& known : kTypeNames) {
    if (known.dtype == array.dtype) type = known.name;
  }
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   type, fmt::join(array.dims.begin(), array.dims.end(), ", "),
                                   array.dims.rank() == 1 ? "," : "");
  // The data starts at a multiple of 64, after a line break.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  const std::array<char, 4> prefix = {1, 0, static_cast<char>(header.size() & 0xff),
                                      static_cast<char>(header.size() >> 8)};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             &std::fclose);
  const auto put = [&](const void* data, size_t size) {
    return size == 0 || std::fwrite(data, 1, size, file.get()) == size;
  };
  if (file == nullptr || !put(kMagic.data(), kMagic.size()) || !put(prefix.data(), prefix.size()) ||
      !put(header.data(), header.size()) || !put(array.data.data(), array.data.size()) ||
      std::fflush(file.get()) != 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: cannot be written", path);
  }
  return {};
}

}  // namespace executorch::backends::webgpu::cli
