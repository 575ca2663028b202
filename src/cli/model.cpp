#include "cli/model.h"

#include <charconv>
#include <random>

#include "cli/npy.h"

namespace executorch::backends::webgpu::cli {

namespace {

std::optional<int64_t> parse_integer(const std::string& word) {
  int64_t value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

// "2x37" as sizes.
std::optional<Shape> parse_sizes(const std::string& word) {
  Shape sizes;
  for (size_t at = 0; at <= word.size();) {
    const size_t end = std::min(word.find('x', at), word.size());
    const auto size = parse_integer(word.substr(at, end - at));
    if (!size || *size < 0 || sizes.rank() == kMaxRank) return std::nullopt;
    sizes.push_back(*size);
    at = end + 1;
  }
  if (!bounded_numel(sizes, uint64_t{1} << 32)) return std::nullopt;
  return sizes;
}

void fill_random(HostArray& array, std::mt19937& random) {
  std::vector<float> numbers(static_cast<size_t>(array.dims.numel()));
  if (is_float(array.dtype)) {
    std::uniform_real_distribution<float> spread(-1.0F, 1.0F);
    for (float& number : numbers) number = spread(random);
    (void)convert_elements(numbers.data(), DType::kFloat32, array.data.data(), array.dtype,
                           array.dims.numel());
    return;
  }
  // The lowest byte of a little-endian integer is all that 0 and 1 need.
  for (size_t i = 0; i < array.data.size(); i += size_of(array.dtype)) {
    array.data[i] = std::byte(random() & 1U);
  }
}

}  // namespace

Result<Model> Model::open(const std::string& path, const std::vector<std::string>& data_files) {
  std::vector<FileMap> files;
  ETWG_ASSIGN(FileMap first, FileMap::open(path));
  auto program = Program::parse(first.bytes());
  if (!program) return context(path, program.error());
  files.push_back(std::move(first));
  for (const std::string& data : data_files) {
    ETWG_ASSIGN(FileMap file, FileMap::open(data));
    const Status added = program->add_data_file(file.bytes());
    if (!added) return context(data, added.error());
    files.push_back(std::move(file));
  }
  return Model(std::move(files), std::move(*program));
}

Result<std::unique_ptr<Session>> Model::load(std::string_view method, LoadOptions options) const {
  options.done_with = [this](Bytes part) {
    for (const FileMap& file : files_) file.forget(part);
  };
  return Session::load(program_, method, options);
}

std::vector<HostInput> lend(const std::vector<OwnedInput>& inputs) {
  std::vector<HostInput> lent;
  for (const OwnedInput& input : inputs) {
    if (const auto* array = std::get_if<HostArray>(&input)) {
      lent.emplace_back(array->view());
    } else {
      lent.emplace_back(std::get<int64_t>(input));
    }
  }
  return lent;
}

Result<std::vector<OwnedInput>> read_inputs(const std::vector<std::string>& words,
                                            const Method& method) {
  std::vector<OwnedInput> inputs;
  for (const std::string& word : words) {
    if (const auto integer = parse_integer(word)) {
      inputs.emplace_back(*integer);
      continue;
    }
    ETWG_ASSIGN(HostArray array, read_npy(word));
    // .npy has no plain integers: a scalar stands for one where the method takes one.
    const bool wants_tensor =
        inputs.size() >= method.inputs.size() || method.tensor(method.inputs[inputs.size()]);
    if (!wants_tensor && array.dims.numel() == 1 && can_convert(array.dtype, DType::kInt64)) {
      int64_t integer = 0;
      ETWG_TRY(convert_elements(array.data.data(), array.dtype, &integer, DType::kInt64, 1));
      inputs.emplace_back(integer);
      continue;
    }
    inputs.emplace_back(std::move(array));
  }
  return inputs;
}

Result<std::vector<OwnedInput>> random_inputs(const std::vector<std::string>& live,
                                              const Method& method) {
  if (!live.empty() && live.size() != method.inputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "--live has {} sizes, method {} takes {} inputs",
                live.size(), method.name, method.inputs.size());
  }
  std::mt19937 random(1);
  std::vector<OwnedInput> inputs;
  for (size_t i = 0; i < method.inputs.size(); ++i) {
    const HostValue& value = method.value(method.inputs[i]);
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      const auto number = live.empty() ? std::optional(*integer) : parse_integer(live[i]);
      if (!number) return fail(ErrorCode::kInvalidArgument, "--live {}: not a number", live[i]);
      inputs.emplace_back(*number);
      continue;
    }
    const auto* tensor = std::get_if<HostTensor>(&value);
    if (tensor == nullptr || !tensor->dtype) {
      return fail(ErrorCode::kNotSupported, "input {} cannot be made up: pass it by --input", i);
    }
    // A scalar has no sizes to choose.
    const auto sizes = live.empty() || tensor->sizes.rank() == 0 ? std::optional(tensor->sizes)
                                                                 : parse_sizes(live[i]);
    if (!sizes) return fail(ErrorCode::kInvalidArgument, "--live {}: not sizes", live[i]);
    HostArray array(*tensor->dtype, *sizes);
    fill_random(array, random);
    inputs.emplace_back(std::move(array));
  }
  return inputs;
}

Result<std::vector<OwnedInput>> given_or_random(const std::vector<std::string>& words,
                                                const std::vector<std::string>& live,
                                                const Method& method) {
  return words.empty() ? random_inputs(live, method) : read_inputs(words, method);
}

size_t dispatch_count(const Session& session) {
  size_t count = 0;
  for (size_t i = 0; i < session.call_count(); ++i) count += session.executable(i).dispatch_count();
  return count;
}

std::string adapter_name(const Session& session) {
  if (session.call_count() == 0) return {};
  return session.executable(0).device().adapter().name;
}

}  // namespace executorch::backends::webgpu::cli
