// The mean of a window whose ends follow from the sizes: of output position o of O, elements
// floor(o * I / O) up to ceil((o + 1) * I / O). params: in_h, in_w, out_h, out_w.

fn pool_at(e: u32) -> f32 {
  let plane = e / (p.out_h * p.out_w);
  let oy = (e / p.out_w) % p.out_h;
  let ox = e % p.out_w;
  let top = oy * p.in_h / p.out_h;
  let left = ox * p.in_w / p.out_w;
  let bottom = ((oy + 1u) * p.in_h + p.out_h - 1u) / p.out_h;
  let right = ((ox + 1u) * p.in_w + p.out_w - 1u) / p.out_w;
  var sum = 0.0;
  for (var y = top; y < bottom; y++) {
    for (var x = left; x < right; x++) {
      sum += source1((plane * p.in_h + y) * p.in_w + x);
    }
  }
  return sum / f32((bottom - top) * (right - left));
}
