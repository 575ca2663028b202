# SPDX-License-Identifier: BSD-3-Clause
"""mm, bmm, addmm and linear: tiles that do not divide, one row, one column, K of one, large."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, rand

# M, K, N
SIZES = {
    "1x1x1": (1, 1, 1),
    "3x5x7": (3, 5, 7),
    "4x4x4": (4, 4, 4),
    "8x64x16": (8, 64, 16),
    "17x33x9": (17, 33, 9),
    "64x64x64": (64, 64, 64),
    "65x127x66": (65, 127, 66),
    "1x300x70": (1, 300, 70),
    "70x300x1": (70, 300, 1),
    "1x1024x1024": (1, 1024, 1024),
    "2x257x129": (2, 257, 129),
    "33x1x34": (33, 1, 34),
    "128x512x260": (128, 512, 260),
    "5x2051x6": (5, 2051, 6),
}
QUICK = ("3x5x7", "8x64x16", "65x127x66", "1x300x70")
WITH_VARIANTS = ("3x5x7", "17x33x9", "64x64x64", "65x127x66", "1x300x70", "1x1024x1024")
ALL = ("f32", "f16", "tex")


class Linear(torch.nn.Module):
    def __init__(self, k: int, n: int, bias: bool, scale: float = 1.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(rand(n, k, seed=5, scale=scale))
        self.bias = torch.nn.Parameter(rand(n, seed=6)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)


class LinearThen(Linear):
    """With what a model puts behind it: an epilogue if the runtime fuses."""

    def __init__(self, k: int, n: int, then: str) -> None:
        super().__init__(k, n, True)
        self.then = then

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = super().forward(x)
        if self.then == "residual":
            return x + y
        return getattr(F, self.then)(y)


class MatrixWeight(torch.nn.Module):
    """mm or addmm with a constant right side that is not transposed."""

    def __init__(self, k: int, n: int, bias: bool) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(rand(k, n, seed=5))
        self.bias = torch.nn.Parameter(rand(n, seed=6)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.bias is None:
            return torch.mm(x, self.weight)
        return torch.addmm(self.bias, x, self.weight)


def cases() -> Iterator[Case]:
    for name, (m, k, n) in SIZES.items():
        variants = ALL if name in WITH_VARIANTS else ("f32",)
        tol16 = (1e-3 * k**0.5 + 1e-3, 4e-3)  # the sum's size is about sqrt(K)
        shared = {"variants": variants, "tol_f16": tol16, "quick": name in QUICK}
        yield Case(f"matmul/mm_{name}", torch.mm, [(rand(m, k), rand(k, n, seed=2))], **shared)
        yield Case(f"matmul/linear_{name}", Linear(k, n, False), [(rand(m, k),)], **shared)
        yield Case(f"matmul/linear_bias_{name}", Linear(k, n, True), [(rand(m, k),)], **shared)
    for b, (m, k, n) in {1: (3, 4, 5), 2: (5, 7, 3), 12: (16, 32, 16), 5: (33, 65, 31), 3: (1, 64, 77)}.items():
        yield Case(f"matmul/bmm_{b}x{m}x{k}x{n}", torch.bmm, [(rand(b, m, k), rand(b, k, n, seed=2))],
                   variants=ALL, quick=b in (2, 5))
    for name in ("3x5x7", "64x64x64", "17x33x9"):
        m, k, n = SIZES[name]
        for bias in (False, True):
            what = "addmm" if bias else "mm"
            yield Case(f"matmul/{what}_const_{name}", MatrixWeight(k, n, bias), [(rand(m, k),)], variants=ALL)
    m, k, n = SIZES["3x5x7"]
    for what, bias in {"row": (n,), "matrix": (m, n), "one": (1,), "column": (m, 1)}.items():
        yield Case(f"matmul/addmm_{what}", torch.addmm, [(rand(*bias, seed=3), rand(m, k), rand(k, n, seed=2))])
    yield Case("matmul/addmm_scaled", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2.0),
               [(rand(n, seed=3), rand(m, k), rand(k, n, seed=2))])
    for rank, shape in {"1d": (20,), "3d": (2, 5, 20), "4d": (2, 3, 5, 20)}.items():
        yield Case(f"matmul/linear_{rank}", Linear(20, 12, True), [(rand(*shape),)], variants=("f32", "tex"))
    yield Case("matmul/matmul_4d", torch.matmul, [(rand(2, 3, 5, 8), rand(2, 3, 8, 6, seed=2))], variants=("f32", "tex"))
    yield Case("matmul/matmul_bcast", torch.matmul, [(rand(2, 3, 5, 8), rand(8, 6, seed=2))])
    yield Case("matmul/matmul_transposed", lambda a, b: a @ b.transpose(-1, -2),
               [(rand(2, 9, 16), rand(2, 11, 16, seed=2))], variants=ALL)
    for then in ("relu", "gelu", "silu", "residual"):
        yield Case(f"matmul/linear_{then}", LinearThen(24, 24, then), [(rand(7, 24),)], variants=ALL)
        yield Case(f"matmul/linear_{then}_row", LinearThen(24, 24, then), [(rand(1, 24),)])

    d, e = Dim("d", min=1, max=70), Dim("e", min=1, max=70)
    lengths = (6, 1, 70, 33)
    yield Case("matmul/linear_dyn", Linear(30, 18, True), [(rand(i, 30),) for i in lengths],
               dynamic=({0: d},), variants=ALL, quick=True)
    yield Case("matmul/linear_dyn_3d", Linear(30, 18, True), [(rand(1, i, 30),) for i in lengths], dynamic=({1: d},))
    yield Case("matmul/mm_dyn_m", torch.mm, [(rand(i, 9), rand(9, 13, seed=2)) for i in lengths], dynamic=({0: d}, None))
    yield Case("matmul/mm_dyn_n", torch.mm, [(rand(11, 9), rand(9, i, seed=2)) for i in lengths], dynamic=(None, {1: d}))
    yield Case("matmul/mm_dyn_k", torch.mm, [(rand(11, i), rand(i, 10, seed=2)) for i in lengths], dynamic=({1: d}, {0: d}))
    yield Case("matmul/bmm_dyn", torch.bmm,
               [(rand(3, i, 8), rand(3, 8, j, seed=2)) for i, j in ((6, 5), (1, 70), (70, 2), (17, 18))],
               dynamic=({1: d}, {2: e}), variants=ALL, quick=True)
    yield Case("matmul/mm_k0", torch.mm, [(rand(3, 0), rand(0, 4))])
    yield Case("matmul/mm_m0", torch.mm, [(rand(0, 5), rand(5, 4))])
    infinite = rand(4, 6)
    infinite[1, 2] = float("inf")
    infinite[3, 0] = float("nan")
    yield Case("matmul/mm_special", torch.mm, [(infinite, rand(6, 5, seed=2))])
