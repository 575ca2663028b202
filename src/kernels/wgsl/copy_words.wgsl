// Copies the first words of a buffer. params: words.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i < p.words) {
    destination[i] = source[i];
  }
}
