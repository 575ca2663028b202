#pragma once

#include <string>
#include <vector>

#include "program/file_map.h"
#include "program/program.h"
#include "session/session.h"

namespace executorch::backends::webgpu::cli {

// A program with the files it lies in.
class Model {
 public:
  // Errors name the file.
  static Result<Model> open(const std::string& path, const std::vector<std::string>& data_files);

  const Program& program() const { return program_; }
  // As Session::load; constants leave host memory as soon as they are on the GPU.
  Result<std::unique_ptr<Session>> load(std::string_view method, LoadOptions options) const;

 private:
  explicit Model(std::vector<FileMap> files, Program program)
      : files_(std::move(files)), program_(std::move(program)) {}
  std::vector<FileMap> files_;
  Program program_;
};

// The options that name a program, which most subcommands take.
struct ModelOptions {
  std::string path;
  std::vector<std::string> data;
  std::string method = "forward";

  Result<Model> open() const { return Model::open(path, data); }
};

// Values that a run takes, owned.
using OwnedInput = HostOutputValue;
std::vector<HostInput> lend(const std::vector<OwnedInput>& inputs);

// `words` are .npy files or plain integers.
Result<std::vector<OwnedInput>> read_inputs(const std::vector<std::string>& words,
                                            const Method& method);
// Seeded numbers: floats in [-1, 1], integers 0 or 1, which are valid indices. `live` has the sizes
// of each input ("1x37"; a number for an integer); when it is empty, they are the maximum sizes.
Result<std::vector<OwnedInput>> random_inputs(const std::vector<std::string>& live,
                                              const Method& method);
// The first when there are words, else the second.
Result<std::vector<OwnedInput>> given_or_random(const std::vector<std::string>& words,
                                                const std::vector<std::string>& live,
                                                const Method& method);

// Sum of the dispatches of all calls at the current sizes.
size_t dispatch_count(const Session& session);
// "NVIDIA H200"; empty when the session has no delegate.
std::string adapter_name(const Session& session);

}  // namespace executorch::backends::webgpu::cli
