// The mean of a window. params: in_h, in_w, out_h, out_w; constants KERNEL, STRIDE, PAD, COUNT_PAD,
// DIVISOR (0: the number of elements, with or without the padding).

fn element(e: u32) -> f32 {
  let plane = e / (p.out_h * p.out_w);
  let y0 = i32((e / p.out_w) % p.out_h * STRIDE_H) - i32(PAD_H);
  let x0 = i32(e % p.out_w * STRIDE_W) - i32(PAD_W);
  // Windows reach into the padding, never beyond it.
  let y1 = min(y0 + i32(KERNEL_H), i32(p.in_h + PAD_H));
  let x1 = min(x0 + i32(KERNEL_W), i32(p.in_w + PAD_W));
  let size = (y1 - y0) * (x1 - x0);
  let top = max(y0, 0);
  let left = max(x0, 0);
  let bottom = min(y1, i32(p.in_h));
  let right = min(x1, i32(p.in_w));
  var sum = 0.0;
  for (var y = top; y < bottom; y++) {
    for (var x = left; x < right; x++) {
      sum += source1((plane * p.in_h + u32(y)) * p.in_w + u32(x));
    }
  }
  var count = size;
  if (!COUNT_PAD) {
    count = max(bottom - top, 0) * max(right - left, 0);
  }
  if (DIVISOR != 0) {
    count = DIVISOR;
  }
  return sum / f32(count);
}
