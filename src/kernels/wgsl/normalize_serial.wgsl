// An invocation writes LANES neighbouring output elements; for each it reduces the element's row, the
// elements `inner` apart, by itself. Slow for long rows, but right for every type and layout.
// Needs: load_at(i) -> f32, State, identity, lift, combine, apply1(x, column, row, state) -> f32,
// write_lanes(i). params: numel, row_length, inner.

fn value_at(e: u32) -> f32 {
  let outer = e / (p.row_length * p.inner);
  let base = outer * p.row_length * p.inner + e % p.inner;
  var state = identity();
  for (var r = 0u; r < p.row_length; r++) {
    state = combine(state, lift(load_at(base + r * p.inner), r));
  }
  let column = (e / p.inner) % p.row_length;
  return apply1(load_at(e), column, outer * p.inner + e % p.inner, state);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i * LANES < p.numel) {
    write_lanes(i);
  }
}
