# SPDX-License-Identifier: BSD-3-Clause
"""layer_norm, rms_norm, batch_norm, group_norm."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, positive, rand

ALL = ("f32", "f16", "tex")


class LayerNorm(torch.nn.Module):
    def __init__(self, shape: tuple[int, ...], affine: str = "both", eps: float = 1e-5) -> None:
        super().__init__()
        self.shape, self.eps = shape, eps
        self.weight = None if affine == "none" else torch.nn.Parameter(positive(*shape, seed=3))
        self.bias = torch.nn.Parameter(rand(*shape, seed=4)) if affine == "both" else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


class RmsNorm(torch.nn.Module):
    """Written out as language models do; the exporter makes et_vk.rms_norm of it."""

    def __init__(self, size: int, eps: float = 1e-5, square: str = "mul") -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(positive(size, seed=3))
        self.eps, self.square = eps, square

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        squared = x * x if self.square == "mul" else x.pow(2)
        return self.weight * (x * torch.rsqrt(torch.mean(squared, -1, keepdim=True) + self.eps))


class BatchNorm(torch.nn.Module):
    def __init__(self, channels: int, affine: bool = True, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(channels, affine=affine, eps=eps)
        self.norm.running_mean = rand(channels, seed=5)
        self.norm.running_var = positive(channels, seed=6)
        if affine:
            self.norm.weight.data = rand(channels, seed=7)
            self.norm.bias.data = rand(channels, seed=8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(torch.relu(x))  # not behind a convolution, so that it is not folded


class GroupNorm(torch.nn.Module):
    def __init__(self, groups: int, channels: int, affine: bool = True) -> None:
        super().__init__()
        self.norm = torch.nn.GroupNorm(groups, channels, affine=affine)
        if affine:
            self.norm.weight.data = rand(channels, seed=7)
            self.norm.bias.data = rand(channels, seed=8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def cases() -> Iterator[Case]:
    for name, shape, over in (
        ("last", (3, 5, 7), (7,)), ("wide", (4, 384), (384,)), ("long", (2, 3001), (3001,)),
        ("two", (2, 3, 5, 7), (5, 7)), ("rank4", (2, 3, 5, 8), (8,)), ("one", (4, 1), (1,)),
        ("vector", (64,), (64,)), ("rows", (200, 33), (33,)),
    ):
        yield Case(f"norm/layer_norm_{name}", LayerNorm(over), [(rand(*shape, shift=0.5),)],
                   variants=ALL if name in ("last", "wide") else ("f32",), quick=name == "last")
    yield Case("norm/layer_norm_weight", LayerNorm((12,), "weight"), [(rand(5, 12),)])
    yield Case("norm/layer_norm_plain", LayerNorm((12,), "none"), [(rand(5, 12),)])
    yield Case("norm/layer_norm_eps", LayerNorm((12,), eps=0.3), [(rand(5, 12, scale=0.1),)])
    # A mean far from 0: E[x^2] - E[x]^2 would lose every digit.
    yield Case("norm/layer_norm_offset", LayerNorm((200,)), [(rand(4, 200, shift=1000.0),)], tol=(2e-3, 1e-3))
    yield Case("norm/layer_norm_constant", LayerNorm((16,)), [(torch.full((3, 16), 3.25),)])
    d = Dim("d", min=1, max=60)
    yield Case("norm/layer_norm_dyn", LayerNorm((24,)), [(rand(1, n, 24),) for n in (7, 1, 60)], dynamic=({1: d},), variants=ALL)

    for name, shape in {"last": (3, 5, 12), "wide": (4, 576), "row": (1, 1, 64), "odd": (7, 33)}.items():
        yield Case(f"norm/rms_norm_{name}", RmsNorm(shape[-1]), [(rand(*shape),)],
                   variants=ALL if name in ("last", "wide") else ("f32",), quick=name == "last")
    yield Case("norm/rms_norm_pow", RmsNorm(20, square="pow"), [(rand(5, 20),)])
    yield Case("norm/rms_norm_eps", RmsNorm(20, eps=0.1), [(rand(5, 20, scale=0.1),)])
    yield Case("norm/rms_norm_dyn", RmsNorm(24), [(rand(1, n, 24),) for n in (7, 1, 60)], dynamic=({1: d},), variants=ALL)

    for name, shape in {"small": (1, 5, 4, 6), "batch": (2, 3, 7, 7), "channels": (1, 33, 3, 5)}.items():
        yield Case(f"norm/batch_norm_{name}", BatchNorm(shape[1]), [(rand(*shape),)], variants=ALL, quick=name == "small")
    yield Case("norm/batch_norm_plain", BatchNorm(6, affine=False), [(rand(1, 6, 4, 4),)])
    yield Case("norm/batch_norm_eps", BatchNorm(6, eps=0.1), [(rand(1, 6, 4, 4),)])
    yield Case("norm/batch_norm_dyn", BatchNorm(5), [(rand(1, 5, n, 6),) for n in (4, 1, 20)],
               dynamic=({2: Dim("h", min=1, max=20)},))

    for name, groups, shape in (("2of4", 2, (1, 4, 5, 3)), ("1of6", 1, (2, 6, 4, 4)), ("6of6", 6, (1, 6, 5, 5)),
                                ("32of64", 32, (1, 64, 9, 7)), ("rank3", 3, (2, 6, 11))):
        yield Case(f"norm/group_norm_{name}", GroupNorm(groups, shape[1]), [(rand(*shape, shift=0.5),)],
                   variants=ALL if name == "2of4" else ("f32",), quick=name == "2of4")
    yield Case("norm/group_norm_plain", GroupNorm(2, 4, affine=False), [(rand(1, 4, 5, 3),)])
    yield Case("norm/instance_norm", lambda x: F.instance_norm(x), [(rand(1, 4, 5, 6),)])
