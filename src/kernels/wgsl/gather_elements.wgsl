// An index for every element: its other coordinates, which table_at() counts, are the output's own.

fn compute(i: u32) {
  var value = missing();
  let index = indices4(i);
  for (var k = 0u; k < 4u; k++) {
    let at = position(index[k]);
    if (at < p.size) {
      value[k] = table1(table_at(i * 4u + k) + at * p.inner);
    }
  }
  store(i, value);
}
