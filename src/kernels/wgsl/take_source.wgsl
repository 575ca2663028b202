// The element of the table for output element e = (outer * count + k) * inner + column, which is
// (outer * size + indices[k]) * inner + column; and whether the index is in range.
// params: count (of indices), size, inner.

struct Source { at: u32, ok: bool }

fn source_of(e: u32) -> Source {
  let row = e / p.inner;
  let at = position(indices1(row % p.count));
  return Source(((row / p.count) * p.size + at) * p.inner + e % p.inner, at < p.size);
}
