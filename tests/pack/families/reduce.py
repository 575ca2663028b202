# SPDX-License-Identifier: BSD-3-Clause
"""sum, mean, amax, amin, argmax, argmin, softmax, log_softmax over every dimension."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.export import Dim

from case import Case, rand, special

REDUCE = {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin}
ARG = {"argmax": torch.argmax, "argmin": torch.argmin}
SOFT = {"softmax": torch.softmax, "log_softmax": torch.log_softmax}
ALL = ("f32", "f16", "tex")
# shape, dimensions, keepdim
FORMS = {
    "last": ((3, 5, 7), (-1,), False),
    "last_keep": ((3, 5, 7), (-1,), True),
    "first_keep": ((5, 6, 9), (0,), True),
    "mid_keep": ((5, 6, 9), (1,), True),
    "first": ((5, 6, 9), (0,), False),
    "two_keep": ((2, 3, 5, 7), (-1, -2), True),
    "two": ((2, 3, 5, 7), (2, 3), False),
    "outer_keep": ((4, 5, 6), (0, 2), True),
    "three_keep": ((2, 3, 4, 5), (1, 2, 3), True),
    "long": ((3, 5000), (-1,), True),
    "row": ((1, 1030), (-1,), False),
    "one": ((4, 1), (-1,), True),
    "vector": ((300,), (0,), True),
    "rank5": ((2, 3, 2, 3, 4), (-1,), True),
    "pool": ((1, 40, 7, 7), (2, 3), True),
}


def reductions() -> Iterator[Case]:
    for name, fn in REDUCE.items():
        for form, (shape, dims, keep) in FORMS.items():
            yield Case(f"reduce/{name}_{form}", lambda x, fn=fn, d=dims, k=keep: fn(x, dim=d, keepdim=k),
                       [(rand(*shape, shift=0.3),)], tol=(2e-4, 2e-5) if form == "long" else None,
                       tol_f16=(8e-2, 4e-3) if name == "sum" else None,
                       variants=ALL if form in ("last", "mid_keep", "two_keep") else ("f32",),
                       quick=form in ("last", "mid_keep"))
        bad = torch.stack([special(), special(nan=False).new_full((15,), 2.0)])
        bad[1, 3] = float("nan")
        yield Case(f"reduce/{name}_special", lambda x, fn=fn: fn(x, dim=-1, keepdim=True), [(bad,)], reference="eager")
        infinite = rand(3, 9)
        infinite[0, 2], infinite[1, 8] = float("inf"), float("-inf")
        infinite[2, 0], infinite[2, 1] = float("inf"), float("-inf")
        yield Case(f"reduce/{name}_inf", lambda x, fn=fn: fn(x, dim=-1, keepdim=True), [(infinite,)], reference="eager")
        d = Dim("d", min=1, max=50)
        yield Case(f"reduce/{name}_dyn", lambda x, fn=fn: fn(x, dim=-1, keepdim=True),
                   [(rand(4, n),) for n in (7, 1, 50, 33)], dynamic=({1: d},))
        yield Case(f"reduce/{name}_dyn_outer", lambda x, fn=fn: fn(x, dim=1, keepdim=True),
                   [(rand(3, n, 5),) for n in (7, 1, 50)], dynamic=({1: d},))
    # Large terms that cancel, and a mean that plain half sums would overflow.
    yield Case("reduce/mean_offset", lambda x: x.mean(-1, keepdim=True), [(rand(4, 900, shift=1000.0),)], tol=(1e-3, 1e-5))
    yield Case("reduce/mean_f16_range", lambda x: x.mean(-1), [(rand(4, 300, shift=900.0),)], variants=("f16",), tol_f16=(1.0, 2e-3))
    yield Case("reduce/sum_empty", lambda x: x.sum(-1), [(rand(4, 0),)])


def arg_reductions() -> Iterator[Case]:
    for name, fn in ARG.items():
        for form in ("last", "last_keep", "mid_keep", "first_keep", "long", "one", "vector"):
            shape, dims, keep = FORMS[form]
            yield Case(f"reduce/{name}_{form}", lambda x, fn=fn, d=dims[0], k=keep: fn(x, dim=d, keepdim=k),
                       [(rand(*shape),)], variants=("f32", "tex") if form == "last" else ("f32",), quick=form == "last")
        ties = torch.tensor([[1.0, 3.0, 3.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0]])
        yield Case(f"reduce/{name}_ties", lambda x, fn=fn: fn(x, dim=-1), [(ties,)])
        bad = torch.tensor([[1.0, float("nan"), 5.0], [float("-inf"), float("inf"), 0.0]])
        yield Case(f"reduce/{name}_special", lambda x, fn=fn: fn(x, dim=-1), [(bad,)])
        d = Dim("d", min=1, max=50)
        yield Case(f"reduce/{name}_dyn", lambda x, fn=fn: fn(x, dim=-1), [(rand(4, n),) for n in (7, 1, 50)], dynamic=({1: d},))


def softmaxes() -> Iterator[Case]:
    forms = {"last": ((3, 5, 7), -1), "mid": ((3, 5, 7), 1), "first": ((3, 5, 7), 0), "long": ((2, 3000), -1),
             "rank4": ((2, 3, 17, 33), -1), "one": ((4, 1), -1), "vector": ((77,), 0), "rows": ((300, 40), -1)}
    for name, fn in SOFT.items():
        for form, (shape, dim) in forms.items():
            yield Case(f"reduce/{name}_{form}", lambda x, fn=fn, d=dim: fn(x, d), [(rand(*shape, scale=3.0),)],
                       tol_f16=(1e-2, 6e-3), variants=ALL if form in ("last", "mid", "rank4") else ("f32",), quick=form in ("last", "mid"))
        # exp() of these overflows unless the largest is subtracted first.
        yield Case(f"reduce/{name}_large", lambda x, fn=fn: fn(x, -1), [(rand(4, 50, scale=200.0, shift=500.0),)], tol=(1e-3, 1e-4))
        masked = rand(4, 12)
        masked[1, 3:], masked[2, :11] = float("-inf"), float("-inf")
        yield Case(f"reduce/{name}_masked", lambda x, fn=fn: fn(x, -1), [(masked,)], reference="eager")
        all_masked = masked.clone()
        all_masked[3] = float("-inf")
        yield Case(f"reduce/{name}_all_masked", lambda x, fn=fn: fn(x, -1), [(all_masked,)], reference="eager")
        yield Case(f"reduce/{name}_nan", lambda x, fn=fn: fn(x, -1), [(torch.where(masked < -1e9, float("nan"), masked),)], reference="eager")
        d, e = Dim("d", min=1, max=64), Dim("e", min=1, max=64)
        yield Case(f"reduce/{name}_dyn", lambda x, fn=fn: fn(x, -1), [(rand(2, m, n),) for m, n in ((5, 7), (1, 64), (64, 1), (9, 33))],
                   dynamic=({1: d, 2: e},), tol_f16=(1e-2, 6e-3), variants=ALL)


def cases() -> Iterator[Case]:
    yield from reductions()
    yield from arg_reductions()
    yield from softmaxes()
