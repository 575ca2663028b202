# SPDX-License-Identifier: BSD-3-Clause
"""Small whole models, and programs whose state or sizes are the point."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch.export import Dim

from case import Case, ints, positive, rand

ALL = ("f32", "f16", "tex", "webgpu")


def seed_weights(module: torch.nn.Module) -> torch.nn.Module:
    """Weights that depend on their place and shape only; batch norms get real statistics."""
    for index, parameter in enumerate(module.parameters()):
        fan_in = parameter[0].numel() if parameter.dim() > 1 else 1
        scale = fan_in**-0.5 if parameter.dim() > 1 else 0.3
        parameter.data = rand(*parameter.shape, seed=index, scale=scale)
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean = rand(part.num_features, seed=91, scale=0.3)
            part.running_var = positive(part.num_features, seed=92, low=0.5, high=1.5)
        if isinstance(part, (torch.nn.BatchNorm2d, torch.nn.LayerNorm)):
            part.weight.data = positive(*part.weight.shape, seed=93, low=0.6, high=1.4)
    return module


class Mlp(torch.nn.Module):
    def __init__(self, activation: str = "relu", sizes: tuple[int, int, int] = (20, 50, 7)) -> None:
        super().__init__()
        self.up = torch.nn.Linear(sizes[0], sizes[1])
        self.down = torch.nn.Linear(sizes[1], sizes[2])
        self.activation = activation
        seed_weights(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.up(x)
        y = F.gelu(y, approximate="tanh") if self.activation == "gelu_tanh" else getattr(F, self.activation)(y)
        return self.down(y)


class ConvNet(torch.nn.Module):
    """What an image classifier is made of: stem, pool, inverted bottleneck with residual, head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.stem_norm = torch.nn.Conv2d(3, 8, 3, padding=1, bias=False), torch.nn.BatchNorm2d(8)
        self.widen, self.widen_norm = torch.nn.Conv2d(8, 24, 1, bias=False), torch.nn.BatchNorm2d(24)
        self.depth, self.depth_norm = torch.nn.Conv2d(24, 24, 3, padding=1, groups=24, bias=False), torch.nn.BatchNorm2d(24)
        self.narrow, self.narrow_norm = torch.nn.Conv2d(24, 8, 1, bias=False), torch.nn.BatchNorm2d(8)
        self.head = torch.nn.Linear(8, 11)
        seed_weights(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.stem_norm(self.stem(x))), 2)
        y = F.relu6(self.widen_norm(self.widen(x)))
        y = F.relu6(self.depth_norm(self.depth(y)))
        x = x + self.narrow_norm(self.narrow(y))
        return torch.softmax(self.head(x.mean((2, 3), keepdim=True).flatten(1)), -1)


class UpDown(torch.nn.Module):
    """A small segmentation net: strided conv down, transposed conv up, a skip joined by cat."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(2, 6, 3, padding=1)
        self.down = torch.nn.Conv2d(6, 12, 3, stride=2, padding=1)
        self.up = torch.nn.ConvTranspose2d(12, 6, 2, stride=2)
        self.last = torch.nn.Conv2d(12, 3, 1)
        seed_weights(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = F.silu(self.first(x))
        b = F.leaky_relu(self.down(a), 0.1)
        return torch.sigmoid(self.last(torch.cat([a, F.relu(self.up(b))], 1)))


class EncoderBlock(torch.nn.Module):
    """A BERT layer. x: [B, S, D]; bias: [B, 1, 1, S], added to the scores."""

    def __init__(self, width: int = 48, heads: int = 3) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (torch.nn.Linear(width, width) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        seed_weights(self)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias
        y = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape)
        x = self.norm1(x + self.o(y))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class DecoderBlock(torch.nn.Module):
    """A Llama layer without cache: RMS norms, rotated halves, causal mask, gated MLP."""

    def __init__(self, width: int = 64, heads: int = 4, length: int = 12) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v, self.o = (torch.nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (torch.nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(2 * width, width, bias=False)
        seed_weights(self)
        self.norm1, self.norm2 = (torch.nn.Parameter(positive(width, seed=s)) for s in (5, 6))
        angle = torch.outer(torch.arange(length).float(), 1e4 ** -(torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("cos", torch.cat([angle, angle], -1).cos())
        self.register_buffer("sin", torch.cat([angle, angle], -1).sin())
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def norm(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return weight * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5))

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        left, right = x.chunk(2, -1)
        n = x.shape[2]
        return x * self.cos[:n] + torch.cat([-right, left], -1) * self.sin[:n]

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, self.size).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        y = self.norm(x, self.norm1)
        q, k, v = self.rotated(self.split(self.q(y))), self.rotated(self.split(self.k(y))), self.split(self.v(y))
        weights = torch.softmax(q @ k.transpose(-1, -2) * self.size**-0.5 + self.mask[:n, :n], -1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(x.shape))
        y = self.norm(x, self.norm2)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Accumulate(torch.nn.Module):
    """State kept between runs: what a run adds is there in the next."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(6, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2.0


class DynamicAttention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)
        seed_weights(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, _ = x.shape
        y = self.linear(x).view(b, n, 4, 4).transpose(1, 2)
        return torch.softmax(y @ y.transpose(-1, -2), -1).reshape(b, 4 * n, n)


class PositionTable(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", rand(24, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table[: x.shape[0]]


class Mixed(torch.nn.Module):
    """With cumsum, which stays on the CPU: two delegates and a kernel between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(12, 12), torch.nn.Linear(12, 5)
        seed_weights(self)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.cumsum(F.relu(self.first(x)), -1)
        return self.second(y), y


class TokenClassifier(torch.nn.Module):
    """ids: int64 [1, S] -> [1, 9]: look-up, one encoder block, the mean over the tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(60, 48)
        self.positions = torch.nn.Embedding(32, 48)
        self.block, self.head = EncoderBlock(), torch.nn.Linear(48, 9)
        seed_weights(self)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        weight = mask.to(torch.float32)
        x = self.table(ids) + self.positions.weight[: ids.shape[1]]
        x = self.block(x, ((1.0 - weight) * -1e4).unsqueeze(1).unsqueeze(1))
        weight = weight.unsqueeze(-1)
        mean = (x * weight).sum(1, keepdim=True) / weight.sum(1, keepdim=True)
        return self.head(mean.squeeze(1))


def tokens(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones(1, n, dtype=torch.int64)
    mask[:, max(1, n - 2):] = 0
    return ints(1, n, low=0, high=60, dtype=torch.int64), mask


def cases() -> Iterator[Case]:
    for activation in ("relu", "gelu", "gelu_tanh", "silu", "hardswish"):
        yield Case(f"model/mlp_{activation}", Mlp(activation), [(rand(4, 20),)], variants=ALL, quick=activation == "relu")
    yield Case("model/conv_net", ConvNet(), [(rand(1, 3, 16, 16),)], variants=ALL, quick=True)
    yield Case("model/up_down", UpDown(), [(rand(1, 2, 14, 18),)], variants=ALL)
    bias = torch.tensor([0.0] * 7 + [-1e4] * 2).reshape(1, 1, 1, 9)
    yield Case("model/encoder_block", EncoderBlock(), [(rand(1, 9, 48), bias)], variants=ALL, quick=True)
    yield Case("model/encoder_block_batch", EncoderBlock(), [(rand(2, 9, 48), bias.expand(2, 1, 1, 9).contiguous())])
    yield Case("model/decoder_block", DecoderBlock(), [(rand(1, 12, 64),)], variants=ALL, quick=True)
    yield Case("model/mixed", Mixed(), [(rand(4, 12),)], variants=("f32", "webgpu"))
    s = Dim("s", min=2, max=32)
    lengths = (9, 2, 32, 17)
    yield Case("model/mlp_dyn", Mlp(), [(rand(n, 20),) for n in lengths], dynamic=({0: s},), variants=ALL)
    yield Case("model/attention_dyn", DynamicAttention(), [(rand(1, n, 16),) for n in lengths],
               dynamic=({1: Dim.DYNAMIC(min=2, max=32)},), variants=ALL)
    yield Case("model/position_table_dyn", PositionTable(), [(rand(n, 16),) for n in (6, 2, 24)],
               dynamic=({0: Dim("p", min=2, max=24)},), variants=ALL, quick=True)
    yield Case("model/encoder_dyn", EncoderBlock(), [(rand(1, n, 48), rand(1, 1, 1, n, seed=4)) for n in lengths],
               dynamic=({1: s}, {3: s}), variants=ALL)
    yield Case("model/decoder_dyn", DecoderBlock(length=40), [(rand(1, n, 64),) for n in lengths], dynamic=({1: s},), variants=ALL)
    yield Case("model/token_classifier", TokenClassifier(), [tokens(n) for n in lengths], dynamic=({1: s}, {1: s}), variants=ALL, quick=True)
    yield Case("model/accumulate", Accumulate(), [(rand(6, 5, seed=i),) for i in range(4)], stateful=True, variants=("f32", "f16", "tex"),
               options={"alias_buffer_mutations": True}, quick=True)
    yield Case("model/constants_in_ptd", Mlp(), [(rand(4, 20),)], options={"external_constants_max_data_bytes": 1 << 30})
