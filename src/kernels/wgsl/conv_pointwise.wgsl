// 1 x 1 convolution with stride 1 and no padding: out[o, column] = sum over c of w[c, o] x[c, column].
// Columns beyond the end of a plane read its successor and are not stored.
// params and constants: see conv_tile; in_plane (H * W).

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
  let w_at = tile.group * p.group_in * p.rows4 + tile.row / 4u + m;
  let x_at = (tile.batch * p.groups + tile.group) * p.group_in * p.in_plane +
             4u * (tile.column4 + n);
  var a0 = vec4<f32>(0.0);
  var a1 = vec4<f32>(0.0);
  var a2 = vec4<f32>(0.0);
  var a3 = vec4<f32>(0.0);
  // Four channels a step, so that their loads are in flight together.
  var c = slice * 4u;
  for (; c + 4u <= p.group_in; c += SLICES * 4u) {
    let start = x_at + c * p.in_plane;
    let w_from = w_at + c * p.rows4;
    let x_0 = conv_x4(start);
    let x_1 = conv_x4(start + p.in_plane);
    let x_2 = conv_x4(start + 2u * p.in_plane);
    let x_3 = conv_x4(start + 3u * p.in_plane);
    let w_0 = w4(w_from);
    let w_1 = w4(w_from + p.rows4);
    let w_2 = w4(w_from + 2u * p.rows4);
    let w_3 = w4(w_from + 3u * p.rows4);
    a0 += w_0.x * x_0 + w_1.x * x_1 + w_2.x * x_2 + w_3.x * x_3;
    a1 += w_0.y * x_0 + w_1.y * x_1 + w_2.y * x_2 + w_3.y * x_3;
    a2 += w_0.z * x_0 + w_1.z * x_1 + w_2.z * x_2 + w_3.z * x_3;
    a3 += w_0.w * x_0 + w_1.w * x_1 + w_2.w * x_2 + w_3.w * x_3;
  }
  // The slice whose step would reach beyond the last channel takes what is left.
  for (; c < p.group_in; c++) {
    let x = conv_x4(x_at + c * p.in_plane);
    let w = w4(w_at + c * p.rows4);
    a0 += w.x * x;
    a1 += w.y * x;
    a2 += w.z * x;
    a3 += w.w * x;
  }
  conv_finish(tile, local, m, n, a0, a1, a2, a3);
}
