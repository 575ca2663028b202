// Convolution of any kernel size, stride, padding and dilation as a matrix product, whose second
// factor (the windows of the input) is read in place.
// params and constants: see conv_tile; in_h, in_w; KERNEL_H/W, STRIDE_H/W, PAD_H/W, DILATION_H/W.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let index = workgroup_index(workgroup, workgroups);
  if (index >= p.tiles) {
    return;
  }
  let tile = conv_tile(index);
  let slice = local / THREADS;
  let thread = local % THREADS;
  let m = thread / THREADS_N;
  let n = thread % THREADS_N;
  let oy = (tile.column4 + n) / p.row4;
  let ox = 4u * ((tile.column4 + n) - oy * p.row4);
  let y0 = i32(oy * STRIDE_H) - i32(PAD_H);
  let x0 = i32(ox * STRIDE_W) - i32(PAD_W);
  let in_plane = p.in_h * p.in_w;
  let x_at = (tile.batch * p.groups + tile.group) * p.group_in * in_plane;
  var w_from = (tile.group * p.group_in + slice) * (KERNEL_H * KERNEL_W) * p.rows4 +
               tile.row / 4u + m;
  var a0 = vec4<f32>(0.0);
  var a1 = vec4<f32>(0.0);
  var a2 = vec4<f32>(0.0);
  var a3 = vec4<f32>(0.0);
  for (var c = slice; c < p.group_in; c += SLICES) {
    for (var ky = 0u; ky < KERNEL_H; ky++) {
      let iy = u32(y0 + i32(ky * DILATION_H));  // a negative one is a large one
      let in_row = vec4<bool>(iy < p.in_h);
      let line = vec4<u32>(x_at + c * in_plane + iy * p.in_w);
      for (var kx = 0u; kx < KERNEL_W; kx++) {
        let ix = u32(x0 + i32(kx * DILATION_W)) +
                 vec4<u32>(0u, STRIDE_W, 2u * STRIDE_W, 3u * STRIDE_W);
        let start = line + ix;
        let inside = (ix < vec4<u32>(p.in_w)) & in_row;
        let loaded = vec4<f32>(x1(start.x), x1(start.y), x1(start.z), x1(start.w));
        let x = select(vec4<f32>(0.0), loaded, inside);
        let w = w4(w_from + (ky * KERNEL_W + kx) * p.rows4);
        a0 += w.x * x;
        a1 += w.y * x;
        a2 += w.z * x;
        a3 += w.w * x;
      }
    }
    w_from += SLICES * (KERNEL_H * KERNEL_W) * p.rows4;
  }
  conv_finish(tile, local, m, n, a0, a1, a2, a3);
}
