// Shared by every kernel: numbering of workgroups and packing of narrow types.

// The engine folds a large one-dimensional grid into two dimensions.
fn workgroup_index(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
  return workgroup.x + workgroup.y * workgroups.x;
}

// float16 without shader-f16: four elements in two words.
fn etwg_unpack_f16(bits: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(bits.x), unpack2x16float(bits.y));
}

// Values beyond the float16 range become infinities, as in an IEEE conversion; WGSL leaves them
// undefined. 65520 is the first value that rounds up to infinity.
fn etwg_pack_f16(value: vec4<f32>) -> vec2<u32> {
  let magnitude = abs(value);
  let safe = select(value, vec4<f32>(0.0), magnitude >= vec4<f32>(65520.0));
  let sign = (bitcast<vec4<u32>>(value) >> vec4<u32>(16u)) & vec4<u32>(0x8000u);
  let infinity = select(vec4<u32>(0u), sign | vec4<u32>(0x7c00u), magnitude >= vec4<f32>(65520.0));
  let packed = vec2<u32>(pack2x16float(safe.xy), pack2x16float(safe.zw));
  return packed | vec2<u32>(infinity.x | (infinity.y << 16u), infinity.z | (infinity.w << 16u));
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
