// Combines one State of every invocation of a workgroup, in an order that does not depend on timing.
// Needs: State, combine(a, b). The result reaches all invocations. To be called uniformly.

var<workgroup> tree: array<State, WORKGROUP_SIZE>;

fn reduce_workgroup(own: State, local: u32) -> State {
  tree[local] = own;
  workgroupBarrier();
  for (var half = WORKGROUP_SIZE / 2u; half > 0u; half = half / 2u) {
    if (local < half) {
      tree[local] = combine(tree[local], tree[local + half]);
    }
    workgroupBarrier();
  }
  let total = tree[0];
  workgroupBarrier();  // before the next call overwrites it
  return total;
}
