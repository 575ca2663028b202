// What convolutions as matrix products share. A row is an output channel of a group; columns are
// output positions in groups of four neighbours of one output row, so that a row whose length is no
// multiple of 4 has columns beyond its end. A workgroup computes TILE_M rows x TILE_N columns; its
// SLICES parts each sum over a part of the input channels, an invocation for 4 x 4 elements.
// The weight is packed: [group, input channel, tap, rows padded to 4], see conv_pack.
// params: tiles, tiles_m, tiles_n, groups, group_out, group_in, rows4, columns4 (of an image), row4
//   (of an output row), out_w, out_plane. Modules: conv_tile4 or conv_tile1.

const THREADS_N: u32 = TILE_N / 4u;
const THREADS: u32 = THREADS_N * TILE_M / 4u;  // of a slice

var<workgroup> conv_partial: array<vec4<f32>, SLICES * TILE_M * THREADS_N>;

struct Tile {
  row: u32,      // first of the tile, in its group
  column4: u32,  // first of the tile
  group: u32,
  batch: u32,
}

fn conv_tile(index: u32) -> Tile {
  let n = index % p.tiles_n;
  let m = (index / p.tiles_n) % p.tiles_m;
  let image = index / (p.tiles_n * p.tiles_m);
  return Tile(m * TILE_M, n * THREADS_N, image % p.groups, image / p.groups);
}

// Sums what the slices left in conv_partial and stores the tile.
fn conv_finish(tile: Tile, local: u32) {
  const ITEMS_N = TILE_N / LANES;
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
