// A workgroup reduces a row of elements and rewrites each by what came out: softmax, layer norm.
// Needs: row_load(i) -> V (group or element i), State, identity, lift_row(x, column) -> State,
// combine, apply(x, column, row, state) -> V, store. A row is a whole number of groups.
// params: rows, row_length.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let row = workgroup_index(workgroup, workgroups);
  if (row >= p.rows) {
    return;
  }
  let steps = p.row_length / LANES;
  var state = identity();
  for (var i = local; i < steps; i += WORKGROUP_SIZE) {
    state = combine(state, lift_row(row_load(row * steps + i)));
  }
  let total = reduce_workgroup(state, local);
  for (var i = local; i < steps; i += WORKGROUP_SIZE) {
    store(row * steps + i, apply(row_load(row * steps + i), i * LANES, row, total));
  }
}
