// Loader of A, a row-major [batches, m, k] matrix: the input `a`. Elements outside it count as 0.
// constants: K_ALIGNED (k is a multiple of 4). params: m, k.

// A[batch, row, k .. k+3]; k is a multiple of 4.
fn load_a_quad(batch: u32, row: u32, k: u32) -> vec4<f32> {
  let i = (batch * p.m + row) * p.k + k;
  // Loads are not branched around: an index out of range reads some other element, which select()
  // drops, and the loads of a thread stay independent of one another.
  if (K_ALIGNED) {
    return select(vec4<f32>(0.0), a4(i >> 2u), row < p.m && k < p.k);
  }
  let inside = vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(select(0u, p.k, row < p.m));
  return select(vec4<f32>(0.0), vec4<f32>(a1(i), a1(i + 1u), a1(i + 2u), a1(i + 3u)), inside);
}

// Column j holds A[batch, row .. row+3, k+j].
fn load_a_block(batch: u32, row: u32, k: u32) -> mat4x4<f32> {
  return transpose(mat4x4<f32>(load_a_quad(batch, row, k), load_a_quad(batch, row + 1u, k),
                               load_a_quad(batch, row + 2u, k), load_a_quad(batch, row + 3u, k)));
}
