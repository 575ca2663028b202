// Inverse circular functions: builtins may be off by 4096 ulp, asin and acos by 6.8e-5.

fn etwg_with_sign(x: V, sign_of: V) -> V {
  return bitcast<V>(bitcast<U>(x) | (bitcast<U>(sign_of) & U(0x80000000u)));
}

// Reduced to |t| <= tan(pi/8) by atan(a) = pi/2 - atan(1/a) and pi/4 + atan((a - 1) / (a + 1)).
fn etwg_atan(x: V) -> V {
  let a = abs(x);
  let large = a > V(2.41421356);
  let middle = a > V(0.414213562);
  let t = select(select(a, (a - V(1.0)) / (a + V(1.0)), middle), V(-1.0) / a, large);
  let base = select(select(V(0.0), V(0.785398163), middle), V(1.57079633), large);
  let s = t * t;
  let y = base + (t + t * s * (V(-0.333333313) + s * (V(0.199995503) + s * (V(-0.142642319) +
          s * (V(0.107462987) + s * V(-0.0645937622))))));
  return select(etwg_with_sign(y, x), x, etwg_isnan(x));
}

// asin(x) for 0 <= x <= 1/2, and its square s.
fn etwg_asin_small(x: V, s: V) -> V {
  return x + x * s * (V(0.166666657) + s * (V(0.0750009865) + s * (V(0.0445980318) +
         s * (V(0.0311161559) + s * (V(0.0170778595) + s * V(0.0338057503))))));
}

// Beyond 1/2: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
fn etwg_asin(x: V) -> V {
  let a = abs(x);
  let half = V(0.5) - V(0.5) * a;
  let outer = V(1.57079633) - V(2.0) * etwg_asin_small(sqrt(max(half, V(0.0))), half);
  let y = select(outer, etwg_asin_small(a, a * a), a <= V(0.5));
  let ok = a <= V(1.0);
  return select(etwg_from_bits(U(0x7fc00000u)), etwg_with_sign(y, x), ok);
}

fn etwg_acos(x: V) -> V {
  let a = abs(x);
  let half = V(0.5) - V(0.5) * a;
  let outer = V(2.0) * etwg_asin_small(sqrt(max(half, V(0.0))), half);
  let inner = etwg_with_sign(etwg_asin_small(a, a * a), x);
  let y = select(select(outer, V(3.14159265) - outer, x < V(0.0)), V(1.57079633) - inner, a <= V(0.5));
  return select(etwg_from_bits(U(0x7fc00000u)), y, a <= V(1.0));
}
