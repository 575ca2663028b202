// Stores four elements of a row of C where rows may have any length. params: m, n.

fn store_quad(batch: u32, row: u32, n: u32, value: vec4<f32>) {
  if (row < p.m && n < p.n) {
    let finished = finish(row, n, value);
    let i = (batch * p.m + row) * p.n + n;
    for (var j = 0u; j < min(4u, p.n - n); j++) {
      store(i + j, finished[j]);
    }
  }
}
