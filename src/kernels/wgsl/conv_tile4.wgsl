// conv_tile's access to four columns at once: out_w (and in_plane, for conv_pointwise) is a multiple
// of 4.

// `column` counts groups of four.
fn conv_store_column(plane: u32, column: u32, value: V) {
  if (column < p.columns4) {
    store(plane * p.columns4 + column, conv_clamp(value));
  }
}

// The same for four columns at `column4`.
fn conv_store_columns(plane: u32, column4: u32, value: vec4<f32>) {
  conv_store_column(plane, column4, value);
}

fn conv_x4(element: u32) -> vec4<f32> {
  return x4(element / 4u);
}
