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

// 2^n for whole n in [-126, 127]; builtin exp2 need not be exact.
fn etwg_power_of_2(n: V) -> V {
  return bitcast<V>(U(I(n) + I(127)) << U(23u));
}

// Builtin exp may be off by 2|x| ulp: reduce to |r| <= ln(2)/2 first. Halving the exponent keeps the
// ends of the range finite until the product.
fn etwg_exp(x: V) -> V {
  let c = clamp(x, V(-104.0), V(89.0));
  let n = round(c * V(1.44269504));
  let r = (c - n * V(0.693145752)) - n * V(1.42860677e-6);
  let half = floor(n * V(0.5));
  let y = exp(r) * etwg_power_of_2(half) * etwg_power_of_2(n - half);
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

// sin and cos of x = n * pi/2 + r with |r| <= pi/4; builtins may be off by 2^-11.
struct Turned {
  r: V,
  quarter: I,  // n modulo 4
}

// Digits of 2/pi to the base 2^16.
fn etwg_two_over_pi(k: U) -> U {
  var y = U(0xa2f9u);
  y = select(y, U(0x836eu), k == U(1u));
  y = select(y, U(0x4e44u), k == U(2u));
  y = select(y, U(0x1529u), k == U(3u));
  y = select(y, U(0xfc27u), k == U(4u));
  y = select(y, U(0x57d1u), k == U(5u));
  y = select(y, U(0xf534u), k == U(6u));
  y = select(y, U(0xddc0u), k == U(7u));
  y = select(y, U(0xdb62u), k == U(8u));
  y = select(y, U(0x9599u), k == U(9u));
  y = select(y, U(0x3c43u), k == U(10u));
  y = select(y, U(0x9041u), k == U(11u));
  return y;
}

// |x| >= 2^12: x = m * 2^e times five digits of 2/pi, those before them yielding multiples of 4.
fn etwg_turn_large(x: V) -> Turned {
  let bits = bitcast<U>(x);
  let e = I((bits >> U(23u)) & U(255u)) - I(150);
  let skip = max((e - I(2)) >> U(4u), I(0));
  let m = (bits & U(0x7fffffu)) | U(0x800000u);
  let low = m & U(0xffffu);
  let high = m >> U(16u);
  // The product, from its lowest 16 bits on: words of two digits each.
  var word = array<U, 4>();
  var carry = U(0u);
  var above = U(0u);  // high * digit of the place before
  for (var place = 0u; place < 7u; place++) {
    var sum = carry + above;
    carry = U(0u);
    if (place < 5u) {
      let digit = etwg_two_over_pi(U(skip) + U(4u - place));
      let product = low * digit;
      sum += product & U(0xffffu);
      carry = product >> U(16u);
      above = high * digit;
    } else {
      above = U(0u);
    }
    carry += sum >> U(16u);
    word[place / 2u] |= (sum & U(0xffffu)) << U((place & 1u) * 16u);
  }
  // In units of quarter turns the point lies 64 - s bits up, -27 <= s <= 1: 32 bits below it, 2 above.
  let shift = U(I(17) - e + (skip << U(4u)));
  let v0 = (word[0] >> U(31u)) | (word[1] << U(1u));
  let v1 = (word[1] >> U(31u)) | (word[2] << U(1u));
  let fraction = (v0 >> shift) | ((v1 << U(1u)) << (U(31u) - shift));
  let quarter = I((v1 >> shift) + (fraction >> U(31u)));
  let r = V(bitcast<I>(fraction)) * V(3.6572952e-10);  // pi / 2 * 2^-32
  let negative = x < V(0.0);
  return Turned(select(r, -r, negative), select(quarter, -quarter, negative) & I(3));
}

// Small x: pi/2 is taken off in three parts, the first two so short that the products are exact.
fn etwg_turn(x: V) -> Turned {
  let n = round(x * V(0.636619772));
  let r = ((x - n * V(1.5703125)) - n * V(0.000483751297)) - n * V(7.54979013e-8);
  let small = Turned(r, I(n - V(4.0) * floor(n * V(0.25))));
  let is_large = abs(x) > V(10000.0);
  if (!any(is_large)) {
    return small;
  }
  let large = etwg_turn_large(select(V(65536.0), x, is_large));
  return Turned(select(small.r, large.r, is_large), select(small.quarter, large.quarter, is_large));
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

// y, or NaN where x is not finite. (Drivers take x - x for 0.)
fn etwg_finite_only(x: V, y: V) -> V {
  return select(y, etwg_from_bits(U(0x7fc00000u)), etwg_isnan(x) | etwg_isinf(x));
}

fn etwg_sin(x: V) -> V {
  return etwg_finite_only(x, etwg_sin_of(etwg_turn(x)));
}

fn etwg_cos(x: V) -> V {
  let t = etwg_turn(x);
  return etwg_finite_only(x, etwg_sin_of(Turned(t.r, t.quarter + I(1))));
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

// a * b = p + etwg_product_error(a, b, p) exactly, p being the rounded product: the operands are cut
// into halves whose products are exact.
fn etwg_product_error(a: V, b: V, p: V) -> V {
  let ah = bitcast<V>(bitcast<U>(a) & U(0xfffff000u));
  let bh = bitcast<V>(bitcast<U>(b) & U(0xfffff000u));
  let al = a - ah;
  let bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
}

// |x|^y by exp2(y * (e + log2(m))), x = m * 2^e: the large part y * e is kept exact.
fn etwg_magnitude_pow(x: V, y: V) -> V {
  let parts = frexp(x);
  let low = parts.fract < V(0.707106781);
  let m = select(parts.fract, parts.fract * V(2.0), low);
  let e = V(parts.exp - select(I(0), I(1), low));
  let large = y * e;
  let small = y * (etwg_log(m) * V(1.44269504));
  let n = clamp(round(large + small), V(-250.0), V(250.0));
  let r = clamp((large - n) + (etwg_product_error(y, e, large) + small), V(-200.0), V(200.0));
  let half = floor(n * V(0.5));
  let inner = exp2(r) * etwg_power_of_2(half) * etwg_power_of_2(n - half);
  // 0, infinity and 1 as base, infinite exponents
  let infinity = etwg_from_bits(U(0x7f800000u));
  let ends = select(V(0.0), infinity, (x > V(1.0)) == (y > V(0.0)));
  let end = (x == V(0.0)) | etwg_isinf(x) | etwg_isinf(y);
  return select(select(inner, ends, end), V(1.0), x == V(1.0));
}

// IEEE pow: whole exponents by repeated squaring (exact where the products are), others by exp2 and
// log2 of the magnitude.
fn etwg_pow(x: V, y: V) -> V {
  let integral = y == trunc(y);
  let whole = integral & (abs(y) <= V(64.0));
  var n = U(select(V(0.0), abs(y), whole));
  var base = x;
  var product = V(1.0);
  for (var bit = 0; bit < 7; bit++) {
    product = select(product, product * base, (n & U(1u)) == U(1u));
    base = base * base;
    n = n >> U(1u);
  }
  let power = select(product, V(1.0) / product, y < V(0.0));
  let odd = integral & !((y * V(0.5)) == trunc(y * V(0.5)));
  let negative = (bitcast<U>(x) >> U(31u)) == U(1u);
  let magnitude = etwg_magnitude_pow(abs(x), y);
  let other = select(magnitude, -magnitude, odd & negative);
  let result = select(other, power, whole);
  let no_root = (x < V(0.0)) & !integral & !etwg_isinf(x);
  let nan = no_root | (etwg_isnan(x) & !(y == V(0.0))) | (etwg_isnan(y) & !(x == V(1.0)));
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
  return select(b, a, ((a < b) & !etwg_isnan(b)) | etwg_isnan(a));
}

fn etwg_max(a: V, b: V) -> V {
  return select(b, a, ((a > b) & !etwg_isnan(b)) | etwg_isnan(a));
}

// log(1 + e) for 0 <= e <= 1: what 1 + e rounds away is given back.
fn etwg_log1p(e: V) -> V {
  let u = V(1.0) + e;
  return etwg_log(u) + (e - (u - V(1.0))) / u;
}

// log(1 + e^x) without overflow or loss for large |x|.
fn etwg_softplus(x: V, beta: V, threshold: V) -> V {
  let t = x * beta;
  return select((max(t, V(0.0)) + etwg_log1p(etwg_exp(-abs(t)))) / beta, x, t > threshold);
}

// e^x - 1: a polynomial where the difference would cancel.
fn etwg_expm1(x: V) -> V {
  let near = x + x * x * (V(0.5) + x * (V(0.166666672) + x * (V(0.0416664556) +
             x * (V(0.00833329745) + x * (V(0.00139345345) + x * V(0.000199004309))))));
  return select(etwg_exp(x) - V(1.0), near, abs(x) < V(0.35));
}

// Rounded to what float16 holds, for casts inside a chain.
fn etwg_round_f16(x: V) -> V {
  let bits = bitcast<U>(x);
  let normal = bitcast<V>((bits + U(0xfffu) + ((bits >> U(13u)) & U(1u))) & U(0xffffe000u));
  let tiny = round(x * V(16777216.0)) * V(5.96046448e-8);
  let y = select(normal, tiny, abs(x) < V(0.00006103515625));
  let infinity = bitcast<V>((bits & U(0x80000000u)) | U(0x7f800000u));
  return select(select(y, infinity, abs(x) >= V(65520.0)), x, etwg_isnan(x));
}
