// C = A * B for batches of matrices, one TILE_M x TILE_N tile of C a workgroup. What the matrices look
// like in memory is the loaders' affair:
//   load_a_block(batch, row, k), load_b_block(batch, k, n) -> mat4x4<f32>
// give the four values of column (or row) numbers k .. k+3 as columns, 0 outside the matrix.
// finish(row, n, value) and store_quad(batch, row, n, value) take the result.
//
// A workgroup walks along k in steps of TILE_K. While it multiplies one step out of workgroup memory,
// each invocation already fetches its share of the next into registers. An invocation computes
// THREAD_M x THREAD_N blocks of 4x4 elements; SPLIT_K > 1 lets several groups of invocations share
// one tile, each taking a part of every step along k, for products with too few tiles to fill a GPU.
//
// constants: TILE_M, TILE_N, TILE_K, THREAD_M, THREAD_N, SPLIT_K, B_K_CONTIGUOUS.
// params: batches, m, n, k.

const A_QUADS = TILE_M / 4u;
const B_QUADS = TILE_N / 4u;
const THREADS_M = A_QUADS / THREAD_M;  // a multiple of 4
const THREADS_N = B_QUADS / THREAD_N;  // a multiple of 8
const THREADS = THREADS_M * THREADS_N;
const A_BLOCKS = A_QUADS * TILE_K / 4u;
const STAGED = (A_QUADS + B_QUADS) * TILE_K / 4u / WORKGROUP_SIZE;
const ACCUMULATORS = THREAD_M * 4u * THREAD_N;

// Four consecutive rows (columns) at one k are one element: [k][quad].
var<workgroup> tile_a: array<vec4<f32>, A_QUADS * TILE_K>;
var<workgroup> tile_b: array<vec4<f32>, B_QUADS * TILE_K>;

// Which 4x4 block, as (quad, k / 4), an invocation loads. Neighbours read contiguous memory without
// meeting in a bank of workgroup memory when they write.
fn block_position(block: u32, quads: u32, k_contiguous: bool) -> vec2<u32> {
  if (k_contiguous) {
    let k_quads = TILE_K / 4u;
    return vec2<u32>(block % 8u + block / (8u * k_quads) * 8u, block / 8u % k_quads);
  }
  return vec2<u32>(block % quads, block / quads);
}

fn fetch_block(block: u32, batch: u32, row: u32, column: u32, k: u32) -> mat4x4<f32> {
  if (block < A_BLOCKS) {
    let at = block_position(block, A_QUADS, true);
    return load_a_block(batch, row + at.x * 4u, k + at.y * 4u);
  }
  let at = block_position(block - A_BLOCKS, B_QUADS, B_K_CONTIGUOUS);
  return load_b_block(batch, k + at.y * 4u, column + at.x * 4u);
}

fn put_block(block: u32, value: mat4x4<f32>) {
  if (block < A_BLOCKS) {
    let at = block_position(block, A_QUADS, true);
    let i = at.y * 4u * A_QUADS + at.x;
    tile_a[i] = value[0];
    tile_a[i + A_QUADS] = value[1];
    tile_a[i + 2u * A_QUADS] = value[2];
    tile_a[i + 3u * A_QUADS] = value[3];
  } else {
    let at = block_position(block - A_BLOCKS, B_QUADS, B_K_CONTIGUOUS);
    let i = at.y * 4u * B_QUADS + at.x;
    tile_b[i] = value[0];
    tile_b[i + B_QUADS] = value[1];
    tile_b[i + 2u * B_QUADS] = value[2];
    tile_b[i + 3u * B_QUADS] = value[3];
  }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let tiles_n = (p.n + TILE_N - 1u) / TILE_N;
  let tiles_m = (p.m + TILE_M - 1u) / TILE_M;
  let tile = workgroup_index(workgroup, workgroups);
  let batch = tile / (tiles_m * tiles_n);
  if (batch >= p.batches) {
    return;
  }
  let row = tile / tiles_n % tiles_m * TILE_M;
  let column = tile % tiles_n * TILE_N;

  // 32 invocations form a patch of 4 x 8, so that together they read few distinct elements.
  let part = local / THREADS;
  let thread = local % THREADS;
  let patch_number = thread / 32u;
  let thread_m = patch_number / (THREADS_N / 8u) * 4u + thread / 8u % 4u;
  let thread_n = patch_number % (THREADS_N / 8u) * 8u + thread % 8u;

  var staged: array<mat4x4<f32>, STAGED>;
  for (var s = 0u; s < STAGED; s++) {
    staged[s] = fetch_block(local + s * WORKGROUP_SIZE, batch, row, column, 0u);
  }
  var sums: array<vec4<f32>, ACCUMULATORS>;
  for (var k = 0u; k < p.k; k += TILE_K) {
    for (var s = 0u; s < STAGED; s++) {
      put_block(local + s * WORKGROUP_SIZE, staged[s]);
    }
    workgroupBarrier();
    if (k + TILE_K < p.k) {
      for (var s = 0u; s < STAGED; s++) {
        staged[s] = fetch_block(local + s * WORKGROUP_SIZE, batch, row, column, k + TILE_K);
      }
    }
    for (var step = 0u; step < TILE_K / SPLIT_K; step++) {
      let at = part * (TILE_K / SPLIT_K) + step;
      var right: array<vec4<f32>, THREAD_N>;
      for (var j = 0u; j < THREAD_N; j++) {
        right[j] = tile_b[at * B_QUADS + thread_n + j * THREADS_N];
      }
      for (var i = 0u; i < THREAD_M; i++) {
        let left = tile_a[at * A_QUADS + thread_m + i * THREADS_M];
        for (var j = 0u; j < THREAD_N; j++) {
          let s = i * 4u * THREAD_N + j;
          sums[s] += left.x * right[j];
          sums[s + THREAD_N] += left.y * right[j];
          sums[s + 2u * THREAD_N] += left.z * right[j];
          sums[s + 3u * THREAD_N] += left.w * right[j];
        }
      }
    }
    workgroupBarrier();
  }

  // The upper half of the parts hands its sums to the lower half through tile_a, as many at a time
  // as fit.
  for (var half = SPLIT_K / 2u; half > 0u; half /= 2u) {
    let at_once = min(ACCUMULATORS, A_QUADS * TILE_K / (half * THREADS));
    for (var first = 0u; first < ACCUMULATORS; first += at_once) {
      let count = min(at_once, ACCUMULATORS - first);
      if (part >= half && part < 2u * half) {
        for (var s = 0u; s < count; s++) {
          tile_a[s * half * THREADS + local - half * THREADS] = sums[first + s];
        }
      }
      workgroupBarrier();
      if (part < half) {
        for (var s = 0u; s < count; s++) {
          sums[first + s] += tile_a[s * half * THREADS + local];
        }
      }
      workgroupBarrier();
    }
  }

  if (part == 0u) {
    for (var i = 0u; i < THREAD_M; i++) {
      for (var r = 0u; r < 4u; r++) {
        for (var j = 0u; j < THREAD_N; j++) {
          store_quad(batch, row + (thread_m + i * THREADS_M) * 4u + r,
                     column + (thread_n + j * THREADS_N) * 4u,
                     sums[(i * 4u + r) * THREAD_N + j]);
        }
      }
    }
  }
}
