// Convolution for every type and size: an invocation computes four consecutive output elements.
//   out[b, o, y, x] = bias[o] + sum over (c, ky, kx) of
//       weight[o, c, ky, kx] * x[b, g * columns + c, y * stride - pad + ky * dilation, ...]
// x is [B, C, H, W], weight [rows, columns, KH, KW]; with TRANSPOSED the kernel gathers: weight is
// [C, rows of a group, KH, KW] and a tap counts where the input position is a whole number.
// params: groups4, numel, out_c, out_h, out_w, in_c, in_h, in_w, group_out, group_in (channels of
//   one convolution group), kernel_h, kernel_w.
// constants: TRANSPOSED, STRIDE_H/W, PAD_H/W, DILATION_H/W.

// The input position that tap `k` reads for output position `at`, or -1.
fn conv_source(at: u32, k: u32, size: u32, stride: u32, pad: u32, dilation: u32) -> i32 {
  if (TRANSPOSED) {
    let position = i32(at + pad) - i32(k * dilation);
    let source = position / i32(stride);
    let whole = position >= 0 && source * i32(stride) == position && source < i32(size);
    return select(-1, source, whole);
  }
  let source = i32(at * stride + k * dilation) - i32(pad);
  return select(-1, source, source >= 0 && source < i32(size));
}

fn conv_element(element: u32) -> f32 {
  let ox = element % p.out_w;
  let oy = (element / p.out_w) % p.out_h;
  let plane = element / (p.out_w * p.out_h);
  let o = plane % p.out_c;
  let batch = plane / p.out_c;
  let first = (o / p.group_out) * p.group_in;  // input channel
  let taps = p.kernel_h * p.kernel_w;
  var weight_at = o * p.group_in * taps;
  var weight_step = taps;  // between input channels
  if (TRANSPOSED) {
    weight_at = (first * p.group_out + o % p.group_out) * taps;
    weight_step = p.group_out * taps;
  }
  let x_at = (batch * p.in_c + first) * p.in_h * p.in_w;
  var sum = 0.0;
  for (var ky = 0u; ky < p.kernel_h; ky++) {
    let iy = conv_source(oy, ky, p.in_h, STRIDE_H, PAD_H, DILATION_H);
    if (iy < 0) {
      continue;
    }
    for (var kx = 0u; kx < p.kernel_w; kx++) {
      let ix = conv_source(ox, kx, p.in_w, STRIDE_W, PAD_W, DILATION_W);
      if (ix < 0) {
        continue;
      }
      var start = x_at + u32(iy) * p.in_w + u32(ix);
      var weight_from = weight_at + ky * p.kernel_w + kx;
      for (var c = 0u; c < p.group_in; c++) {
        sum += x1(start) * w1(weight_from);
        start += p.in_h * p.in_w;
        weight_from += weight_step;
      }
    }
  }
  return sum + conv_bias(o);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i >= p.groups4) {
    return;
  }
  var value = vec4<f32>(0.0);
  for (var lane = 0u; lane < 4u; lane++) {
    if (4u * i + lane < p.numel) {
      value[lane] = conv_element(4u * i + lane);
    }
  }
  store(i, conv_clamp(value));
}
