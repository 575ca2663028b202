// C = A * B for batches of matrices with at most ROWS (1, 4 or 8) rows of A, reading B once. A workgroup
// computes WORKGROUP_SIZE / slices quads of columns; the invocations of a quad split k between them
// and add up through workgroup memory. Loaders as for gemm.wgsl, and
//   load_a_quad(batch, row, k) -> A[batch, row, k .. k+3]
//   store_quad(batch, row, n, value)
// constants: ROWS, B_K_CONTIGUOUS. params: batches, m, n, k, slices (a power of two).

var<workgroup> partial: array<vec4<f32>, WORKGROUP_SIZE>;

// One quad of columns of each row. No array, so that it lies in registers.
struct Sums {
  row0: vec4<f32>, row1: vec4<f32>, row2: vec4<f32>, row3: vec4<f32>,
  row4: vec4<f32>, row5: vec4<f32>, row6: vec4<f32>, row7: vec4<f32>,
}

fn add_block(sums: ptr<function, Sums>, batch: u32, k: u32, n: u32) {
  let right = load_b_block(batch, k, n);
  (*sums).row0 += right * load_a_quad(batch, 0u, k);
  if (ROWS > 1u) {
    (*sums).row1 += right * load_a_quad(batch, 1u, k);
    (*sums).row2 += right * load_a_quad(batch, 2u, k);
    (*sums).row3 += right * load_a_quad(batch, 3u, k);
  }
  if (ROWS > 4u) {
    (*sums).row4 += right * load_a_quad(batch, 4u, k);
    (*sums).row5 += right * load_a_quad(batch, 5u, k);
    (*sums).row6 += right * load_a_quad(batch, 6u, k);
    (*sums).row7 += right * load_a_quad(batch, 7u, k);
  }
}

// The product of row `row` of A with blocks of B at k, k + step, k + 2 * step and k + 3 * step.
fn multiply(row: u32, batch: u32, k: u32, step: u32, right0: mat4x4<f32>, right1: mat4x4<f32>,
            right2: mat4x4<f32>, right3: mat4x4<f32>) -> vec4<f32> {
  return right0 * load_a_quad(batch, row, k) + right1 * load_a_quad(batch, row, k + step) +
         right2 * load_a_quad(batch, row, k + 2u * step) +
         right3 * load_a_quad(batch, row, k + 3u * step);
}

// add_block for four blocks at a time, which keeps more loads in flight.
fn add_blocks(sums: ptr<function, Sums>, batch: u32, k: u32, step: u32, n: u32) {
  let right0 = load_b_block(batch, k, n);
  let right1 = load_b_block(batch, k + step, n);
  let right2 = load_b_block(batch, k + 2u * step, n);
  let right3 = load_b_block(batch, k + 3u * step, n);
  (*sums).row0 += multiply(0u, batch, k, step, right0, right1, right2, right3);
  if (ROWS > 1u) {
    (*sums).row1 += multiply(1u, batch, k, step, right0, right1, right2, right3);
    (*sums).row2 += multiply(2u, batch, k, step, right0, right1, right2, right3);
    (*sums).row3 += multiply(3u, batch, k, step, right0, right1, right2, right3);
  }
  if (ROWS > 4u) {
    (*sums).row4 += multiply(4u, batch, k, step, right0, right1, right2, right3);
    (*sums).row5 += multiply(5u, batch, k, step, right0, right1, right2, right3);
    (*sums).row6 += multiply(6u, batch, k, step, right0, right1, right2, right3);
    (*sums).row7 += multiply(7u, batch, k, step, right0, right1, right2, right3);
  }
}

// Adds up the slices' values; `stride` lies between the slices of a quad. The sum is slice 0's.
fn add_slices(value: vec4<f32>, local: u32, slice: u32, stride: u32) -> vec4<f32> {
  partial[local] = value;
  workgroupBarrier();
  for (var half = p.slices / 2u; half > 0u; half /= 2u) {
    if (slice < half) {
      partial[local] += partial[local + half * stride];
    }
    workgroupBarrier();
  }
  let sum = partial[local];
  workgroupBarrier();
  return sum;
}

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

  var sums: Sums;
  let step = p.slices * 4u;
  var k = slice * 4u;
  for (; k + 3u * step < p.k; k += 4u * step) {
    add_blocks(&sums, batch, k, step, n);
  }
  for (; k < p.k; k += step) {
    add_block(&sums, batch, k, n);
  }

  sums.row0 = add_slices(sums.row0, local, slice, stride);
  if (ROWS > 1u) {
    sums.row1 = add_slices(sums.row1, local, slice, stride);
    sums.row2 = add_slices(sums.row2, local, slice, stride);
    sums.row3 = add_slices(sums.row3, local, slice, stride);
  }
  if (ROWS > 4u) {
    sums.row4 = add_slices(sums.row4, local, slice, stride);
    sums.row5 = add_slices(sums.row5, local, slice, stride);
    sums.row6 = add_slices(sums.row6, local, slice, stride);
    sums.row7 = add_slices(sums.row7, local, slice, stride);
  }
  if (slice == 0u) {
    store_quad(batch, 0u, n, sums.row0);
    if (ROWS > 1u) {
      store_quad(batch, 1u, n, sums.row1);
      store_quad(batch, 2u, n, sums.row2);
      store_quad(batch, 3u, n, sums.row3);
    }
    if (ROWS > 4u) {
      store_quad(batch, 4u, n, sums.row4);
      store_quad(batch, 5u, n, sums.row5);
      store_quad(batch, 6u, n, sums.row6);
      store_quad(batch, 7u, n, sums.row7);
    }
  }
}
