// Loader of B, a row-major [batches, k, n] matrix: the input `b`. Elements outside it count as 0.
// constants: N_ALIGNED (n is a multiple of 4). params: n, k.

// B[batch, k, n .. n+3]; n is a multiple of 4.
fn load_b_quad(batch: u32, k: u32, n: u32) -> vec4<f32> {
  let i = (batch * p.k + k) * p.n + n;
  if (N_ALIGNED) {
    return select(vec4<f32>(0.0), b4(i >> 2u), k < p.k && n < p.n);
  }
  let inside = vec4<u32>(n, n + 1u, n + 2u, n + 3u) < vec4<u32>(select(0u, p.n, k < p.k));
  return select(vec4<f32>(0.0), vec4<f32>(b1(i), b1(i + 1u), b1(i + 2u), b1(i + 3u)), inside);
}

// Column j holds B[batch, k+j, n .. n+3].
fn load_b_block(batch: u32, k: u32, n: u32) -> mat4x4<f32> {
  return mat4x4<f32>(load_b_quad(batch, k, n), load_b_quad(batch, k + 1u, n),
                     load_b_quad(batch, k + 2u, n), load_b_quad(batch, k + 3u, n));
}
