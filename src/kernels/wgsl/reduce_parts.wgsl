// A workgroup reduces one part of one output's elements to a state, for a second stage to combine.
// Needs: reduce_part(part, local). params: outputs (parts of all outputs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let part = workgroup_index(workgroup, workgroups);
  if (part >= p.outputs) {
    return;
  }
  let state = reduce_part(part, local);
  if (local == 0u) {
    part_out_put(part, state);
  }
}
