#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace executorch::backends::webgpu {

// What kind of thing went wrong; the ExecuTorch adapter maps each to a runtime::Error.
enum class ErrorCode {
  kInvalidProgram,   // the .pte, the payload or the graph in it is malformed
  kInvalidArgument,  // the caller passed inputs that do not fit the program
  kNotSupported,     // well formed, but this runtime or this device cannot do it
  kNotFound,         // a named constant, method, file or adapter is missing
  kOutOfMemory,      // a buffer could not be allocated or exceeds the device's limits
  kDeviceLost,       // the GPU went away; load the program again
  kInternal,         // a defect in this library
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // names the thing at fault, for the user to act on
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// Builds the error side of a Result: `return fail(ErrorCode::kNotFound, "constant {}", key);`
template <typename... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// The same for what is wrong with a file: `return invalid("names value {} of {}", id, count);`
template <typename... Args>
tl::unexpected<Error> invalid(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::kInvalidProgram, format, std::forward<Args>(args)...);
}

// Passes an error on, with what was being done in front of its message.
inline tl::unexpected<Error> context(std::string_view what, Error error) {
  error.message = fmt::format("{}: {}", what, error.message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace executorch::backends::webgpu

#define ETWG_CONCAT_INNER(a, b) a##b
#define ETWG_CONCAT(a, b) ETWG_CONCAT_INNER(a, b)

// Returns from the enclosing function when a Status or Result holds an error.
#define ETWG_TRY(expr)                                                \
  do {                                                                \
    if (auto etwg_status = (expr); !etwg_status) {                    \
      return ::tl::unexpected<::executorch::backends::webgpu::Error>( \
          std::move(etwg_status.error()));                            \
    }                                                                 \
  } while (0)

// `ETWG_ASSIGN(auto x, make_x());` binds the value of a Result or returns its error.
#define ETWG_ASSIGN(lhs, expr) ETWG_ASSIGN_IMPL(ETWG_CONCAT(etwg_result_, __LINE__), lhs, expr)
#define ETWG_ASSIGN_IMPL(tmp, lhs, expr)                                                    \
  auto tmp = (expr);                                                                        \
  if (!tmp) {                                                                               \
    return ::tl::unexpected<::executorch::backends::webgpu::Error>(std::move(tmp.error())); \
  }                                                                                         \
  lhs = std::move(*tmp)
