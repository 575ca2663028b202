// A workgroup reduces the elements of LANES neighbouring outputs, one after the other.
// Needs: load_at(i) -> A (element i of [outputs, reduced]), State, identity, lift, combine, finish,
// write(group or element). element_count() is what finish is told. params: outputs,
// reduced.

fn reduce_one(output: u32, local: u32) -> Out {
  var state = identity();
  if (output < p.outputs) {
    for (var r = local; r < p.reduced; r += WORKGROUP_SIZE) {
      state = combine(state, lift(load_at(output * p.reduced + r), r));
    }
  }
  return finish(reduce_workgroup(state, local), element_count());
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups);
  if (i * LANES >= p.outputs) {
    return;
  }
  write_rows(i, local);
}
