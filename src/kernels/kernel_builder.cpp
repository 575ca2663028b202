#include "kernels/kernel_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/checked.h"
#include "kernels/wgsl.h"

namespace executorch::backends::webgpu {

KernelBuilder::KernelBuilder(const Graph& graph, const Capabilities& caps, std::string kernel,
                             Lanes lanes, bool general)
    : graph_(graph), caps_(caps), lanes_(lanes), general_(general) {
  dispatch_.kernel = std::move(kernel);
}

bool KernelBuilder::can_store_single(DType dtype, const Capabilities& caps) {
  return size_of(dtype) == 4 || (dtype == DType::kFloat16 && caps.f16);
}

bool KernelBuilder::is_float_value(ValueId value) const {
  const Tensor* tensor = graph_.tensor(value);
  return tensor != nullptr && is_float(tensor->dtype);
}

// The element type of the buffer's array: one element holds four tensor elements, or one.
std::string KernelBuilder::storage_element(DType dtype, bool single) const {
  if (dtype == DType::kFloat32) return single ? "f32" : "vec4<f32>";
  if (dtype == DType::kInt32) return single ? "i32" : "vec4<i32>";
  if (dtype == DType::kFloat16 && caps_.f16) return single ? "f16" : "vec4<f16>";
  assert(!single);
  return dtype == DType::kFloat16 ? "vec2<u32>" : "u32";
}

std::string KernelBuilder::load4_expression(DType dtype, const std::string& element) const {
  switch (dtype) {
    case DType::kFloat16:
      return caps_.f16 ? fmt::format("vec4<f32>({})", element)
                       : fmt::format("etwg_unpack_f16({})", element);
    case DType::kInt8:
      return fmt::format("etwg_unpack_i8({})", element);
    case DType::kUInt8:
      return fmt::format("etwg_unpack_u8({})", element);
    case DType::kBool:
      return fmt::format("vec4<i32>(etwg_unpack_u8({}) != vec4<i32>(0))", element);
    default:
      return element;
  }
}

std::string KernelBuilder::load1_body(DType dtype, const std::string& buffer) const {
  if (dtype == DType::kFloat16 && !caps_.f16) {
    return fmt::format(
        "let pair = unpack2x16float({}[i >> 2u][(i >> 1u) & 1u]);\n"
        "  return select(pair.x, pair.y, (i & 1u) == 1u);",
        buffer);
  }
  if (dtype == DType::kFloat16) return fmt::format("return f32({}[i >> 2u][i & 3u]);", buffer);
  const std::string bits = fmt::format("{}[i >> 2u], (i & 3u) * 8u, 8u", buffer);
  if (dtype == DType::kInt8) {
    return fmt::format("return extractBits(bitcast<i32>({}[i >> 2u]), (i & 3u) * 8u, 8u);", buffer);
  }
  if (dtype == DType::kUInt8) return fmt::format("return i32(extractBits({}));", bits);
  if (dtype == DType::kBool) return fmt::format("return i32(extractBits({}) != 0u);", bits);
  return fmt::format("return {}[i >> 2u][i & 3u];", buffer);
}

// What is stored for `value`, a V or an I.
std::string KernelBuilder::store_expression(DType dtype) const {
  switch (dtype) {
    case DType::kFloat16:
      if (!caps_.f16) return "etwg_pack_f16(value)";
      return lanes_ == Lanes::k4 ? "vec4<f16>(value)" : "f16(value)";
    case DType::kInt8:
    case DType::kUInt8:
      return "etwg_pack_8(value)";
    case DType::kBool:
      return "etwg_pack_8(vec4<i32>(value != vec4<i32>(0)))";
    default:
      return "value";
  }
}

void KernelBuilder::input(std::string_view name, ValueId value) {
  const DType dtype = graph_.tensor(value)->dtype;
  std::string& buffer = input_buffers_[value];
  if (buffer.empty()) {
    buffer = fmt::format("{}_buffer", name);
    raw_input(buffer, value, storage_element(dtype, /*single=*/false));
  }
  const char* scalar = is_float(dtype) ? "f32" : "i32";
  bindings_ += fmt::format("fn {}4(group: u32) -> vec4<{}> {{\n  return {};\n}}\n", name, scalar,
                           load4_expression(dtype, buffer + "[group]"));
  bindings_ +=
      fmt::format("fn {}1(i: u32) -> {} {{\n  {}\n}}\n", name, scalar, load1_body(dtype, buffer));
  bindings_ += fmt::format("fn {0}_v(i: u32) -> {1} {{\n  return {0}{2}(i);\n}}\n", name,
                           is_float(dtype) ? "V" : "I", lanes_ == Lanes::k4 ? 4 : 1);
}

void KernelBuilder::raw_input(std::string_view name, ValueId value, std::string_view element) {
  bindings_ += fmt::format("@group(0) @binding({}) var<storage, read> {}: array<{}>;\n",
                           dispatch_.bindings.size(), name, element);
  dispatch_.bindings.push_back({value, Access::kRead});
}

void KernelBuilder::output(std::string_view name, ValueId value) {
  const DType dtype = graph_.tensor(value)->dtype;
  const bool single = lanes_ == Lanes::k1;
  assert(!single || can_store_single(dtype, caps_));
  raw_output(fmt::format("{}_buffer", name), value, storage_element(dtype, single));
  bindings_ += fmt::format("fn {0}_put(i: u32, value: {1}) {{\n  {0}_buffer[i] = {2};\n}}\n", name,
                           is_float(dtype) ? "V" : "I", store_expression(dtype));
}

void KernelBuilder::raw_output(std::string_view name, ValueId value, std::string_view element) {
  bindings_ += fmt::format("@group(0) @binding({}) var<storage, read_write> {}: array<{}>;\n",
                           dispatch_.bindings.size(), name, element);
  dispatch_.bindings.push_back({value, Access::kReadWrite});
}

void KernelBuilder::param(std::string_view name, LiveFn value) {
  params_ += fmt::format("  {}: u32,\n", name);
  dispatch_.params.push_back(std::move(value));
}

void KernelBuilder::param_i32(std::string_view name,
                              std::function<int32_t(const LiveValues&)> value) {
  params_ += fmt::format("  {}: i32,\n", name);
  dispatch_.params.push_back([value = std::move(value)](const LiveValues& live) {
    return std::bit_cast<uint32_t>(value(live));
  });
}

void KernelBuilder::param_f32(std::string_view name, float value) {
  params_ += fmt::format("  {}: f32,\n", name);
  dispatch_.params.push_back(
      [bits = std::bit_cast<uint32_t>(value)](const LiveValues&) { return bits; });
}

void KernelBuilder::constant(std::string_view name, uint32_t value) {
  constants_ += fmt::format("const {}: u32 = {}u;\n", name, value);
}

void KernelBuilder::constant_bool(std::string_view name, bool value) {
  constants_ += fmt::format("const {}: bool = {};\n", name, value);
}

void KernelBuilder::code(std::string_view text) { code_ += text; }

void KernelBuilder::module(std::string_view name) {
  if (std::find(modules_.begin(), modules_.end(), name) == modules_.end()) {
    modules_.emplace_back(name);
  }
}

void KernelBuilder::body(std::string_view name) {
  body_ = wgsl_source(name);
  assert(!body_.empty() && "no such WGSL file");
}

void KernelBuilder::workgroups(std::function<uint64_t(const LiveValues&)> count) {
  dispatch_.workgroups = std::move(count);
}

void KernelBuilder::invocations(std::function<uint64_t(const LiveValues&)> count) {
  dispatch_.workgroups = [count = std::move(count), size = workgroup_size_](
                             const LiveValues& live) { return div_up(count(live), size); };
}

void KernelBuilder::flops(std::function<uint64_t(const LiveValues&)> count) {
  dispatch_.flops = std::move(count);
}

void KernelBuilder::require(std::function<bool(const LiveValues&)> condition) {
  assert(!general_);
  if (!dispatch_.applies) {
    dispatch_.applies = std::move(condition);
    return;
  }
  dispatch_.applies = [first = std::move(dispatch_.applies), second = std::move(condition)](
                          const LiveValues& live) { return first(live) && second(live); };
}

Dispatch KernelBuilder::finish() {
  std::string& source = dispatch_.source;
  if (caps_.f16) source += "enable f16;\n";
  if (caps_.subgroups) source += "enable subgroups;\n";
  const bool four = lanes_ == Lanes::k4;
  for (const auto& [alias, scalar] :
       {std::pair{"V", "f32"}, {"I", "i32"}, {"U", "u32"}, {"B", "bool"}}) {
    source += four ? fmt::format("alias {} = vec4<{}>;\n", alias, scalar)
                   : fmt::format("alias {} = {};\n", alias, scalar);
  }
  source += fmt::format("const LANES: u32 = {}u;\nconst WORKGROUP_SIZE: u32 = {}u;\n",
                        static_cast<int>(lanes_), workgroup_size_);
  source += constants_;
  if (!params_.empty()) {
    source +=
        fmt::format("struct Params {{\n{}}}\n@group(0) @binding({}) var<uniform> p: Params;\n",
                    params_, dispatch_.bindings.size());
  }
  source += wgsl_source("preamble");
  source += bindings_;
  for (const std::string& name : modules_) {
    const std::string_view text = wgsl_source(name);
    assert(!text.empty() && "no such WGSL module");
    source += text;
  }
  source += code_;
  source += body_;
  return std::move(dispatch_);
}

}  // namespace executorch::backends::webgpu
