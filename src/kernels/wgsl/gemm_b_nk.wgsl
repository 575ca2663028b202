// Loader of B from its transpose, a row-major [batches, n, k] matrix (the weight of a linear layer):
// the input `b`. Elements outside it count as 0.
// constants: K_ALIGNED (k is a multiple of 4). params: n, k.

// B[batch, k .. k+3, n]; k is a multiple of 4.
fn load_b_quad(batch: u32, k: u32, n: u32) -> vec4<f32> {
  let i = (batch * p.n + n) * p.k + k;
  if (K_ALIGNED) {
    return select(vec4<f32>(0.0), b4(i >> 2u), n < p.n && k < p.k);
  }
  let inside = vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(select(0u, p.k, n < p.n));
  return select(vec4<f32>(0.0), vec4<f32>(b1(i), b1(i + 1u), b1(i + 2u), b1(i + 3u)), inside);
}

// Column j holds B[batch, k+j, n .. n+3].
fn load_b_block(batch: u32, k: u32, n: u32) -> mat4x4<f32> {
  return transpose(mat4x4<f32>(load_b_quad(batch, k, n), load_b_quad(batch, k, n + 1u),
                               load_b_quad(batch, k, n + 2u), load_b_quad(batch, k, n + 3u)));
}
