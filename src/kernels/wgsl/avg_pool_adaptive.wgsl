// The mean of a window whose ends follow from the sizes: of output position o of O, elements
// floor(o * I / O) up to ceil((o + 1) * I / O). params: in_h, in_w, out_h, out_w.

// o * I / O, without a product of two sizes.
fn window_start(o: u32, from_size: u32, to_size: u32) -> u32 {
  return o * (from_size / to_size) + o * (from_size % to_size) / to_size;
}

fn window_end(o: u32, from_size: u32, to_size: u32) -> u32 {
  return (o + 1u) * (from_size / to_size) + ((o + 1u) * (from_size % to_size) + to_size - 1u) / to_size;
}

fn element(e: u32) -> f32 {
  let plane = e / (p.out_h * p.out_w);
  let oy = (e / p.out_w) % p.out_h;
  let ox = e % p.out_w;
  let top = window_start(oy, p.in_h, p.out_h);
  let left = window_start(ox, p.in_w, p.out_w);
  let bottom = window_end(oy, p.in_h, p.out_h);
  let right = window_end(ox, p.in_w, p.out_w);
  var sum = 0.0;
  for (var y = top; y < bottom; y++) {
    for (var x = left; x < right; x++) {
      sum += source1((plane * p.in_h + y) * p.in_w + x);
    }
  }
  return sum / f32((bottom - top) * (right - left));
}
