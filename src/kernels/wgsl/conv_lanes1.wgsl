// conv_lanes4 where elements are stored one by one.

fn conv_store_row(element: u32, left: u32, value: vec4<f32>) {
  for (var lane = 0u; lane < min(left, 4u); lane++) {
    store(element + lane, conv_clamp(value[lane]));
  }
}
