# SPDX-License-Identifier: BSD-3-Clause
"""What one case of the pack is, and the tolerances that go with a family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

Inputs = tuple[Any, ...]  # tensors and ints

# family: (atol, rtol) in float32, (atol, rtol) in float16. Expected values are computed in
# float64, so these bound the whole error: rounding, order of summation, and WGSL's functions.
TOLERANCES = {
    "pointwise": ((1e-6, 4e-6), (1e-3, 2e-3)),
    "cast": ((0.0, 0.0), (1e-3, 1e-3)),
    "matmul": ((2e-4, 1e-4), (2e-2, 4e-3)),
    "reduce": ((2e-5, 2e-5), (4e-3, 4e-3)),
    "norm": ((2e-5, 5e-5), (8e-3, 4e-3)),
    "movement": ((0.0, 0.0), (0.0, 5e-4)),
    "embedding": ((0.0, 0.0), (0.0, 5e-4)),
    "conv": ((2e-4, 1e-4), (2e-2, 4e-3)),
    "pool": ((2e-6, 1e-5), (2e-3, 2e-3)),
    "create": ((1e-6, 1e-6), (1e-3, 1e-3)),
    "model": ((2e-4, 2e-4), (3e-2, 2e-2)),
}

VARIANTS = ("f32", "f16", "tex", "webgpu")


@dataclass
class Case:
    """One program and the runs to check on it.

    name: "family/what". fn: a module, or a function of the inputs.
    runs: inputs of each run; the first is also the export's example.
    dynamic: for each input a dict {dimension: Dim}, None for a fixed input; None: all fixed.
    variants: which of VARIANTS to export. "f32" is what WebGPUPartitioner writes by default.
    reference: "f64" computes what is wanted in float64; "eager" in the model's own dtype (for
        functions that jump, where a rounding difference in the argument is not an error).
    tol, tol_f16: (atol, rtol) in place of the family's.
    """

    name: str
    fn: torch.nn.Module | Callable[..., Any]
    runs: Sequence[Inputs]
    dynamic: Sequence[Any] | None = None
    variants: tuple[str, ...] = ("f32",)
    reference: str = "f64"
    tol: tuple[float, float] | None = None
    tol_f16: tuple[float, float] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    stateful: bool = False
    quick: bool = False

    @property
    def family(self) -> str:
        return self.name.split("/")[0]

    def tolerance(self, variant: str) -> tuple[float, float]:
        f32, f16 = TOLERANCES[self.family]
        if variant == "f16":
            return self.tol_f16 or f16
        return self.tol or f32


def rand(*shape: int, seed: int = 0, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """Normal float32 numbers that depend on shape and seed only."""
    return torch.randn(shape, generator=_generator(shape, seed)) * scale + shift


def positive(*shape: int, seed: int = 0, low: float = 0.1, high: float = 4.0) -> torch.Tensor:
    return torch.rand(shape, generator=_generator(shape, seed)) * (high - low) + low


def ints(
    *shape: int, low: int = -9, high: int = 10, seed: int = 0, dtype: torch.dtype = torch.int32
) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=_generator(shape, seed)).to(dtype)


def bools(*shape: int, seed: int = 0) -> torch.Tensor:
    return ints(*shape, low=0, high=2, seed=seed).to(torch.bool)


def special(*, nan: bool = True) -> torch.Tensor:
    """float32 [15] or [14]: the values that kernels get wrong."""
    inf = float("inf")
    values = [0.0, -0.0, 1.0, -1.0, inf, -inf, 0.5, -0.5, 1.5, -2.5, 1e-30, -1e-30, 1e30, -1e30]
    return torch.tensor(values + ([float("nan")] if nan else []))


def _generator(shape: tuple[int, ...], seed: int) -> torch.Generator:
    number = seed
    for size in shape:
        number = number * 1009 + size
    return torch.Generator().manual_seed(number + 17)
