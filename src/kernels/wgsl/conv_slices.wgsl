// Sums what the slices of a workgroup computed, through workgroup memory, and stores the tile.

var<workgroup> conv_partial: array<vec4<f32>, SLICES * TILE_M * THREADS_N>;

fn conv_finish(tile: Tile, local: u32, m: u32, n: u32, a0: vec4<f32>, a1: vec4<f32>, a2: vec4<f32>,
               a3: vec4<f32>) {
  const ITEMS_N = TILE_N / LANES;
  let to = ((local / THREADS) * TILE_M + 4u * m) * THREADS_N + n;
  conv_partial[to] = a0;
  conv_partial[to + THREADS_N] = a1;
  conv_partial[to + 2u * THREADS_N] = a2;
  conv_partial[to + 3u * THREADS_N] = a3;
  workgroupBarrier();
  for (var item = local; item < TILE_M * ITEMS_N; item += WORKGROUP_SIZE) {
    let row = item / ITEMS_N;
    let o = tile.row + row;
    var sum = V(0.0);
    for (var slice = 0u; slice < SLICES; slice++) {
      sum += conv_partial_v((slice * TILE_M) * ITEMS_N + item);
    }
    if (o < p.group_out) {
      let channel = tile.group * p.group_out + o;
      conv_store_column(tile.batch * p.groups * p.group_out + channel,
                        tile.column4 * (4u / LANES) + item % ITEMS_N, sum + conv_bias(channel));
    }
  }
}
