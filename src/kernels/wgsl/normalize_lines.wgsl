// An invocation reduces one line of elements, `inner` apart, and rewrites each. Neighbouring
// invocations take neighbouring lines, so that they read together.
// Needs: what normalize_serial needs; single elements can be stored.
// params: lines, row_length, inner.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let line = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (line >= p.lines) {
    return;
  }
  let base = (line / p.inner) * p.row_length * p.inner + line % p.inner;
  var state = identity();
  for (var r = 0u; r < p.row_length; r++) {
    state = combine(state, lift(load_at(base + r * p.inner), r));
  }
  for (var r = 0u; r < p.row_length; r++) {
    let e = base + r * p.inner;
    store(e, apply1(load_at(e), r, line, state));
  }
}
