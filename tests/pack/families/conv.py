# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions in one and two dimensions: stride, padding, dilation, groups, transposed, fused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, positive, rand

ALL = ("f32", "f16", "tex")


class Conv(torch.nn.Module):
    """then: nothing, an activation of torch.nn.functional, "bn" or "bn_relu6"."""

    def __init__(self, kind: str, cin: int, cout: int, kernel: Any, then: str = "", **options: Any) -> None:
        super().__init__()
        self.conv = getattr(torch.nn, kind)(cin, cout, kernel, **options)
        fan_in = self.conv.weight[0].numel()
        self.conv.weight.data = rand(*self.conv.weight.shape, seed=3, scale=fan_in**-0.5)
        if self.conv.bias is not None:
            self.conv.bias.data = rand(cout, seed=4)
        self.then = then
        if then.startswith("bn"):
            self.norm = torch.nn.BatchNorm2d(cout)
            self.norm.running_mean, self.norm.running_var = rand(cout, seed=5), positive(cout, seed=6)
            self.norm.weight.data, self.norm.bias.data = rand(cout, seed=7), rand(cout, seed=8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        if self.then.startswith("bn"):
            y = self.norm(y)
        if self.then == "bn_relu6":
            return F.relu6(y)
        if self.then == "clamp":
            return torch.clamp(y, -0.5, 0.25)
        if self.then == "residual":
            return y + x
        return getattr(F, self.then)(y) if self.then and self.then != "bn" else y


# name: (in channels, out channels, kernel, size, options)
CONV2D: dict[str, tuple[int, int, Any, tuple[int, int], dict[str, Any]]] = {
    "3x3": (3, 8, 3, (9, 11), {"padding": 1}),
    "3x3_valid": (4, 5, 3, (7, 6), {}),
    "3x3_no_bias": (4, 5, 3, (7, 6), {"bias": False}),
    "3x3_stride": (3, 16, 3, (15, 17), {"stride": 2, "padding": 1}),
    "3x3_dilated": (3, 4, 3, (12, 13), {"dilation": 2, "padding": 2}),
    "3x3_mixed": (3, 4, (3, 5), (12, 13), {"stride": (1, 2), "padding": (0, 3), "dilation": (2, 1)}),
    "5x5": (2, 3, 5, (11, 9), {"padding": 2}),
    "7x7_stride": (3, 6, 7, (23, 22), {"stride": 2, "padding": 3}),
    "1xk": (3, 4, (1, 7), (4, 15), {"padding": (0, 3)}),
    "whole": (3, 10, (6, 5), (6, 5), {}),
    "one_channel": (1, 1, 3, (8, 8), {"padding": 1}),
    "wide": (40, 72, 3, (14, 14), {"padding": 1}),
    "large": (16, 32, 3, (65, 63), {"padding": 1}),
    "pointwise": (6, 10, 1, (7, 9), {}),
    "pointwise_odd": (33, 17, 1, (5, 5), {}),
    "pointwise_wide": (96, 160, 1, (14, 14), {}),
    "pointwise_one": (64, 100, 1, (1, 1), {}),
    "pointwise_stride": (8, 8, 1, (9, 9), {"stride": 2}),
    "pointwise_padded": (4, 4, 1, (5, 5), {"padding": 1}),
    "depthwise": (8, 8, 3, (9, 10), {"padding": 1, "groups": 8}),
    "depthwise_stride": (10, 10, 3, (15, 14), {"padding": 1, "groups": 10, "stride": 2}),
    "depthwise_5x5": (5, 5, 5, (13, 12), {"padding": 2, "groups": 5}),
    "depthwise_dilated": (6, 6, 3, (13, 12), {"padding": 2, "dilation": 2, "groups": 6}),
    "depthwise_double": (5, 10, 3, (7, 8), {"padding": 1, "groups": 5}),
    "groups_2": (8, 6, 3, (7, 8), {"padding": 1, "groups": 2}),
    "groups_4": (16, 24, 3, (7, 8), {"padding": 1, "groups": 4, "stride": 2}),
    "groups_pointwise": (12, 9, 1, (5, 7), {"groups": 3}),
}
TRANSPOSED: dict[str, tuple[int, int, Any, tuple[int, int], dict[str, Any]]] = {
    "2x2_stride": (4, 6, 2, (5, 7), {"stride": 2}),
    "3x3": (3, 5, 3, (6, 7), {"padding": 1}),
    "3x3_stride": (3, 5, 3, (6, 7), {"stride": 2, "padding": 1, "output_padding": 1}),
    "4x4_stride": (6, 4, 4, (5, 5), {"stride": 2, "padding": 1}),
    "no_bias": (3, 5, 3, (6, 7), {"stride": 2, "bias": False}),
    "dilated": (3, 4, 3, (6, 5), {"dilation": 2, "padding": 2}),
    "groups": (6, 4, 3, (5, 6), {"groups": 2, "stride": 2}),
    "depthwise": (4, 4, 3, (5, 6), {"groups": 4, "stride": 2}),
    "uneven": (3, 4, (3, 2), (5, 6), {"stride": (3, 1), "padding": (1, 0), "output_padding": (2, 0)}),
}
CONV1D: dict[str, tuple[int, int, int, int, int, dict[str, Any]]] = {  # batch before the channels
    "3": (1, 4, 6, 3, 17, {"padding": 1}),
    "batch": (3, 4, 6, 3, 17, {"padding": 1}),
    "5_stride": (1, 3, 5, 5, 40, {"stride": 2, "padding": 2}),
    "dilated": (1, 4, 4, 3, 30, {"dilation": 4, "padding": 4}),
    "pointwise": (1, 9, 12, 1, 25, {}),
    "pointwise_batch": (2, 9, 12, 1, 25, {}),
    "depthwise": (1, 8, 8, 3, 21, {"groups": 8, "padding": 1}),
    "depthwise_batch": (2, 8, 8, 5, 21, {"groups": 8, "padding": 2}),
    "groups": (1, 8, 12, 3, 21, {"groups": 4}),
    "no_bias": (1, 4, 6, 3, 17, {"bias": False}),
    "long": (1, 1, 16, 10, 4000, {"stride": 5}),
}
WITH_VARIANTS = ("3x3", "3x3_stride", "pointwise", "pointwise_odd", "depthwise", "depthwise_stride", "groups_2", "wide", "2x2_stride", "batch")


def variants(name: str) -> tuple[str, ...]:
    return ALL if name in WITH_VARIANTS else ("f32",)


def cases() -> Iterator[Case]:
    for name, (cin, cout, kernel, size, options) in CONV2D.items():
        yield Case(f"conv/conv2d_{name}", Conv("Conv2d", cin, cout, kernel, **options), [(rand(1, cin, *size),)],
                   variants=variants(name), quick=name in WITH_VARIANTS)
    for name, (cin, cout, kernel, size, options) in TRANSPOSED.items():
        yield Case(f"conv/transposed_{name}", Conv("ConvTranspose2d", cin, cout, kernel, **options), [(rand(1, cin, *size),)],
                   variants=variants(name), quick=name == "3x3_stride")
    for name, (batch, cin, cout, kernel, length, options) in CONV1D.items():
        yield Case(f"conv/conv1d_{name}", Conv("Conv1d", cin, cout, kernel, **options), [(rand(batch, cin, length),)],
                   variants=variants(name), quick=name in ("3", "depthwise"))
    for shape_name in ("3x3", "depthwise", "pointwise", "3x3_no_bias"):
        cin, cout, kernel, size, options = CONV2D[shape_name]
        for then in ("relu", "relu6", "clamp", "bn", "bn_relu6", "silu", "hardswish"):
            yield Case(f"conv/conv2d_{shape_name}_{then}", Conv("Conv2d", cin, cout, kernel, then, **options), [(rand(1, cin, *size, scale=2.0),)],
                       variants=ALL if then in ("relu", "bn_relu6") else ("f32",), quick=then == "bn_relu6", tol_f16=(3e-2, 6e-3))
    yield Case("conv/conv2d_residual", Conv("Conv2d", 8, 8, 3, "residual", padding=1), [(rand(1, 8, 9, 7),)], variants=ALL)
    yield Case("conv/transposed_relu", Conv("ConvTranspose2d", 4, 6, 2, "relu", stride=2), [(rand(1, 4, 5, 7),)])
    yield Case("conv/conv1d_relu", Conv("Conv1d", 4, 6, 3, "relu", padding=1), [(rand(1, 4, 17),)])
    yield Case("conv/conv1d_gelu", Conv("Conv1d", 4, 6, 3, "gelu", padding=1), [(rand(1, 4, 17),)])
    yield Case("conv/conv2d_batch", Conv("Conv2d", 3, 4, 3, padding=1), [(rand(2, 3, 7, 8),)])
    yield Case("conv/conv2d_unbatched", Conv("Conv2d", 3, 4, 3, padding=1), [(rand(3, 7, 8),)])
    nan = rand(1, 3, 6, 7)
    nan[0, 1, 2, 3], nan[0, 2, 5, 6] = float("nan"), float("inf")
    yield Case("conv/conv2d_special", Conv("Conv2d", 3, 4, 3, padding=1), [(nan,)], reference="eager")
    yield Case("conv/conv2d_relu6_special", Conv("Conv2d", 3, 4, 3, "relu6", padding=1), [(nan,)], reference="eager")
    h, w = Dim("h", min=4, max=32), Dim("w", min=4, max=32)
    sizes = ((8, 9), (4, 4), (32, 31), (5, 30))
    for name in ("3x3", "3x3_stride", "depthwise", "pointwise"):
        cin, cout, kernel, _, options = CONV2D[name]
        yield Case(f"conv/conv2d_{name}_dyn", Conv("Conv2d", cin, cout, kernel, **options), [(rand(1, cin, a, b),) for a, b in sizes],
                   dynamic=({2: h, 3: w},), variants=variants(name), quick=name == "3x3")
    yield Case("conv/conv1d_dyn", Conv("Conv1d", 4, 6, 3, padding=1), [(rand(1, 4, n),) for n in (9, 4, 32)], dynamic=({2: h},))
