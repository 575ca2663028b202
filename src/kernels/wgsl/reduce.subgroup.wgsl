// As reduce.workgroup.wgsl, by shuffles: two barriers whatever the size of the workgroup.
// Needs besides: shuffle(s, mask) -> State, the State of the invocation whose number within the subgroup
// differs by the bits of `mask`; subgroup_width() -> u32. Subgroups take invocations in order.

var<workgroup> totals: array<State, WORKGROUP_SIZE / SMALLEST_SUBGROUP>;

fn reduce_workgroup(own: State, local: u32) -> State {
  let width = subgroup_width();
  var state = own;
  for (var mask = 1u; mask < width; mask = mask << 1u) {
    state = combine(state, shuffle(state, mask));
  }
  if (local % width == 0u) {
    totals[local / width] = state;
  }
  workgroupBarrier();
  var total = totals[0];
  for (var i = 1u; i < WORKGROUP_SIZE / width; i++) {
    total = combine(total, totals[i]);
  }
  workgroupBarrier();  // before the next call overwrites them
  return total;
}
