// Division rounded to whole numbers, and its remainders. Builtin division may be off by 2.5 ulp, so
// that 6 / 3 may be less than 2: quotients are corrected by the exact residual.

// a / b, correctly rounded where nothing is subnormal.
fn etwg_divide(a: V, b: V) -> V {
  let q = a / b;
  let p = q * b;
  let y = q + ((a - p) - etwg_product_error(q, b, p)) / b;
  return select(y, q, etwg_isnan(y) | etwg_isinf(y));
}

fn etwg_exponent(x: V) -> I {
  return I((bitcast<U>(x) >> U(23u)) & U(255u));
}

// C's fmod, exact: each step takes off a multiple of the divisor by a quotient of 12 bits.
fn etwg_fmod(a: V, b: V) -> V {
  let d = abs(b);
  var r = abs(a);
  for (var step = 0; step < 26 && any(r >= d); step++) {
    let shift = max(etwg_exponent(r) - etwg_exponent(d) - I(11), I(0));
    let part = bitcast<V>(bitcast<U>(d) + (U(shift) << U(23u)));
    let q = max(trunc(r / part), V(1.0));
    let p = q * part;
    let rest = (r - p) - etwg_product_error(q, part, p);
    r = select(r, select(rest, rest + part, rest < V(0.0)), r >= d);
  }
  let y = bitcast<V>(bitcast<U>(r) | (bitcast<U>(a) & U(0x80000000u)));
  let none = (d == V(0.0)) | etwg_isinf(a) | etwg_isnan(a) | etwg_isnan(b);
  return select(y, etwg_from_bits(U(0x7fc00000u)), none);
}

// Has the sign of the divisor, as in PyTorch.
fn etwg_remainder(a: V, b: V) -> V {
  let r = etwg_fmod(a, b);
  return select(r, r + b, !(r == V(0.0)) & ((r < V(0.0)) != (b < V(0.0))));
}

// Python's //: the exact quotient rounded down, not the rounded one (1 // 0.1 is 9).
fn etwg_floor_div(a: V, b: V) -> V {
  let r = etwg_fmod(a, b);
  let borrow = !(r == V(0.0)) & ((r < V(0.0)) != (b < V(0.0)));
  let y = round((a - r) / b) - select(V(0.0), V(1.0), borrow);
  return select(y, a / b, b == V(0.0));
}

fn etwg_trunc_div(a: V, b: V) -> V {
  return trunc(etwg_divide(a, b));
}

// Division of integers rounded down; WGSL truncates.
fn etwg_ifloor_div(a: I, b: I) -> I {
  let q = a / b;
  let inexact = (a - q * b) != I(0);
  return select(q, q - I(1), inexact & ((a < I(0)) != (b < I(0))));
}

fn etwg_iremainder(a: I, b: I) -> I {
  return a - etwg_ifloor_div(a, b) * b;
}
