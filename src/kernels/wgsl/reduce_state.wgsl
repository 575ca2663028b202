// Scalar helpers of reductions. NaN is looked for in the bits, since WGSL may assume there is none.

fn bits_to_float(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn is_zero(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0u;
}

// a / b where b is not negative; by 0 as in IEEE arithmetic, which WGSL does not promise.
fn ratio(a: f32, b: f32) -> f32 {
  if (b == 0.0) {
    let infinity = bitcast<f32>((bitcast<u32>(a) & 0x80000000u) | 0x7f800000u);
    return select(infinity, bits_to_float(0x7fc00000u), a == 0.0 || is_nan(a));
  }
  return a / b;
}
