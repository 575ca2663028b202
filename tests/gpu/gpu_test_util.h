#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/executable.h"
#include "graph_builder.h"

namespace executorch::backends::webgpu {

// The graph, loaded on the shared test device; fails the test when that does not work. Constants
// are handed out by `constants`, if the graph has any.
inline std::unique_ptr<Executable> load_graph(Graph graph, const ConstantReader& constants = {},
                                              const DeviceOptions& device_options = {},
                                              const PlanOptions& plan_options = {},
                                              const ExecutableOptions& options = {}) {
  auto device = Device::acquire(device_options);
  if (!device) {
    ADD_FAILURE() << device.error().message;
    return nullptr;
  }
  auto plan = make_plan(std::move(graph), (*device)->capabilities(), plan_options);
  if (!plan) {
    ADD_FAILURE() << plan.error().message;
    return nullptr;
  }
  auto executable = Executable::load(*device, std::move(*plan), constants, options);
  if (!executable) {
    ADD_FAILURE() << executable.error().message;
    return nullptr;
  }
  return std::move(*executable);
}

namespace test {

// A tensor of any type as float64 values, which hold those of every type on the GPU.
struct Values {
  Shape dims;
  std::vector<double> data;
};

inline Values arange(Shape dims, double from = 0, double step = 1) {
  Values out{dims, {}};
  for (int64_t i = 0; i < dims.numel(); ++i)
    out.data.push_back(from + step * static_cast<double>(i));
  return out;
}

// The elements as `dtype` has them in memory.
inline std::vector<std::byte> encode(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> out(values.size() * size_of(dtype));
  const auto put = [&](size_t i, auto value) {
    std::memcpy(out.data() + i * sizeof(value), &value, sizeof(value));
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    if (dtype == DType::kFloat32) put(i, static_cast<float>(v));
    if (dtype == DType::kInt32) put(i, static_cast<int32_t>(static_cast<int64_t>(v)));
    if (dtype == DType::kInt8) put(i, static_cast<int8_t>(static_cast<int64_t>(v)));
    if (dtype == DType::kUInt8) put(i, static_cast<uint8_t>(static_cast<int64_t>(v)));
    if (dtype == DType::kBool) put(i, static_cast<uint8_t>(v != 0));
  }
  if (dtype == DType::kFloat16) {
    const Status status = convert_elements(values.data(), DType::kFloat64, out.data(), dtype,
                                           static_cast<int64_t>(values.size()));
    EXPECT_TRUE(status);
  }
  return out;
}

inline std::vector<double> decode(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> out(bytes.size() / size_of(dtype));
  const auto get = [&](size_t i, auto value) {
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  for (size_t i = 0; i < out.size(); ++i) {
    if (dtype == DType::kFloat32) out[i] = get(i, float{});
    if (dtype == DType::kInt32) out[i] = get(i, int32_t{});
    if (dtype == DType::kInt8) out[i] = get(i, int8_t{});
    if (dtype == DType::kUInt8 || dtype == DType::kBool) out[i] = get(i, uint8_t{});
  }
  if (dtype == DType::kFloat16) {
    EXPECT_TRUE(convert_elements(bytes.data(), dtype, out.data(), DType::kFloat64,
                                 static_cast<int64_t>(out.size())));
  }
  return out;
}

// The values as a tensor of `dtype` holds them (float64 is rounded, integers are wrapped).
inline std::vector<double> rounded(DType dtype, const std::vector<double>& values) {
  return decode(dtype, encode(dtype, values));
}

// The element of `x` that an operand broadcasts to element `i` of sizes `out`.
inline double broadcast_at(const Values& x, const Shape& out, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int d = 0; d < out.rank(); ++d) {
    const int64_t c = i % out.last(d);
    i /= out.last(d);
    if (x.dims.last(d) != 1) at += c * stride;
    stride *= x.dims.last(d);
  }
  return x.data[static_cast<size_t>(at)];
}

struct Options {
  DeviceOptions device = {};
  PlanOptions plan = {};
  ExecutableOptions executable = {};
};

// Every way a device can present itself that kernels depend on.
inline std::vector<Options> device_variants() {
  std::vector<Options> out(2);
  out[1].device.default_limits = true;
  out[1].device.f16 = out[1].device.subgroups = false;
  return out;
}

// A built graph on the GPU. Inputs and outputs are in the graph's order, without integers among the
// outputs.
class Loaded {
 public:
  explicit Loaded(GraphBuilder builder, const Options& options = {})
      : constants_(std::move(builder.constants)) {
    executable_ = load_graph(
        std::move(builder.graph),
        [this](const Constant& constant, const std::function<Status(Bytes)>& use) {
          return use(Bytes(constants_[static_cast<size_t>(std::stoi(constant.key))]));
        },
        options.device, options.plan, options.executable);
  }

  explicit operator bool() const { return executable_ != nullptr; }
  Executable& executable() { return *executable_; }
  const Graph& graph() const { return executable_->plan().graph; }

  // Outputs of a run; nullopt with `error` set when it fails. `integers` are the SymInt inputs in
  // order.
  std::optional<std::vector<Values>> try_run(const std::vector<Values>& inputs,
                                             const Ints& integers, std::string& error) {
    std::vector<HostInput> host;
    std::vector<std::vector<std::byte>> bytes;
    bytes.reserve(inputs.size());
    size_t next = 0, next_integer = 0;
    for (ValueId id : graph().inputs) {
      const Tensor* tensor = graph().tensor(id);
      if (tensor == nullptr) {
        host.emplace_back(integers.at(next_integer++));
        continue;
      }
      const Values& input = inputs.at(next++);
      bytes.push_back(encode(tensor->dtype, input.data));
      host.emplace_back(HostTensorView{bytes.back().data(), tensor->dtype, input.dims});
    }
    if (Status begun = executable_->begin(host); !begun) {
      error = begun.error().message;
      return std::nullopt;
    }
    std::vector<std::vector<std::byte>> raw;
    std::vector<Executable::HostOutput> outputs;
    for (size_t i = 0; i < graph().outputs.size(); ++i) {
      const Tensor* tensor = graph().tensor(graph().outputs[i]);
      const DType dtype = tensor == nullptr ? DType::kInt32 : tensor->dtype;
      raw.emplace_back(static_cast<size_t>(executable_->output_dims(i).numel()) * size_of(dtype));
      outputs.push_back({raw.back().data(), dtype});
    }
    if (Status finished = executable_->finish(outputs); !finished) {
      error = finished.error().message;
      return std::nullopt;
    }
    std::vector<Values> out;
    for (size_t i = 0; i < raw.size(); ++i) {
      if (graph().tensor(graph().outputs[i]) == nullptr) continue;
      out.push_back({executable_->output_dims(i), decode(outputs[i].dtype, raw[i])});
    }
    return out;
  }

  std::vector<Values> run(const std::vector<Values>& inputs, const Ints& integers = {}) {
    if (executable_ == nullptr) return {};
    std::string error;
    auto out = try_run(inputs, integers, error);
    EXPECT_TRUE(out) << error;
    return out.value_or(std::vector<Values>());
  }
  Values run1(const std::vector<Values>& inputs, const Ints& integers = {}) {
    auto out = run(inputs, integers);
    return out.empty() ? Values{} : out[0];
  }
  // The message of a run that must fail.
  std::string error(const std::vector<Values>& inputs, const Ints& integers = {}) {
    std::string message;
    EXPECT_FALSE(try_run(inputs, integers, message));
    return message;
  }

 private:
  std::vector<std::vector<std::byte>> constants_;
  std::unique_ptr<Executable> executable_;
};

// How far a result may be from the expected value: absolute plus relative to it. 0, 0: equal, with
// NaN equal to NaN (and -0 to 0).
struct Tolerance {
  double absolute = 0, relative = 0;
};
inline constexpr double kUlp = 1.0 / 8388608;  // of float32, at the low end of a binade

inline void expect_values(const Values& actual, const Values& expected, Tolerance tolerance = {},
                          const std::string& what = "") {
  EXPECT_EQ(actual.dims, expected.dims) << what;
  ASSERT_EQ(actual.data.size(), expected.data.size()) << what;
  int reported = 0;
  for (size_t i = 0; i < actual.data.size() && reported < 4; ++i) {
    const double a = actual.data[i], e = expected.data[i];
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    if (std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e) &&
        std::isfinite(a) && std::isfinite(e)) {
      continue;
    }
    ADD_FAILURE() << what << " element " << i << " is " << a << ", expected " << e << " (off by "
                  << std::abs(a - e) / std::abs(e) / kUlp << " ulp)";
    ++reported;
  }
}

}  // namespace test
}  // namespace executorch::backends::webgpu
