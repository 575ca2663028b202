// The position along the gathered dimension for an index, or p.size when it is out of range.
// params: size; constant WRAPS.

fn position(index: i32) -> u32 {
  var at = index;
  if (WRAPS && at < 0) {
    at += i32(p.size);
  }
  return min(u32(at), p.size);
}
