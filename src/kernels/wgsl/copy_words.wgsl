// Copies words from `offset` bytes on. params: offset (bytes), words.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = workgroup_index(workgroup, workgroups) * WORKGROUP_SIZE + local;
  if (i >= p.words) {
    return;
  }
  let byte = i * 4u + p.offset;
  let word = byte >> 2u;
  let shift = (byte & 3u) * 8u;
  if (shift == 0u) {
    destination[i] = source[word];
  } else {
    destination[i] = (source[word] >> shift) | (source[word + 1u] << (32u - shift));
  }
}
