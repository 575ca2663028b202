// conv_tile4 for rows of any length: elements are read and stored one by one.

fn conv_store_column(plane: u32, column: u32, value: V) {
  let y = column / 4u / p.row4;
  let x = column - y * p.row4 * 4u;
  if (column < p.columns4 * 4u && x < p.out_w) {
    store(plane * p.out_plane + y * p.out_w + x, conv_clamp(value));
  }
}

fn conv_store_columns(plane: u32, column4: u32, value: vec4<f32>) {
  conv_store_column(plane, column4 * 4u, value.x);
  conv_store_column(plane, column4 * 4u + 1u, value.y);
  conv_store_column(plane, column4 * 4u + 2u, value.z);
  conv_store_column(plane, column4 * 4u + 3u, value.w);
}

fn conv_x4(element: u32) -> vec4<f32> {
  return vec4<f32>(x1(element), x1(element + 1u), x1(element + 2u), x1(element + 3u));
}
