# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table, by index."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, ints, rand

ALL = ("f32", "f16", "tex")


class Embedding(torch.nn.Module):
    def __init__(self, rows: int, width: int, padding_idx: int | None = None) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(rand(rows, width, seed=3))
        self.padding_idx = padding_idx

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return F.embedding(ids, self.weight, self.padding_idx)


def cases() -> Iterator[Case]:
    for name, shape, rows, width in (
        ("vector", (7,), 11, 8), ("matrix", (2, 5), 50, 33), ("one", (1, 1), 9, 64),
        ("wide", (3, 4), 1000, 384), ("narrow", (3, 4), 6, 1), ("rank3", (2, 3, 4), 12, 5), ("0d", (), 9, 6),
    ):
        for dtype in (torch.int64, torch.int32):
            ids = ints(*shape, low=0, high=rows, dtype=dtype)
            short = str(dtype).removeprefix("torch.")
            yield Case(f"embedding/{name}_{short}", Embedding(rows, width), [(ids,)],
                       variants=ALL if name == "matrix" else ("f32",), quick=name == "matrix")
    yield Case("embedding/padding", Embedding(9, 4, 0), [(ints(2, 5, low=0, high=9, dtype=torch.int64),)])
    yield Case("embedding/first_and_last", Embedding(9, 4), [(torch.tensor([0, 8, 8, 0]),)])
    d = Dim("d", min=1, max=30)
    yield Case("embedding/dyn", Embedding(40, 12),
               [(ints(1, n, low=0, high=40, dtype=torch.int64),) for n in (6, 1, 30)],
               dynamic=({1: d},), variants=ALL, quick=True)
