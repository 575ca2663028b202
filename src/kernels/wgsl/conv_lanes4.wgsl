// Where four columns of a row are one group of the output (its length is a multiple of 4).

// Stores the row's elements from `element` on: four, or the `left` ones that the row still has.
fn conv_store_row(element: u32, left: u32, value: vec4<f32>) {
  store(element / 4u, conv_clamp(value));
}
