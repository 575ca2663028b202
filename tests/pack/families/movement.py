# SPDX-License-Identifier: BSD-3-Clause
"""Operators that only move data: every result must equal its source bit for bit."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, bools, ints, rand

ALL = ("f32", "f16", "tex")

# name: (function, shape). A function of the input alone, so that it may run on any dtype.
SINGLE: dict[str, tuple[Callable[[torch.Tensor], Any], tuple[int, ...]]] = {
    "view": (lambda x: x.view(6, 20), (2, 3, 4, 5)),
    "view_merge": (lambda x: x.reshape(2, -1), (2, 3, 5)),
    "view_split": (lambda x: x.view(3, 2, 7, 1), (6, 7)),
    "view_rank5": (lambda x: x.view(2, 3, 2, 2, 5), (6, 4, 5)),
    "view_of_permute": (lambda x: x.permute(0, 2, 1).reshape(2, 15), (2, 3, 5)),
    "transpose": (lambda x: x.transpose(0, 1), (5, 7)),
    "transpose_large": (lambda x: x.transpose(0, 1), (130, 257)),
    "t": (lambda x: x.t(), (5, 3)),
    "permute_rank5": (lambda x: x.permute(0, 2, 4, 1, 3), (2, 3, 2, 3, 4)),
    "expand": (lambda x: x.expand(3, 4, 5), (3, 1, 5)),
    "expand_new": (lambda x: x.expand(2, 3, 5), (3, 5)),
    "expand_keep": (lambda x: x.expand(4, -1, 5), (1, 3, 5)),
    "expand_one": (lambda x: x.expand(3, 3), (1,)),
    "squeeze": (lambda x: x.squeeze(1), (3, 1, 5)),
    "squeeze_two": (lambda x: x.squeeze((0, 2)), (1, 3, 1, 5)),
    "squeeze_not": (lambda x: x.squeeze(0), (3, 5)),
    "unsqueeze_0": (lambda x: x.unsqueeze(0), (3, 5)),
    "unsqueeze_last": (lambda x: x.unsqueeze(-1), (3, 5)),
    "unsqueeze_mid": (lambda x: x.unsqueeze(1), (3, 5, 2)),
    "select_0": (lambda x: x.select(0, 1), (3, 5, 7)),
    "select_mid": (lambda x: x.select(1, 4), (3, 5, 7)),
    "select_last": (lambda x: x.select(2, -1), (3, 5, 7)),
    "select_vector": (lambda x: x.select(0, 2), (5,)),
    "slice_0": (lambda x: x[1:3], (4, 5)),
    "slice_last": (lambda x: x[..., 2:6], (3, 9)),
    "slice_step": (lambda x: x[:, 1:8:3], (3, 9, 2)),
    "slice_negative": (lambda x: x[:, -3:], (3, 9)),
    "slice_beyond": (lambda x: x[:, 4:100], (3, 9)),
    "slice_empty": (lambda x: x[:, 4:4], (3, 9)),
    "slice_two": (lambda x: x[1:, :, 2:], (3, 4, 5)),
    "split": (lambda x: torch.split(x, [2, 1, 4], 1), (3, 7, 2)),
    "split_equal": (lambda x: torch.split(x, 3, 0), (8, 5)),
    "chunk": (lambda x: torch.chunk(x, 2, -1), (3, 10)),
    "unbind": (lambda x: torch.unbind(x, 1), (3, 3, 4)),
    "repeat": (lambda x: x.repeat(2, 3), (3, 5)),
    "repeat_new": (lambda x: x.repeat(2, 1, 3), (3, 5)),
    "repeat_rank4": (lambda x: x.repeat(1, 2, 1, 2), (2, 3, 2, 3)),
    "flip_last": (lambda x: x.flip(-1), (3, 5)),
    "flip_two": (lambda x: x.flip((0, 2)), (3, 4, 5)),
    "flip_rank4": (lambda x: x.flip((1, 3)), (2, 3, 4, 5)),
    "pad_last": (lambda x: F.pad(x, (1, 2)), (3, 5)),
    "pad_two": (lambda x: F.pad(x, (1, 2, 3, 0)), (3, 5)),
    "pad_four": (lambda x: F.pad(x, (0, 1, 2, 0, 1, 1)), (2, 3, 4, 5)),
    "pad_crop": (lambda x: F.pad(x, (-1, 2)), (3, 5)),
    "clone": (lambda x: x.clone(), (3, 5)),
    "clone_permuted": (lambda x: x.permute(1, 0).clone() , (3, 5)),
    "contiguous": (lambda x: x.transpose(1, 2).contiguous(), (2, 3, 5)),
    "cat_self": (lambda x: torch.cat([x, x], -1), (3, 5)),
    "stack": (lambda x: torch.stack([x, x], 1), (3, 5)),
    "flatten": (lambda x: x.flatten(1), (2, 3, 5)),
    "roll_by_cat": (lambda x: torch.cat([x[:, 2:], x[:, :2]], 1), (3, 5)),
}
# Those that also run on integers and bools.
ON_INTS = ("view_of_permute", "transpose", "expand", "squeeze", "unsqueeze_mid", "select_mid", "slice_step", "split", "repeat",
           "flip_last", "pad_two", "clone", "cat_self", "permute_rank5")
QUICK = ("view_of_permute", "transpose", "expand", "select_mid", "slice_step", "split", "repeat", "flip_last", "pad_two", "cat_self")


def single() -> Iterator[Case]:
    for name, (fn, shape) in SINGLE.items():
        yield Case(f"movement/{name}", fn, [(rand(*shape),)], variants=ALL if name in ON_INTS else ("f32",), quick=name in QUICK)
    for name in ON_INTS:
        fn, shape = SINGLE[name]
        yield Case(f"movement/{name}_int", fn, [(ints(*shape, low=-(2**31) + 1, high=2**31 - 1),)])
        yield Case(f"movement/{name}_bool", fn, [(bools(*shape),)])
        yield Case(f"movement/{name}_special", fn, [(_with_special(*shape),)])
    for order in itertools.permutations(range(3)):
        name = "".join(map(str, order))
        yield Case(f"movement/permute_{name}", lambda x, o=order: x.permute(o), [(rand(3, 5, 7),)], variants=("f32", "tex"))
    for order in ((0, 2, 1, 3), (0, 1, 3, 2), (0, 3, 1, 2), (0, 2, 3, 1), (3, 2, 1, 0)):
        name = "".join(map(str, order))
        yield Case(f"movement/permute_{name}", lambda x, o=order: x.permute(o), [(rand(2, 3, 5, 8),)], variants=ALL)


def _with_special(*shape: int) -> torch.Tensor:
    x = rand(*shape)
    flat = x.view(-1)
    flat[0], flat[1], flat[2] = float("nan"), float("inf"), float("-inf")
    return x


def several_inputs() -> Iterator[Case]:
    for dim, shapes in {0: ((2, 5), (3, 5), (1, 5)), 1: ((3, 2), (3, 4), (3, 1)), -1: ((2, 3, 4), (2, 3, 1), (2, 3, 7))}.items():
        yield Case(f"movement/cat_{dim}".replace("-", "m"), lambda *xs, d=dim: torch.cat(xs, d),
                   [tuple(rand(*s, seed=i) for i, s in enumerate(shapes))], variants=ALL, quick=True)
    yield Case("movement/cat_many", lambda *xs: torch.cat(xs, 0), [tuple(rand(1, 3, seed=i) for i in range(9))])
    yield Case("movement/cat_empty", lambda a, b: torch.cat([a, b], 1), [(rand(3, 0), rand(3, 4))])
    yield Case("movement/cat_one", lambda a: torch.cat([a], 0) + 0.0, [(rand(3, 4),)])
    yield Case("movement/cat_rank4", lambda a, b: torch.cat([a, b], 1), [(rand(1, 3, 4, 5), rand(1, 2, 4, 5, seed=2))], variants=ALL)
    yield Case("movement/cat_int", lambda a, b: torch.cat([a, b], 1), [(ints(3, 2), ints(3, 4, seed=2))])
    yield Case("movement/stack_two", lambda a, b: torch.stack([a, b], -1), [(rand(3, 4), rand(3, 4, seed=2))])
    yield Case("movement/pad_value", lambda x: F.pad(x, (1, 1, 2, 0), value=-1.5), [(rand(3, 5),)], variants=ALL)
    yield Case("movement/pad_inf", lambda x: F.pad(x, (1, 1), value=float("-inf")), [(rand(3, 5),)])
    # Views of one value, read after one another: they may share its memory, but must not disturb it.
    yield Case("movement/views_then_use", lambda x: (x.view(15) + 1.0, x.view(5, 3) * 2.0, x), [(rand(3, 5),)])
    yield Case("movement/view_chain", lambda x: ((x + 1.0).view(15).unsqueeze(0).squeeze(0).view(5, 3) * 2.0).view(3, 5), [(rand(3, 5),)])
    yield Case("movement/slices_add", lambda x: x[:, :3] + x[:, 3:], [(rand(4, 6),)], variants=ALL)
    yield Case("movement/output_is_input_view", lambda x: x.view(15), [(rand(3, 5),)])
    yield Case("movement/same_output_twice", lambda x: (x + 1.0,) * 2, [(rand(3, 5),)])


def dynamic() -> Iterator[Case]:
    d = Dim("d", min=3, max=40)  # 3: a size of 1 that a slice leaves would be a program of its own
    lengths = (6, 3, 40, 17)
    fixed = {
        "transpose": (lambda x: x.transpose(0, 1), lambda n: rand(n, 5), {0: d}),
        "permute": (lambda x: x.permute(0, 2, 1, 3), lambda n: rand(1, n, 3, 4), {1: d}),
        "view": (lambda x: x.view(x.shape[0], 3, 4), lambda n: rand(n, 12), {0: d}),
        "view_heads": (lambda x: x.view(1, x.shape[1], 3, 4).transpose(1, 2), lambda n: rand(1, n, 12), {1: d}),
        "view_flat": (lambda x: x.reshape(-1), lambda n: rand(n, 3), {0: d}),
        "flatten": (lambda x: x.flatten(1), lambda n: rand(2, n, 3), {1: d}),
        "unsqueeze": (lambda x: x.unsqueeze(1), lambda n: rand(n, 3), {0: d}),
        "squeeze": (lambda x: x.squeeze(0), lambda n: rand(1, n, 3), {1: d}),
        "select": (lambda x: x[:, -1], lambda n: rand(2, n, 3), {1: d}),
        "select_first": (lambda x: x[0], lambda n: rand(n, 3), {0: d}),
        "slice": (lambda x: x[:, 1:], lambda n: rand(2, n, 3), {1: d}),
        "slice_to": (lambda x: x[:, :-1], lambda n: rand(2, n, 3), {1: d}),
        "cat": (lambda x: torch.cat([x, x * 2.0], 1), lambda n: rand(2, n, 3), {1: d}),
        "cat_const": (lambda x: torch.cat([x, x[:1]], 0), lambda n: rand(n, 3), {0: d}),
        "split": (lambda x: torch.split(x, [2, 3], 1), lambda n: rand(n, 5), {0: d}),
        "pad": (lambda x: F.pad(x, (1, 2)), lambda n: rand(3, n), {1: d}),
        "expand": (lambda x: x.unsqueeze(0).expand(3, -1, -1), lambda n: rand(n, 3), {0: d}),
        "repeat": (lambda x: x.repeat(2, 1), lambda n: rand(n, 3), {0: d}),
        "flip": (lambda x: x.flip(0), lambda n: rand(n, 3), {0: d}),
        "clone": (lambda x: x.clone(), lambda n: rand(n, 3), {0: d}),
    }
    for name, (fn, make, dims) in fixed.items():
        yield Case(f"movement/{name}_dyn", fn, [(make(n),) for n in lengths], dynamic=(dims,),
                   variants=ALL if name in ("view_heads", "slice") else ("f32",), quick=name in ("view_heads", "cat"))
    yield Case("movement/cat_dyn_two", lambda a, b: torch.cat([a, b], 0),
               [(rand(m, 3), rand(n, 3, seed=2)) for m, n in ((4, 6), (2, 30), (30, 2))],
               dynamic=({0: Dim("m", min=2, max=30)}, {0: Dim("n", min=2, max=30)}))


def cases() -> Iterator[Case]:
    yield from single()
    yield from several_inputs()
    yield from dynamic()
