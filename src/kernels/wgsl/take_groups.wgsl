// Groups of four elements that lie side by side in the table, too: inner is a multiple of 4.

fn compute(i: u32) {
  let source = source_of(i * 4u);
  store(i, select(missing(), table4(source.at >> 2u), source.ok));
}
