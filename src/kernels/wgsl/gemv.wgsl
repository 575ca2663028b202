// C = A * B for batches of matrices with at most ROWS rows of A, reading B once. A workgroup computes
// WORKGROUP_SIZE / slices quads of columns; the invocations of a quad split k between them
// and add up through workgroup memory. Loaders and store_quad as for gemm.wgsl, and
//   load_a_quad(batch, row, k) -> A[batch, row, k .. k+3]
// constants: ROWS, B_K_CONTIGUOUS. params: batches, m, n, k, slices (a power of two).

var<workgroup> partial: array<vec4<f32>, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let quads = WORKGROUP_SIZE / p.slices;
  let groups = (p.n + 4u * quads - 1u) / (4u * quads);
  let group = workgroup_index(workgroup, workgroups);
  let batch = group / groups;
  if (batch >= p.batches) {
    return;
  }
  // Neighbouring invocations go along the dimension in which B is contiguous.
  let slice = select(local / quads, local % p.slices, B_K_CONTIGUOUS);
  let quad = select(local % quads, local / p.slices, B_K_CONTIGUOUS);
  let stride = select(quads, 1u, B_K_CONTIGUOUS);  // between slices of a quad
  let n = (group % groups * quads + quad) * 4u;

  var sums: array<vec4<f32>, ROWS>;
  let step = p.slices * 4u;
  var k = slice * 4u;
  for (; k + step < p.k; k += 2u * step) {  // two blocks at a time keep more loads in flight
    let first = load_b_block(batch, k, n);
    let second = load_b_block(batch, k + step, n);
    for (var r = 0u; r < ROWS; r++) {
      sums[r] += first * load_a_quad(batch, r, k) + second * load_a_quad(batch, r, k + step);
    }
  }
  if (k < p.k) {
    let block = load_b_block(batch, k, n);
    for (var r = 0u; r < ROWS; r++) {
      sums[r] += block * load_a_quad(batch, r, k);
    }
  }

  for (var r = 0u; r < ROWS; r++) {
    partial[local] = sums[r];
    workgroupBarrier();
    for (var half = p.slices / 2u; half > 0u; half /= 2u) {
      if (slice < half) {
        partial[local] += partial[local + half * stride];
      }
      workgroupBarrier();
    }
    if (slice == 0u) {
      store_quad(batch, r, n, partial[local]);
    }
    workgroupBarrier();
  }
}
