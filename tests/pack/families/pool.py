# SPDX-License-Identifier: BSD-3-Clause
"""Maximum and average over windows, and the adaptive forms that become a mean."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, rand

ALL = ("f32", "f16", "tex")
MAX = {
    "2": {"kernel_size": 2},
    "3_stride2_pad": {"kernel_size": 3, "stride": 2, "padding": 1},
    "uneven": {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)},
    "dilated": {"kernel_size": 3, "stride": 1, "dilation": 2},
    "ceil": {"kernel_size": 3, "stride": 2, "ceil_mode": True},
    "ceil_pad": {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
}
AVERAGE = {
    "2": {"kernel_size": 2},
    "3_stride2_pad": {"kernel_size": 3, "stride": 2, "padding": 1},
    "no_pad_count": {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
    "uneven": {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)},
    "ceil": {"kernel_size": 3, "stride": 2, "ceil_mode": True},
    "ceil_pad": {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    "divisor": {"kernel_size": 2, "divisor_override": 3},
}


def cases() -> Iterator[Case]:
    x = rand(1, 5, 12, 10)
    for name, options in MAX.items():
        yield Case(f"pool/max_{name}", lambda x, o=options: F.max_pool2d(x, **o), [(x,)],
                   variants=ALL if name == "3_stride2_pad" else ("f32",), quick=name in ("2", "3_stride2_pad"))
    for name, options in AVERAGE.items():
        yield Case(f"pool/avg_{name}", lambda x, o=options: F.avg_pool2d(x, **o), [(x,)],
                   variants=ALL if name == "3_stride2_pad" else ("f32",), quick=name in ("2", "no_pad_count"))
    yield Case("pool/max_indices", lambda x: F.max_pool2d(x, 2, return_indices=True), [(x,)])
    yield Case("pool/max_indices_pad", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), [(x,)])
    yield Case("pool/max_indices_ties", lambda x: F.max_pool2d(x, 2, return_indices=True), [(torch.ones(1, 2, 6, 6),)])
    yield Case("pool/max_negative", lambda x: F.max_pool2d(x, 3, 2, 1), [(-1.0 - x.abs(),)])
    yield Case("pool/max_batch", lambda x: F.max_pool2d(x, 2), [(rand(3, 4, 6, 7),)])
    yield Case("pool/avg_batch", lambda x: F.avg_pool2d(x, 2), [(rand(3, 4, 6, 7),)])
    yield Case("pool/max_rank3", lambda x: F.max_pool2d(x, 2), [(rand(4, 6, 7),)])
    yield Case("pool/avg_odd_size", lambda x: F.avg_pool2d(x, 3, 2), [(rand(1, 3, 9, 8),)])
    special = rand(1, 2, 6, 6)
    special[0, 0, 1, 1], special[0, 1, 2, 3], special[0, 1, 5, 5] = float("nan"), float("-inf"), float("inf")
    yield Case("pool/max_special", lambda x: F.max_pool2d(x, 2), [(special,)], reference="eager")
    yield Case("pool/max_all_minus_inf", lambda x: F.max_pool2d(x, 2), [(torch.full((1, 1, 4, 4), float("-inf")),)])
    yield Case("pool/avg_special", lambda x: F.avg_pool2d(x, 2), [(special,)], reference="eager")
    yield Case("pool/adaptive_one", lambda x: F.adaptive_avg_pool2d(x, 1), [(x,)], variants=ALL, quick=True)
    yield Case("pool/adaptive_divides", lambda x: F.adaptive_avg_pool2d(x, (4, 5)), [(x,)])
    h = Dim("h", min=4, max=30)
    yield Case("pool/max_dyn", lambda x: F.max_pool2d(x, 3, 2, 1), [(rand(1, 3, n, 9),) for n in (8, 4, 30)], dynamic=({2: h},), quick=True)
    yield Case("pool/avg_dyn", lambda x: F.avg_pool2d(x, 2), [(rand(1, 3, n, 9),) for n in (8, 4, 30)], dynamic=({2: h},))
