// C = A * B for batches of matrices without workgroup memory: an invocation computes 8 x 4 elements of C.
// For devices that are processors, where workgroup memory is no faster than any other and barriers are
// dear. Loaders and store_quad as for gemm.wgsl. params: batches, m, n, k.

// Column r of `rows` is C[row + r, n .. n+3].
fn store_block(batch: u32, row: u32, n: u32, rows: mat4x4<f32>) {
  store_quad(batch, row, n, rows[0]);
  store_quad(batch, row + 1u, n, rows[1]);
  store_quad(batch, row + 2u, n, rows[2]);
  store_quad(batch, row + 3u, n, rows[3]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let block = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  let blocks_n = (p.n + 3u) / 4u;
  let blocks_m = (p.m + 7u) / 8u;
  let batch = block / blocks_n / blocks_m;
  if (batch >= p.batches) {
    return;
  }
  let row = block / blocks_n % blocks_m * 8u;
  let n = block % blocks_n * 4u;
  // Column r of a sum holds C[row + r, n .. n+3].
  var upper: mat4x4<f32>;
  var lower: mat4x4<f32>;
  if (row + 4u < p.m) {
    for (var k = 0u; k < p.k; k += 4u) {
      let right = load_b_block(batch, k, n);
      upper += right * transpose(load_a_block(batch, row, k));
      lower += right * transpose(load_a_block(batch, row + 4u, k));
    }
    store_block(batch, row + 4u, n, lower);
  } else {
    for (var k = 0u; k < p.k; k += 4u) {
      upper += load_b_block(batch, k, n) * transpose(load_a_block(batch, row, k));
    }
  }
  store_block(batch, row, n, upper);
}
