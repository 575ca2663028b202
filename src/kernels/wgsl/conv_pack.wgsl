// Rearranges a convolution's weight for tiles of output channels:
//   packed[g, c * TAPS + tap, o] = weight of output channel o of group g for its input channel c
// with o padded to a multiple of 4 (zeros). An invocation writes four output channels.
// params: groups4, rows4 (groups of four output channels), group_out, group_in, taps.
// The weight is [O, group_in, taps].

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i >= p.groups4) {
    return;
  }
  let o = 4u * (i % p.rows4);
  let k = i / p.rows4;
  let tap = k % p.taps;
  let c = (k / p.taps) % p.group_in;
  let group = k / (p.taps * p.group_in);
  var value = vec4<f32>(0.0);
  for (var lane = 0u; lane < 4u; lane++) {
    if (o + lane < p.group_out) {
      let row = (group * p.group_out + o + lane) * p.group_in + c;
      value[lane] = w1(row * p.taps + tap);
    }
  }
  packed_put(i, value);
}
