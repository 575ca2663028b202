// Depthwise convolution (one input channel a group): an invocation computes four neighbouring
// columns of one output row, the last ones of a row beyond its end if the width is no multiple of 4.
// x is [B, C, H, W], weight [C * MULTIPLIER, 1, KH, KW].
// params: items (invocations), row4 (groups of four in a row), out_c, out_h, out_w, in_h, in_w,
//   multiplier (output channels for an input channel).
// constants: KERNEL_H/W, STRIDE_H/W, PAD_H/W, DILATION_H/W. Modules: conv_lanes*.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i >= p.items) {
    return;
  }
  let row = i / p.row4;
  let ox = 4u * (i - row * p.row4);
  let plane = row / p.out_h;
  let oy = row - plane * p.out_h;
  let o = plane % p.out_c;
  // Every input channel has the same number of output channels, so batches need no case of theirs.
  let x_plane = (plane / p.multiplier) * p.in_h * p.in_w;
  let x0 = i32(ox * STRIDE_W) - i32(PAD_W);
  let y0 = i32(oy * STRIDE_H) - i32(PAD_H);
  let weight_at = o * (KERNEL_H * KERNEL_W);
  var sum = vec4<f32>(conv_bias(o));
  for (var ky = 0u; ky < KERNEL_H; ky++) {
    let iy = y0 + i32(ky * DILATION_H);
    let in_row = u32(iy) < p.in_h;  // a negative one is a large one
    let line = x_plane + u32(iy) * p.in_w;
    for (var kx = 0u; kx < KERNEL_W; kx++) {
      let ix = u32(x0 + i32(kx * DILATION_W)) + vec4<u32>(0u, STRIDE_W, 2u * STRIDE_W, 3u * STRIDE_W);
      let start = vec4<u32>(line) + ix;
      let x = vec4<f32>(x1(start.x), x1(start.y), x1(start.z), x1(start.w));
      let inside = (ix < vec4<u32>(p.in_w)) & vec4<bool>(in_row);
      sum += w1(weight_at + ky * KERNEL_W + kx) * select(vec4<f32>(0.0), x, inside);
    }
  }
  conv_store_row(row * p.out_w + ox, p.out_w - ox, sum);
}
