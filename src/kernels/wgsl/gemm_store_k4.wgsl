// Stores four elements of a row of C where n is a multiple of 4. params: m, n.

fn store_quad(batch: u32, row: u32, n: u32, value: vec4<f32>) {
  if (row < p.m && n < p.n) {
    store(((batch * p.m + row) * p.n + n) >> 2u, finish(row, n, value));
  }
}

// Column r of `rows` is C[row + r, n .. n+3].
fn store_block(batch: u32, row: u32, n: u32, rows: mat4x4<f32>) {
  store_quad(batch, row, n, rows[0]);
  store_quad(batch, row + 1u, n, rows[1]);
  store_quad(batch, row + 2u, n, rows[2]);
  store_quad(batch, row + 3u, n, rows[3]);
}
