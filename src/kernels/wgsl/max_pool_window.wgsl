// The largest element of a window and where it is in its plane; NaN is larger than all, and of equal
// ones the first counts. params: in_h, in_w, out_h, out_w; constants KERNEL, STRIDE, PAD, DILATION.

struct Largest {
  value: f32,
  index: u32,
}

fn max_window(e: u32) -> Largest {
  let plane = e / (p.out_h * p.out_w);
  let y0 = i32((e / p.out_w) % p.out_h * STRIDE_H) - i32(PAD_H);
  let x0 = i32(e % p.out_w * STRIDE_W) - i32(PAD_W);
  var best = Largest(0.0, 0u);
  var found = false;
  for (var ky = 0u; ky < KERNEL_H; ky++) {
    let y = u32(y0 + i32(ky * DILATION_H));  // a negative one is a large one
    for (var kx = 0u; kx < KERNEL_W; kx++) {
      let x = u32(x0 + i32(kx * DILATION_W));
      if (y < p.in_h && x < p.in_w) {
        let value = source1((plane * p.in_h + y) * p.in_w + x);
        let nan = (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
        if (!found || value > best.value || nan) {
          best = Largest(value, y * p.in_w + x);
        }
        found = true;
      }
    }
  }
  return best;
}
