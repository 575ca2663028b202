// An invocation reduces the elements of LANES neighbouring outputs by itself.
// Needs: what reduce_rows needs, without the tree. element_count() is what finish is told. params: outputs,
// reduced.

fn reduce_one(output: u32, local: u32) -> Out {
  var state = identity();
  if (output < p.outputs) {
    for (var r = 0u; r < p.reduced; r++) {
      state = combine(state, lift(load_at(output * p.reduced + r), r));
    }
  }
  return finish(state, element_count());
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i * LANES < p.outputs) {
    write_rows(i, 0u);
  }
}
