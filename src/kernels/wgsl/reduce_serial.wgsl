// An invocation reduces the elements of LANES neighbouring outputs by itself.
// Needs: what reduce_rows needs, without reduce_workgroup. params: outputs, steps.

fn reduce_one(output: u32, local: u32) -> Out {
  var state = identity();
  if (output < p.outputs) {
    for (var i = 0u; i < p.steps; i++) {
      state = combine(state, lift_step(output, i));
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
