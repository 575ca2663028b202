// Stores four elements of a row of C where n is a multiple of 4. params: m, n.

fn store_quad(batch: u32, row: u32, n: u32, value: vec4<f32>) {
  if (row < p.m && n < p.n) {
    store(((batch * p.m + row) * p.n + n) >> 2u, finish(row, n, value));
  }
}
