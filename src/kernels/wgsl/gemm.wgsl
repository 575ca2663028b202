// C = A * B for batches of matrices, one TILE_M x TILE_N tile of C a workgroup. What the matrices look
// like in memory is the loaders' affair:
//   load_a_block(batch, row, k), load_b_block(batch, k, n) -> mat4x4<f32>
// give the four values of k, k+1, k+2 and k+3 as columns, 0 outside the matrix.
//   store_quad(batch, row, n, value)
// takes the result.
//
// A workgroup walks along k in steps of TILE_K. While it multiplies one step out of workgroup memory,
// each invocation already fetches its share of the next, one 4x4 block of A or of B, into registers.
// An invocation computes THREAD_M x THREAD_N (1 or 2 each) blocks of 4x4 elements; SPLIT_K > 1 lets
// several groups of invocations share one tile, each taking a part of every step along k, for products
// with too few tiles to fill a GPU.
//
// What must lie in registers has a name of its own instead of being an element of an array: drivers put
// arrays in memory as soon as they do not unroll a loop over them, which costs a factor of 15.
//
// constants: TILE_M, TILE_N, TILE_K, THREAD_M, THREAD_N, SPLIT_K, B_K_CONTIGUOUS.
// params: batches, m, n, k.

const A_QUADS = TILE_M / 4u;
const B_QUADS = TILE_N / 4u;
const THREADS_M = A_QUADS / THREAD_M;  // a multiple of 4
const THREADS_N = B_QUADS / THREAD_N;  // a multiple of 8
const THREADS = THREADS_M * THREADS_N;
const TALL = THREAD_M > 1u;
const WIDE = THREAD_N > 1u;
const A_BLOCKS = A_QUADS * TILE_K / 4u;
const BLOCKS = A_BLOCKS + B_QUADS * TILE_K / 4u;  // at most WORKGROUP_SIZE

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

// The block with this number; what those from BLOCKS on hold is of no consequence.
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
  } else if (block < BLOCKS) {
    let at = block_position(block - A_BLOCKS, B_QUADS, B_K_CONTIGUOUS);
    let i = at.y * 4u * B_QUADS + at.x;
    tile_b[i] = value[0];
    tile_b[i + B_QUADS] = value[1];
    tile_b[i + 2u * B_QUADS] = value[2];
    tile_b[i + 3u * B_QUADS] = value[3];
  }
}

// Adds up four rows of the sums of all parts in part 0, through tile_a.
// A_QUADS * TILE_K >= 2 * SPLIT_K * THREADS.
fn add_parts(row0: ptr<function, vec4<f32>>, row1: ptr<function, vec4<f32>>,
             row2: ptr<function, vec4<f32>>, row3: ptr<function, vec4<f32>>, local: u32) {
  for (var half = SPLIT_K / 2u; half > 0u; half /= 2u) {
    let size = half * THREADS;
    if (local >= size && local < 2u * size) {
      let i = local - size;
      tile_a[i] = *row0;
      tile_a[i + size] = *row1;
      tile_a[i + 2u * size] = *row2;
      tile_a[i + 3u * size] = *row3;
    }
    workgroupBarrier();
    if (local < size) {
      *row0 += tile_a[local];
      *row1 += tile_a[local + size];
      *row2 += tile_a[local + 2u * size];
      *row3 += tile_a[local + 3u * size];
    }
    workgroupBarrier();
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

  var next = fetch_block(local, batch, row, column, 0u);
  // sum<r><j>: row r of the invocation's rows (4 to 7 lie THREADS_M quads below), quad j of its columns.
  var sum00: vec4<f32>;
  var sum01: vec4<f32>;
  var sum10: vec4<f32>;
  var sum11: vec4<f32>;
  var sum20: vec4<f32>;
  var sum21: vec4<f32>;
  var sum30: vec4<f32>;
  var sum31: vec4<f32>;
  var sum40: vec4<f32>;
  var sum41: vec4<f32>;
  var sum50: vec4<f32>;
  var sum51: vec4<f32>;
  var sum60: vec4<f32>;
  var sum61: vec4<f32>;
  var sum70: vec4<f32>;
  var sum71: vec4<f32>;
  for (var k = 0u; k < p.k; k += TILE_K) {
    put_block(local, next);
    workgroupBarrier();
    if (k + TILE_K < p.k) {
      next = fetch_block(local, batch, row, column, k + TILE_K);
    }
    for (var step = 0u; step < TILE_K / SPLIT_K; step++) {
      let at = part * (TILE_K / SPLIT_K) + step;
      let right0 = tile_b[at * B_QUADS + thread_n];
      let right1 = tile_b[at * B_QUADS + thread_n + (THREAD_N - 1u) * THREADS_N];
      let left0 = tile_a[at * A_QUADS + thread_m];
      let left1 = tile_a[at * A_QUADS + thread_m + (THREAD_M - 1u) * THREADS_M];
      sum00 += left0.x * right0;
      if (WIDE) { sum01 += left0.x * right1; }
      sum10 += left0.y * right0;
      if (WIDE) { sum11 += left0.y * right1; }
      sum20 += left0.z * right0;
      if (WIDE) { sum21 += left0.z * right1; }
      sum30 += left0.w * right0;
      if (WIDE) { sum31 += left0.w * right1; }
      if (TALL) {
        sum40 += left1.x * right0;
        if (WIDE) { sum41 += left1.x * right1; }
        sum50 += left1.y * right0;
        if (WIDE) { sum51 += left1.y * right1; }
        sum60 += left1.z * right0;
        if (WIDE) { sum61 += left1.z * right1; }
        sum70 += left1.w * right0;
        if (WIDE) { sum71 += left1.w * right1; }
      }
    }
    workgroupBarrier();
  }

  if (SPLIT_K > 1u) {
    add_parts(&sum00, &sum10, &sum20, &sum30, local);
    if (WIDE) { add_parts(&sum01, &sum11, &sum21, &sum31, local); }
    if (TALL) { add_parts(&sum40, &sum50, &sum60, &sum70, local); }
    if (TALL && WIDE) { add_parts(&sum41, &sum51, &sum61, &sum71, local); }
    if (part > 0u) {
      return;
    }
  }
  let row0 = row + thread_m * 4u;
  let n0 = column + thread_n * 4u;
  let n1 = n0 + THREADS_N * 4u;
  store_quad(batch, row0, n0, sum00);
  if (WIDE) { store_quad(batch, row0, n1, sum01); }
  store_quad(batch, row0 + 1u, n0, sum10);
  if (WIDE) { store_quad(batch, row0 + 1u, n1, sum11); }
  store_quad(batch, row0 + 2u, n0, sum20);
  if (WIDE) { store_quad(batch, row0 + 2u, n1, sum21); }
  store_quad(batch, row0 + 3u, n0, sum30);
  if (WIDE) { store_quad(batch, row0 + 3u, n1, sum31); }
  if (TALL) {
    let row4 = row0 + THREADS_M * 4u;
    store_quad(batch, row4, n0, sum40);
    if (WIDE) { store_quad(batch, row4, n1, sum41); }
    store_quad(batch, row4 + 1u, n0, sum50);
    if (WIDE) { store_quad(batch, row4 + 1u, n1, sum51); }
    store_quad(batch, row4 + 2u, n0, sum60);
    if (WIDE) { store_quad(batch, row4 + 2u, n1, sum61); }
    store_quad(batch, row4 + 3u, n0, sum70);
    if (WIDE) { store_quad(batch, row4 + 3u, n1, sum71); }
  }
}
