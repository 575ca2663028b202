# SPDX-License-Identifier: BSD-3-Clause
"""Tensors made from nothing but a size: full, zeros, ones, arange, scalar_tensor."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.export import Dim

from case import Case, ints, rand

ALL = ("f32", "f16", "tex")


class KeepCreated(torch.nn.Module):
    """Made from the live size of the input, so that the exporter cannot fold it to a constant."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        if self.what == "full":
            return x + torch.full((n, 3), 1.5)
        if self.what == "zeros":
            return torch.cat([x, torch.zeros((n, 2))], 1)
        if self.what == "ones":
            return x - torch.ones((n, 1))
        if self.what == "arange":
            return x + torch.arange(n).to(torch.float32).unsqueeze(1)
        if self.what == "arange_step":
            return x + torch.arange(3, 2 * n + 3, 2).to(torch.float32).unsqueeze(1)
        if self.what == "arange_float":
            return x * torch.arange(n, dtype=torch.float32).unsqueeze(1)
        return torch.where(torch.arange(n).unsqueeze(1) < 3, x, torch.zeros(()))


def cases() -> Iterator[Case]:
    d = Dim("d", min=2, max=30)
    for what in ("full", "zeros", "ones", "arange", "arange_step", "arange_float", "mask"):
        yield Case(f"create/{what}_dyn", KeepCreated(what), [(rand(n, 3),) for n in (5, 2, 30)], dynamic=({0: d},), quick=what == "full")
    yield Case("create/full", lambda x: x + torch.full((3, 5), 2.5), [(rand(3, 5),)], variants=ALL)
    yield Case("create/full_like", lambda x: torch.full_like(x, -1.25) * x, [(rand(3, 5),)], variants=ALL, quick=True)
    yield Case("create/full_like_inf", lambda x: torch.full_like(x, float("-inf")), [(rand(3, 5),)])
    yield Case("create/full_like_int", lambda x: torch.full_like(x, 7) + x, [(ints(3, 5),)])
    yield Case("create/full_like_bool", lambda x: torch.full_like(x, True, dtype=torch.bool), [(rand(3, 5),)])
    yield Case("create/zeros_like", lambda x: torch.zeros_like(x), [(rand(3, 5),)], variants=("f32", "tex"))
    yield Case("create/ones_like", lambda x: torch.ones_like(x) + x, [(rand(3, 5),)], variants=("f32", "tex"))
    yield Case("create/zeros_out", lambda x: (x + 1.0, torch.zeros(2, 3)), [(rand(3, 5),)])
    yield Case("create/ones_int", lambda x: x + torch.ones(3, 5, dtype=torch.int32), [(ints(3, 5),)])
    yield Case("create/arange", lambda x: x + torch.arange(5, dtype=torch.float32), [(rand(3, 5),)], variants=("f32", "tex"))
    yield Case("create/arange_int", lambda x: x + torch.arange(-2, 8, 2, dtype=torch.int32), [(ints(3, 5),)])
    yield Case("create/arange_fraction", lambda x: x + torch.arange(0.0, 1.0, 0.2), [(rand(3, 5),)])
    yield Case("create/scalar_tensor", lambda x: x * torch.scalar_tensor(0.75), [(rand(3, 5),)], variants=ALL, quick=True)
    yield Case("create/scalar_tensor_where", lambda x: torch.where(x > 0, x, torch.scalar_tensor(-3.0)), [(rand(3, 5),)])
    yield Case("create/full_like_dyn", lambda x: torch.full_like(x, 2.0) + x, [(rand(n, 3),) for n in (5, 2, 30)], dynamic=({0: d},))
