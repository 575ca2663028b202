// What convolutions as matrix products share. A row is an output channel of a group; columns are
// output positions in groups of four neighbours of one output row, so that a row whose length is no
// multiple of 4 has columns beyond its end. A workgroup computes TILE_M rows x TILE_N columns; its
// SLICES parts each sum over a part of the input channels, an invocation for 4 x 4 elements.
// The weight is packed: [group, input channel, tap, rows padded to 4], see conv_pack.
// params: tiles, tiles_m, tiles_n, groups, group_out, group_in, rows4, columns4 (of an image), row4
//   (of an output row), out_w, out_plane. Modules: conv_tile4 or
// conv_tile1 (columns), conv_direct (SLICES is 1) or conv_slices.

const THREADS_N: u32 = TILE_N / 4u;
const THREADS: u32 = THREADS_N * TILE_M / 4u;  // of a slice

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
