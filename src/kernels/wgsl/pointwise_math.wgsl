// Elementary functions over V (f32 or vec4<f32>), where the builtins are too inaccurate, undefined
// for some arguments, or free to lose NaN. Polynomials are Chebyshev fits in float64, rounded.

// WGSL compilers may assume that there is no NaN, so it is looked for in the bits.
fn etwg_isnan(x: V) -> B {
  return (bitcast<U>(x) & U(0x7fffffffu)) > U(0x7f800000u);
}

// NaN and infinity must not appear as constants, which WGSL refuses; a parameter is not constant.
fn etwg_from_bits(bits: U) -> V {
  return bitcast<V>(bits);
}

fn etwg_isinf(x: V) -> B {
  return (bitcast<U>(x) & U(0x7fffffffu)) == U(0x7f800000u);
}

// Builtin exp may be off by 2|x| ulp: reduce to |r| <= ln(2)/2 first. exp2 of whole numbers is
// exact, and halving the exponent keeps the ends of the range finite until the product.
fn etwg_exp(x: V) -> V {
  let c = clamp(x, V(-104.0), V(89.0));
  let n = round(c * V(1.44269504));
  let r = (c - n * V(0.693145752)) - n * V(1.42860677e-6);
  let half = floor(n * V(0.5));
  let y = exp(r) * exp2(half) * exp2(n - half);
  return select(y, x, etwg_isnan(x));
}

// |x| < 0.6: odd polynomial (1.5 ulp); beyond, by exp, which cannot overflow here.
fn etwg_tanh(x: V) -> V {
  let s = x * x;
  let small = x * (V(1.0) + s * (V(-0.333332837) + s * (V(0.133317053) + s * (V(-0.0537699200) +
              s * (V(0.0207574759) + s * V(-0.00585642783))))));
  let a = min(abs(x), V(16.0));
  let large = sign(x) * (V(1.0) - V(2.0) / (etwg_exp(V(2.0) * a) + V(1.0)));
  let y = select(large, small, abs(x) < V(0.6));
  return select(y, x, etwg_isnan(x));
}

// |x| < 1: odd polynomial; up to 4: 1 - exp(-q(|x|)); beyond 4 the result rounds to 1.
fn etwg_erf(x: V) -> V {
  let s = x * x;
  let small = x * (V(1.12837911) + s * (V(-0.376126260) + s * (V(0.112835974) + s * (V(-0.0268543288) +
              s * (V(0.00518931216) + s * (V(-0.000801885501) + s * V(0.0000788249745)))))));
  let t = min(abs(x), V(4.0));
  let q = V(-0.000303212961) + t * (V(1.13016665) + t * (V(0.631937087) + t * (V(0.109978244) +
          t * (V(-0.0263647176) + t * (V(0.00474022236) + t * (V(-0.000592769531) +
          t * (V(0.0000455906229) + t * V(-0.00000161406160))))))));
  let large = sign(x) * (V(1.0) - exp(-q));
  let y = select(large, small, abs(x) < V(1.0));
  return select(y, x, etwg_isnan(x));
}

fn etwg_sigmoid(x: V) -> V {
  return V(1.0) / (V(1.0) + etwg_exp(-x));
}

// Far below zero the result is zero; at -inf it is NaN, as in PyTorch (-inf * 0).
fn etwg_gelu_end(x: V, y: V) -> V {
  let low = select(y, V(-0.0), x < V(-14.0));
  return select(low, etwg_from_bits(U(0x7fc00000u)), etwg_isnan(x) | (etwg_isinf(x) & (x < V(0.0))));
}

// PyTorch's exact form yields NaN at +inf too.
fn etwg_gelu(x: V) -> V {
  let y = etwg_gelu_end(x, V(0.5) * x * (V(1.0) + etwg_erf(x * V(0.707106781))));
  return select(y, etwg_from_bits(U(0x7fc00000u)), etwg_isinf(x));
}

fn etwg_gelu_tanh(x: V) -> V {
  let c = clamp(x, V(-20.0), V(20.0));
  let inner = V(0.797884561) * (c + V(0.044715) * c * c * c);
  return etwg_gelu_end(x, V(0.5) * x * (V(1.0) + etwg_tanh(inner)));
}

// sin and cos of x = n * pi/2 + r with |r| <= pi/4, pi/2 being taken off in three parts; builtins may
// be off by 2^-11. Accurate while n * 2^-25 is small against 1, that is for |x| up to some 10^4.
struct Turned {
  r: V,
  quarter: I,  // n modulo 4
}

fn etwg_turn(x: V) -> Turned {
  let n = round(x * V(0.636619772));
  let r = ((x - n * V(1.5703125)) - n * V(0.000483751297)) - n * V(7.54979013e-8);
  return Turned(r, I(n - V(4.0) * floor(n * V(0.25))));
}

fn etwg_sin_of(t: Turned) -> V {
  let s = t.r * t.r;
  let sine = t.r + t.r * s * (V(-0.166666672) + s * (V(0.00833333191) + s * (V(-0.000198400638) +
             s * V(0.00000272468833))));
  let cosine = V(1.0) - V(0.5) * s + s * s * (V(0.0416666679) + s * (V(-0.0013888384) +
               s * V(0.0000245573829)));
  let y = select(sine, cosine, (t.quarter & I(1)) == I(1));
  return select(y, -y, (t.quarter & I(2)) == I(2));
}

fn etwg_sin(x: V) -> V {
  return select(etwg_sin_of(etwg_turn(x)), x - x, etwg_isnan(x) | etwg_isinf(x));
}

fn etwg_cos(x: V) -> V {
  let t = etwg_turn(x);
  return select(etwg_sin_of(Turned(t.r, t.quarter + I(1))), x - x, etwg_isnan(x) | etwg_isinf(x));
}

// x = m * 2^e with m within a factor of sqrt(2) of 1; builtin log loses all digits near 1.
fn etwg_log(x: V) -> V {
  let parts = frexp(x);
  let low = parts.fract < V(0.707106781);
  let f = select(parts.fract, parts.fract * V(2.0), low) - V(1.0);
  let e = V(parts.exp - select(I(0), I(1), low));
  let tail = f * f * f * (V(0.333333313) + f * (V(-0.249999896) + f * (V(0.200007081) +
             f * (V(-0.166684806) + f * (V(0.142499372) + f * (V(-0.124110505) + f * (V(0.116615109) +
             f * (V(-0.115712009) + f * V(0.0714975372)))))))));
  let y = e * V(0.693145752) + (f + (tail - V(0.5) * f * f + e * V(1.42860677e-6)));
  let ends = select(x, etwg_from_bits(U(0xff800000u)), x == V(0.0));  // inf, NaN, or log of 0
  let ordinary = select(y, ends, (x == V(0.0)) | etwg_isinf(x) | etwg_isnan(x));
  return select(ordinary, etwg_from_bits(U(0x7fc00000u)), x < V(0.0));
}

// IEEE pow: whole exponents by repeated squaring (right for negative bases, and exact where the
// products are), others by exp2 and log2.
fn etwg_pow(x: V, y: V) -> V {
  let whole = (y == trunc(y)) & (abs(y) <= V(64.0));
  var n = U(select(V(0.0), abs(y), whole));
  var base = x;
  var product = V(1.0);
  for (var bit = 0; bit < 7; bit++) {
    product = select(product, product * base, (n & U(1u)) == U(1u));
    base = base * base;
    n = n >> U(1u);
  }
  let power = select(product, V(1.0) / product, y < V(0.0));
  let odd = (y == trunc(y)) & ((y * V(0.5)) != trunc(y * V(0.5)));
  let magnitude = exp2(y * log2(abs(x)));
  let signed_power = select(magnitude, -magnitude, odd & (x < V(0.0)));
  var y_any = select(signed_power, x - x, (x < V(0.0)) & (y != trunc(y)) & !etwg_isinf(x));
  y_any = select(y_any, etwg_from_bits(U(0x7fc00000u)),
                 (x < V(0.0)) & (y != trunc(y)) & !etwg_isinf(x));
  let zero = select(V(0.0), etwg_from_bits(U(0x7f800000u)), y < V(0.0));
  y_any = select(y_any, zero, x == V(0.0));
  let result = select(y_any, power, whole);
  let nan = (etwg_isnan(x) & (y != V(0.0))) | (etwg_isnan(y) & (x != V(1.0)));
  return select(result, etwg_from_bits(U(0x7fc00000u)), nan);
}

// Integer power, wrapping; a negative exponent yields 0 but for the bases 1 and -1.
fn etwg_ipow(x: I, y: I) -> I {
  var n = bitcast<U>(abs(y));
  var base = x;
  var product = I(1);
  for (var bit = 0; bit < 32; bit++) {
    product = select(product, product * base, (n & U(1u)) == U(1u));
    base = base * base;
    n = n >> U(1u);
  }
  let unit = (x == I(1)) | (x == I(-1));
  return select(product, I(0), (y < I(0)) & !unit);
}

// minimum / maximum: NaN in either operand is the result.
fn etwg_min(a: V, b: V) -> V {
  let y = select(b, a, (a < b) | etwg_isnan(a));
  return y;
}

fn etwg_max(a: V, b: V) -> V {
  let y = select(b, a, (a > b) | etwg_isnan(a));
  return y;
}

fn etwg_floor_div(a: V, b: V) -> V {
  return floor(a / b);
}

// Division of integers rounded down; WGSL truncates.
fn etwg_ifloor_div(a: I, b: I) -> I {
  let q = a / b;
  let inexact = (a - q * b) != I(0);
  return select(q, q - I(1), inexact & ((a < I(0)) != (b < I(0))));
}

// Result has the sign of the divisor, as in PyTorch.
fn etwg_remainder(a: V, b: V) -> V {
  let r = a - trunc(a / b) * b;
  return select(r, r + b, (r != V(0.0)) & ((r < V(0.0)) != (b < V(0.0))));
}

fn etwg_iremainder(a: I, b: I) -> I {
  return a - etwg_ifloor_div(a, b) * b;
}

// log(1 + e^x) without overflow or loss for large |x|.
fn etwg_softplus(x: V, beta: V, threshold: V) -> V {
  let t = x * beta;
  return select((max(t, V(0.0)) + etwg_log(V(1.0) + etwg_exp(-abs(t)))) / beta, x, t > threshold);
}

// e^x - 1: a series where the difference would cancel.
fn etwg_expm1(x: V) -> V {
  let series = x * (V(1.0) + x * (V(0.5) + x * (V(0.166666667) + x * (V(0.0416666667) +
               x * (V(0.00833333333) + x * V(0.00138888889))))));
  return select(etwg_exp(x) - V(1.0), series, abs(x) < V(0.35));
}
