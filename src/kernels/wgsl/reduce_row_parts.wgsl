// A workgroup reduces part k of an output's elements, the steps k * WORKGROUP_SIZE + local of every
// PARTS * WORKGROUP_SIZE: neighbours are read together. A second stage combines the parts.
// Needs: what reduce_rows needs; put_part(output * PARTS + part, state). params: outputs, steps.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let number = workgroup_index(workgroup, workgroups);
  if (number >= p.outputs * PARTS) {
    return;
  }
  var state = identity();
  for (var i = (number % PARTS) * WORKGROUP_SIZE + local; i < p.steps; i += PARTS * WORKGROUP_SIZE) {
    state = combine(state, lift_step(number / PARTS, i));
  }
  state = reduce_workgroup(state, local);
  if (local == 0u) {
    put_part(number, state);
  }
}
