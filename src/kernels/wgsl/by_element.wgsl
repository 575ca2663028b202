// Stores four elements, each computed by itself. Needs: alias Four (V or I), element(e) -> f32 or i32, store.

fn compute(i: u32) {
  let e = i * 4u;
  store(i, Four(element(e), element(e + 1u), element(e + 2u), element(e + 3u)));
}
