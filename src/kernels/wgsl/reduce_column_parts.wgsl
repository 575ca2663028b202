// An invocation reduces part k of an output's elements, the steps k, k + PARTS, ...; neighbouring
// invocations take neighbouring outputs, whose elements lie side by side. A second stage combines the parts.
// Needs: what reduce_rows needs; put_part(output * PARTS + part, state). params: outputs, steps.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let number = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (number >= p.outputs * PARTS) {
    return;
  }
  let output = number % p.outputs;
  let part = number / p.outputs;
  var state = identity();
  for (var i = part; i < p.steps; i += PARTS) {
    state = combine(state, lift_step(output, i));
  }
  put_part(output * PARTS + part, state);
}
