#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/capabilities.h"
#include "kernels/dispatch.h"

namespace executorch::backends::webgpu {

// How many consecutive elements one call of `store` (and of an accessor `x_v`) covers. Stored
// elements narrower than 32 bits are only writable four at a time, see `can_store_single`.
enum class Lanes : uint8_t { k1 = 1, k4 = 4 };

// Writes the preamble that specialises a WGSL body, and collects what its dispatch needs.
//
// The preamble gives the body (all names as they appear in WGSL):
//   const WORKGROUP_SIZE; fn workgroup_index(wid, nwg) -> u32    linear workgroup number
//   alias V, I, U, B    f32/i32/u32/bool, or their vec4 with Lanes::k4
//   struct Params / `p`    every param() as a u32 field (param_f32: f32), in order of declaration
//   for each input `x`:  fn x4(group: u32) -> vec4<f32|i32>    elements 4*group .. 4*group+3
//                        fn x1(i: u32) -> f32|i32               element i
//                        fn x_v(i: u32)                         x4 or x1 by the number of lanes
//   for each output `o`: fn o_put(i: u32, value: V|I)           group i (k4) or element i (k1)
// Values are f32 for float tensors (whatever their storage) and i32 for int and bool ones.
class KernelBuilder {
 public:
  KernelBuilder(const Graph& graph, const Capabilities& caps, std::string kernel, Lanes lanes,
                bool general = false);

  // Whether single elements of this type can be stored (Lanes::k1 is possible for the output).
  static bool can_store_single(DType dtype, const Capabilities& caps);

  // Declares a tensor that is read, and its accessors. The name must be a fresh WGSL identifier. A
  // tensor that is declared under several names takes one binding.
  void input(std::string_view name, ValueId value);
  // The same, but the bytes as they are: `var<storage, read> <name>: array<element>`, for kernels
  // that unpack weights themselves.
  void raw_input(std::string_view name, ValueId value, std::string_view element);
  // `var<storage, read_write> <name>: array<element>`: written as it is by the body.
  void raw_output(std::string_view name, ValueId value, std::string_view element);
  // Declares the tensor that is written: `fn <name>_put(i: u32, value: V|I)` stores group/element
  // i.
  void output(std::string_view name, ValueId value);

  void param(std::string_view name, LiveFn value);
  void param_i32(std::string_view name, std::function<int32_t(const LiveValues&)> value);
  void param_f32(std::string_view name, float value);
  // `const NAME: u32 = value;`
  void constant(std::string_view name, uint32_t value);
  void constant_bool(std::string_view name, bool value);
  // Text placed after the accessors and before the body (functions that the body calls).
  void code(std::string_view text);
  // A shared WGSL file, placed before code(); each is included once.
  void module(std::string_view name);
  // The body's file. Its entry point is `main`.
  void body(std::string_view name);

  void workgroup_size(uint32_t x) { workgroup_size_ = x; }
  uint32_t workgroup_size() const { return workgroup_size_; }
  // Workgroups for live sizes.
  void workgroups(std::function<uint64_t(const LiveValues&)> count);
  // Enough workgroups for one invocation for each of `count` items; the body checks the bound.
  void invocations(std::function<uint64_t(const LiveValues&)> count);
  void flops(std::function<uint64_t(const LiveValues&)> count);

  // Restricts the specialisation to live sizes for which `condition` holds (all conditions must).
  void require(std::function<bool(const LiveValues&)> condition);
  // True when the variant that must be right for all live sizes is being built: no require().
  bool general() const { return general_; }

  Lanes lanes() const { return lanes_; }
  const Capabilities& capabilities() const { return caps_; }
  // True for tensors whose values are f32 in the kernel.
  bool is_float_value(ValueId value) const;

  // Assembles the source. The builder is spent afterwards.
  Dispatch finish();

 private:
  std::string storage_element(DType dtype, bool single) const;
  std::string load4_expression(DType dtype, const std::string& element) const;
  std::string load1_body(DType dtype, const std::string& buffer) const;
  std::string store_expression(DType dtype) const;

  const Graph& graph_;
  const Capabilities& caps_;
  Lanes lanes_;
  bool general_;
  uint32_t workgroup_size_ = 256;
  std::vector<std::string> modules_;
  std::map<ValueId, std::string> input_buffers_;  // the variables that input() declared
  std::string bindings_;                          // declarations and accessors
  std::string constants_;
  std::string params_;  // fields of the Params struct
  std::string code_;
  std::string body_;
  Dispatch dispatch_;
};

}  // namespace executorch::backends::webgpu
