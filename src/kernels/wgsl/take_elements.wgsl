// Element by element.

fn compute(i: u32) {
  var value = missing();
  for (var k = 0u; k < 4u; k++) {
    let source = source_of(i * 4u + k);
    if (source.ok) {
      value[k] = table1(source.at);
    }
  }
  store(i, value);
}
