// A workgroup reduces the elements of LANES neighbouring outputs, one after the other.
// Needs: lift_step(output, i) -> State (step i of an output's elements), State, identity, combine, finish,
// reduce_workgroup, write_rows(group or element). element_count() is what finish is told.
// params: outputs, steps.

fn reduce_one(output: u32, local: u32) -> Out {
  var state = identity();
  if (output < p.outputs) {
    for (var i = local; i < p.steps; i += WORKGROUP_SIZE) {
      state = combine(state, lift_step(output, i));
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
