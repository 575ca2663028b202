# SPDX-License-Identifier: BSD-3-Clause
"""Programs from every partitioner, through ExecuTorch's Python runtime."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from check import assert_equal, lower, method_of
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.webgpu.partitioner import WebGPUPartitioner as UpstreamPartitioner
from test_partitioner import Mlp, WithCumsum

from executorch_webgpu import WebGPUPartitioner

PARTITIONERS = {
    "ours": lambda: WebGPUPartitioner(),
    "ours_webgpu_id": lambda: WebGPUPartitioner(backend_id="WebGPUBackend"),
    "vulkan": lambda: VulkanPartitioner(),
    "vulkan_no_tags": lambda: VulkanPartitioner({"skip_tag_memory_metadata": True}),
    "upstream_webgpu": lambda: UpstreamPartitioner(),
}


@pytest.mark.parametrize("kind", PARTITIONERS)
@pytest.mark.parametrize("module", [Mlp, WithCumsum])
def test_runs(kind: str, module: type[torch.nn.Module], plugin: Path) -> None:
    torch.manual_seed(3)
    model, x = module(), torch.randn(3, 8)
    with torch.no_grad():
        want = model(x)
    method = method_of(lower(model, (x,), PARTITIONERS[kind]()))
    for _ in range(2):
        assert_equal(method.execute([x])[0].numpy(), want.numpy(), 1e-5, 1e-5)


def test_live_sizes_of_one_load(plugin: Path) -> None:
    torch.manual_seed(3)
    model = Mlp()
    dim = torch.export.Dim("n", min=1, max=32)
    method = method_of(lower(model, (torch.randn(5, 8),), WebGPUPartitioner(), dynamic=({0: dim},)))
    for n in (5, 1, 32, 2):
        x = torch.randn(n, 8)
        with torch.no_grad():
            want = model(x)
        assert_equal(method.execute([x])[0].numpy(), want.numpy(), 1e-5, 1e-5)


def test_size_over_the_maximum_is_an_error_and_the_method_lives_on(plugin: Path) -> None:
    model = Mlp()
    dim = torch.export.Dim("n", min=1, max=32)
    method = method_of(lower(model, (torch.randn(5, 8),), WebGPUPartitioner(), dynamic=({0: dim},)))
    with pytest.raises(RuntimeError):
        method.execute([torch.randn(33, 8)])
    x = torch.randn(4, 8)
    with torch.no_grad():
        want = model(x)
    assert_equal(method.execute([x])[0].numpy(), want.numpy(), 1e-5, 1e-5)


def test_two_methods_side_by_side(plugin: Path) -> None:
    torch.manual_seed(4)
    models = [Mlp(), Mlp()]
    methods = [method_of(lower(model, (torch.randn(3, 8),), WebGPUPartitioner())) for model in models]
    for turn in range(3):
        x = torch.randn(3, 8, generator=torch.Generator().manual_seed(turn))
        for model, method in zip(models, methods, strict=True):
            with torch.no_grad():
                want = model(x)
            assert_equal(method.execute([x])[0].numpy(), want.numpy(), 1e-5, 1e-5)
