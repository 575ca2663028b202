// C = A * B for batches of matrices, four consecutive elements of C an invocation. Right for every size
// and every type of C, also those that can only be stored four at a time; slow. Loaders as for
// gemm.wgsl. params: batches, m, n, k.

fn element(i: u32) -> f32 {
  let batch = i / p.n / p.m;
  let row = i / p.n % p.m;
  let n = i % p.n;
  var sum = 0.0;
  for (var k = 0u; k < p.k; k += 4u) {
    let left = load_a_block(batch, row, k);
    let right = load_b_block(batch, k, n);
    sum += left[0].x * right[0].x + left[1].x * right[1].x + left[2].x * right[2].x +
           left[3].x * right[3].x;
  }
  return finish(row, n, vec4<f32>(sum)).x;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = (workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local) * 4u;
  let count = p.batches * p.m * p.n;
  if (i >= count) {
    return;
  }
  // The last group may reach past the end of C: those elements land in its padding.
  var sums: vec4<f32>;
  for (var j = 0u; j < min(4u, count - i); j++) {
    sums[j] = element(i + j);
  }
  store(i >> 2u, sums);
}
