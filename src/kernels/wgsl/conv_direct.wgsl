// Stores the tile of a workgroup with one slice: every invocation has its 4 x 4 sums complete.

fn conv_store_row4(tile: Tile, row: u32, n: u32, sum: vec4<f32>) {
  let o = tile.row + row;
  if (o < p.group_out) {
    let channel = tile.group * p.group_out + o;
    conv_store_columns(tile.batch * p.groups * p.group_out + channel, tile.column4 + n,
                       sum + vec4<f32>(conv_bias(channel)));
  }
}

fn conv_finish(tile: Tile, local: u32, m: u32, n: u32, a0: vec4<f32>, a1: vec4<f32>, a2: vec4<f32>,
               a3: vec4<f32>) {
  conv_store_row4(tile, 4u * m, n, a0);
  conv_store_row4(tile, 4u * m + 1u, n, a1);
  conv_store_row4(tile, 4u * m + 2u, n, a2);
  conv_store_row4(tile, 4u * m + 3u, n, a3);
}
