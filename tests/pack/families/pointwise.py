# SPDX-License-Identifier: BSD-3-Clause
"""One element out of one element of each input: unary, binary, compare, logical, where, casts."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, bools, ints, positive, rand, special

# name: (function, inputs that suit it, (atol, rtol) or None)
UNARY = {
    "abs": (torch.abs, rand, None),
    "cos": (torch.cos, lambda *s: rand(*s, scale=3.0), (2e-5, 2e-5)),
    "sin": (torch.sin, lambda *s: rand(*s, scale=3.0), (2e-5, 2e-5)),
    "exp": (torch.exp, lambda *s: rand(*s, scale=4.0), (1e-6, 2e-5)),
    "gelu": (F.gelu, lambda *s: rand(*s, scale=3.0), (2e-6, 2e-5)),
    "gelu_tanh": (
        lambda x: F.gelu(x, approximate="tanh"), lambda *s: rand(*s, scale=3.0), (5e-6, 5e-5)),
    "hardshrink": (F.hardshrink, rand, None),
    "hardshrink_1": (lambda x: F.hardshrink(x, 1.0), rand, None),
    "hardswish": (F.hardswish, lambda *s: rand(*s, scale=3.0), None),
    "hardtanh": (F.hardtanh, lambda *s: rand(*s, scale=2.0), None),
    "hardtanh_range": (lambda x: F.hardtanh(x, -0.25, 3.5), lambda *s: rand(*s, scale=2.0), None),
    "relu6": (F.relu6, lambda *s: rand(*s, scale=5.0), None),
    "neg": (torch.neg, rand, None),
    "relu": (torch.relu, rand, None),
    "sigmoid": (torch.sigmoid, lambda *s: rand(*s, scale=4.0), (1e-6, 1e-5)),
    "silu": (F.silu, lambda *s: rand(*s, scale=4.0), (2e-6, 2e-5)),
    "sqrt": (torch.sqrt, positive, None),
    "rsqrt": (torch.rsqrt, positive, None),
    "tanh": (torch.tanh, lambda *s: rand(*s, scale=2.0), (2e-6, 2e-5)),
    "round": (torch.round, lambda *s: rand(*s, scale=5.0), None),
    "leaky_relu": (F.leaky_relu, rand, None),
    "leaky_relu_02": (lambda x: F.leaky_relu(x, 0.2), rand, None),
    "log10": (torch.log10, positive, (2e-6, 2e-5)),
    "clamp": (lambda x: torch.clamp(x, -0.5, 0.75), rand, None),
    "clamp_min": (lambda x: torch.clamp(x, min=0.1), rand, None),
    "clamp_max": (lambda x: torch.clamp(x, max=0.1), rand, None),
    "pow_2": (lambda x: torch.pow(x, 2), rand, (1e-6, 2e-5)),
    "pow_3": (lambda x: torch.pow(x, 3), rand, (1e-6, 2e-5)),
    "pow_half": (lambda x: torch.pow(x, 0.5), positive, (1e-6, 2e-5)),
    "pow_minus_1_7": (lambda x: torch.pow(x, -1.7), positive, (1e-6, 5e-5)),
}

# name: (function, left, right, (atol, rtol) or None, reference)
BINARY = {
    "add": (torch.add, rand, rand, None, "f64"),
    "add_alpha": (lambda a, b: torch.add(a, b, alpha=0.5), rand, rand, None, "f64"),
    "sub": (torch.sub, rand, rand, None, "f64"),
    "sub_alpha": (lambda a, b: torch.sub(a, b, alpha=3), rand, rand, None, "f64"),
    "mul": (torch.mul, rand, rand, None, "f64"),
    "div": (torch.div, rand, positive, None, "f64"),
    "div_floor": (
        lambda a, b: torch.div(a, b, rounding_mode="floor"), rand, positive, None, "eager"),
    "div_trunc": (
        lambda a, b: torch.div(a, b, rounding_mode="trunc"), rand, positive, None, "eager"),
    "minimum": (torch.minimum, rand, rand, None, "f64"),
    "maximum": (torch.maximum, rand, rand, None, "f64"),
    "pow": (torch.pow, positive, rand, (1e-6, 5e-5), "f64"),
}

COMPARE = {"eq": torch.eq, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
COMPARE_SCALAR = {**COMPARE, "ne": torch.ne}
LOGICAL = {
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
}

# left shape, right shape
BROADCAST = {
    "same": ((2, 3, 8), (2, 3, 8)),
    "row": ((2, 3, 8), (8,)),
    "column": ((5, 7), (5, 1)),
    "both": ((3, 1, 5), (1, 4, 1)),
    "left": ((7,), (3, 2, 7)),
    "by_0d": ((3, 5), ()),
    "rank5": ((2, 1, 3, 2, 3), (3, 2, 1)),
    "rank4": ((2, 3, 4, 5), (3, 1, 1)),
}
SHAPES = {"odd": (3, 5, 7), "one": (1,), "0d": (), "vec": (257,), "rank4": (2, 3, 4, 8)}
ALL = ("f32", "f16", "tex")


def unary() -> Iterator[Case]:
    for name, (fn, make, tol) in UNARY.items():
        yield Case(f"pointwise/{name}", fn, [(make(3, 5, 7),)], variants=ALL, tol=tol,
                   reference="eager" if name == "round" else "f64",
                   tol_f16=(4e-3, 6e-3), quick=True)
    for shape_name, shape in SHAPES.items():
        for name in ("relu", "exp", "neg"):
            fn, make, tol = UNARY[name]
            yield Case(f"pointwise/{name}_{shape_name}", fn, [(make(*shape),)], tol=tol)
    yield Case("pointwise/relu_large", torch.relu, [(rand(1030, 1025),)])
    yield Case("pointwise/relu_empty", torch.relu, [(rand(0, 4),)])
    d = Dim("d", min=1, max=40)
    for name in ("gelu", "tanh"):
        fn, make, tol = UNARY[name]
        yield Case(f"pointwise/{name}_dyn", fn, [(make(n, 7),) for n in (9, 1, 40, 4)],
                   dynamic=({0: d},), tol=tol, variants=ALL)
    # NaN, infinities, zeros of both signs. exp(1e30) and the like are defined; sin(inf) is too.
    for name in ("abs", "neg", "relu", "sigmoid", "tanh", "clamp", "clamp_min", "clamp_max",
                 "hardtanh", "relu6", "leaky_relu", "exp", "sqrt", "rsqrt", "round", "hardshrink",
                 "hardswish", "gelu", "log10", "pow_2"):
        fn, _, tol = UNARY[name]
        yield Case(f"pointwise/{name}_special", fn, [(special(),)], reference="eager",
                   tol=tol or (1e-6, 1e-5), quick=name in ("relu", "clamp"))
    yield Case("pointwise/round_half_even", torch.round,
               [(torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 3.5, 4.5, 0.49999997, 8388609.0]),)])
    yield Case("pointwise/tanh_large", torch.tanh, [(torch.tensor([20.0, -20.0, 90.0, -90.0, 1e4]),)],
               tol=(2e-6, 1e-5))
    yield Case("pointwise/clamp_int", lambda x: torch.clamp(x, -3, 4), [(ints(3, 7),)], variants=("f32", "tex"))
    yield Case("pointwise/clamp_int64", lambda x: torch.clamp(x, min=-3), [(ints(3, 7, dtype=torch.int64),)])
    yield Case("pointwise/chain", lambda x: torch.sigmoid(x * 2.0 + 0.5) * torch.relu(x) - 0.25,
               [(rand(6, 9),)], variants=ALL, tol=(2e-6, 2e-5), quick=True)


def binary() -> Iterator[Case]:
    for name, (fn, left, right, tol, reference) in BINARY.items():
        for how, (a, b) in BROADCAST.items():
            if how not in ("same", "row", "both", "by_0d") and name not in ("add", "mul", "sub"):
                continue
            yield Case(f"pointwise/{name}_{how}", fn, [(left(*a, seed=1), right(*b, seed=2))],
                       tol=tol, reference=reference, quick=how == "both", tol_f16=(4e-3, 4e-3),
                       variants=ALL if how in ("same", "row") and "div_" not in name else ("f32",))
    d = Dim("d", min=1, max=33)
    for name in ("add", "mul"):
        fn, left, right, tol, reference = BINARY[name]
        yield Case(f"pointwise/{name}_dyn", fn,
                   [(left(n, 5, seed=3), right(n, 5, seed=4)) for n in (6, 1, 33)],
                   dynamic=({0: d}, {0: d}), variants=ALL)
        yield Case(f"pointwise/{name}_dyn_bcast", fn,
                   [(left(2, n, 6, seed=3), right(n, 1, seed=4)) for n in (6, 2, 33)],
                   dynamic=({1: d}, {0: d}))
    for name in ("add", "sub", "mul", "minimum", "div_floor", "div_trunc"):
        fn = BINARY[name][0]
        divisor = ints(4, 7, low=1, high=6, seed=2) * (1 - 2 * ints(4, 7, low=0, high=2, seed=3))
        yield Case(f"pointwise/{name}_int", fn, [(ints(4, 7, low=-40, high=40, seed=1), divisor)],
                   variants=("f32", "tex"), quick=name == "add")
    yield Case("pointwise/add_int64", torch.add,
               [(ints(9, dtype=torch.int64), ints(9, seed=2, dtype=torch.int64))])
    yield Case("pointwise/div_int_true", torch.div, [(ints(4, 7), ints(4, 7, low=1, seed=5))])
    yield Case("pointwise/add_int_float", torch.add, [(ints(4, 7), rand(4, 7))])
    yield Case("pointwise/mul_int_wrap", torch.mul,
               [(torch.tensor([2**30, -(2**30), 65537, 3], dtype=torch.int32),
                 torch.tensor([4, 3, 65537, -7], dtype=torch.int32))], reference="eager")
    yield Case("pointwise/pow_int", torch.pow, [(ints(3, 5), ints(3, 5, low=0, high=5, seed=2))])
    yield Case("pointwise/pow_signs", torch.pow,
               [(torch.tensor([-2.0, -2.0, 0.0, 0.0, 2.0, -8.0, -1.0]),
                 torch.tensor([2.0, 3.0, 0.0, 2.0, -3.0, 1.0 / 3, 5.0]))], tol=(1e-6, 2e-5))
    for name, (fn, _, _, _, _) in BINARY.items():
        if name in ("add", "sub", "mul", "div", "minimum", "maximum"):
            grid = special()
            yield Case(f"pointwise/{name}_special", fn, [(grid.reshape(-1, 1), grid.reshape(1, -1))],
                       reference="eager", quick=name == "minimum")
    yield Case("pointwise/add_scalar", lambda x: x + 1.0, [(rand(4, 4),)], variants=("f32", "f16", "tex", "webgpu"), quick=True)
    yield Case("pointwise/mul_scalar", lambda x: x * 0.125, [(rand(5, 3),)], variants=ALL)
    yield Case("pointwise/rsub_scalar", lambda x: 1.0 - x, [(rand(5, 3),)])
    yield Case("pointwise/div_scalar", lambda x: x / 3.0, [(rand(5, 3),)])
    yield Case("pointwise/add_scalar_int", lambda x: x + 7, [(ints(5, 3),)])
    yield Case("pointwise/add_self", lambda x: x + x, [(rand(5, 3),)])
    yield Case("pointwise/add_empty", torch.add, [(rand(3, 0), rand(3, 0))])
    yield Case("pointwise/add_large", torch.add, [(rand(70, 64, 257), rand(257))])


def compare_and_logic() -> Iterator[Case]:
    for name, fn in COMPARE.items():
        yield Case(f"pointwise/{name}", fn, [(ints(5, 7).float(), ints(5, 7, seed=2).float())],
                   variants=ALL, quick=True)
        yield Case(f"pointwise/{name}_row", fn, [(ints(3, 5, 6).float(), ints(6, seed=2).float())])
        yield Case(f"pointwise/{name}_int", fn, [(ints(5, 7), ints(5, 1, seed=2))])
        yield Case(f"pointwise/{name}_special", fn,
                   [(special().reshape(-1, 1), special().reshape(1, -1))])
    for name, fn in COMPARE_SCALAR.items():
        yield Case(f"pointwise/{name}_scalar", lambda x, fn=fn: fn(x, 2.0), [(ints(5, 7).float(),)], variants=ALL)
        yield Case(f"pointwise/{name}_scalar_int", lambda x, fn=fn: fn(x, 3), [(ints(5, 7),)])
        yield Case(f"pointwise/{name}_scalar_special", lambda x, fn=fn: fn(x, 0.0), [(special(),)])
    for name, fn in LOGICAL.items():
        yield Case(f"pointwise/{name}", fn, [(bools(5, 7), bools(5, 7, seed=2))],
                   variants=("f32", "tex"), quick=True)
        yield Case(f"pointwise/{name}_bcast", fn, [(bools(3, 5, 3), bools(5, 1, seed=2))])
    for name, fn in {"bitwise_not": torch.bitwise_not, "logical_not": torch.logical_not}.items():
        yield Case(f"pointwise/{name}", fn, [(bools(5, 7),)], variants=("f32", "tex"), quick=True)
        yield Case(f"pointwise/{name}_one", fn, [(bools(1),)])
    yield Case("pointwise/where", torch.where, [(bools(5, 7), rand(5, 7), rand(5, 7, seed=2))], variants=ALL, quick=True)
    yield Case("pointwise/where_bcast", torch.where, [(bools(5, 1), rand(3, 5, 7), rand(7, seed=2))])
    yield Case("pointwise/where_inf", lambda m, x: torch.where(m, x, float("-inf")), [(bools(5, 7), rand(5, 7))])
    yield Case("pointwise/masked_fill", lambda x, m: x.masked_fill(m, -1e9), [(rand(5, 7), bools(5, 7))])
    d = Dim("d", min=1, max=19)
    yield Case("pointwise/where_dyn", lambda x, y: torch.where(x > y, x, y * 2.0),
               [(rand(n, 3), rand(n, 3, seed=2)) for n in (5, 1, 19)], dynamic=({0: d}, {0: d}))
    yield Case("pointwise/compare_chain", lambda x: torch.logical_and(x > -0.5, x < 0.5), [(rand(33),)])


def casts() -> Iterator[Case]:
    f, i, b = torch.float32, torch.int32, torch.bool
    source = {
        f: torch.tensor([0.0, -0.0, 0.4, -0.9, 1.5, -2.5, 100.75, -3.999]), i: ints(9), b: bools(9),
        torch.int64: ints(9, dtype=torch.int64), torch.float16: rand(9).half(),
    }
    pairs = [(f, i), (i, f), (f, b), (b, f), (b, i), (i, b), (torch.int64, f), (torch.int64, i),
             (i, torch.int64), (f, torch.float16), (torch.float16, f), (b, torch.int64)]
    for src, dst in pairs:
        short = {f: "f32", i: "i32", b: "bool", torch.int64: "i64", torch.float16: "half"}
        yield Case(f"cast/{short[src]}_to_{short[dst]}", lambda x, dst=dst: x.to(dst),
                   [(source[src],)], reference="eager", tol=(0.0, 1e-3) if torch.float16 in (src, dst) else None,
                   quick=(src, dst) == (i, f))
    yield Case("cast/nan_to_bool", lambda x: x.to(torch.bool), [(special(),)])
    yield Case("cast/mask_to_bias", lambda m: (1.0 - m.to(torch.float32)) * -1e4,
               [(ints(3, 11, low=0, high=2, dtype=torch.int64),)], tol=(0.0, 1e-6))
    # Half tensors as they are, without force_fp16.
    yield Case("cast/half_add", torch.add, [(rand(5, 7).half(), rand(7, seed=2).half())], reference="eager", tol=(1e-3, 2e-3))
    yield Case("cast/half_relu", torch.relu, [(rand(5, 7).half(),)], reference="eager", tol=(0.0, 0.0))


def cases() -> Iterator[Case]:
    yield from unary()
    yield from binary()
    yield from compare_and_logic()
    yield from casts()
