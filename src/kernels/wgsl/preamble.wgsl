// Shared by every kernel: numbering of workgroups and packing of narrow types.

// The engine folds a large one-dimensional grid into two dimensions.
fn workgroup_index(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
  return workgroup.x + workgroup.y * workgroups.x;
}

// float16 without shader-f16: four elements in two words.
fn etwg_unpack_f16(bits: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(bits.x), unpack2x16float(bits.y));
}

// Values beyond the float16 range become infinities and NaN stays, as in an IEEE conversion; WGSL
// leaves them undefined, and drivers let a NaN spill into the other half of the word. 65520 is the
// first value that rounds up to infinity.
fn etwg_pack_f16(value: vec4<f32>) -> vec2<u32> {
  let bits = bitcast<vec4<u32>>(value);
  let magnitude = bits & vec4<u32>(0x7fffffffu);
  let special = magnitude >= vec4<u32>(0x477ff000u);
  let kind = select(vec4<u32>(0x7c00u), vec4<u32>(0x7e00u), magnitude > vec4<u32>(0x7f800000u));
  let ends = select(vec4<u32>(0u), ((bits >> vec4<u32>(16u)) & vec4<u32>(0x8000u)) | kind, special);
  let safe = select(value, vec4<f32>(0.0), special);
  let packed = vec2<u32>(pack2x16float(safe.xy), pack2x16float(safe.zw));
  return packed | vec2<u32>(ends.x | (ends.y << 16u), ends.z | (ends.w << 16u));
}

// Bytes: four elements in one word, the first in the lowest bits.
fn etwg_unpack_i8(bits: u32) -> vec4<i32> {
  return (vec4<i32>(bitcast<i32>(bits)) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn etwg_unpack_u8(bits: u32) -> vec4<i32> {
  return vec4<i32>((vec4<u32>(bits) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u));
}

fn etwg_pack_8(value: vec4<i32>) -> u32 {
  let bytes = (bitcast<vec4<u32>>(value) & vec4<u32>(255u)) << vec4<u32>(0u, 8u, 16u, 24u);
  return bytes.x | bytes.y | bytes.z | bytes.w;
}
