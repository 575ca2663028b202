// Scalar helpers of reductions. NaN is looked for in the bits, since WGSL may assume there is none.

fn bits_to_float(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
