# SPDX-License-Identifier: BSD-3-Clause
"""GPU times of dispatches as delegate events in ETDump."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from executorch.exir import to_edge_transform_and_lower


class TwoLayers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.second(torch.relu(self.first(x))), -1)


def dispatches(folder: Path, runs: int) -> list[tuple[str, list[float]]]:
    """Kernel and milliseconds a run of each delegate event of a profiled model."""
    from executorch.devtools import Inspector
    from executorch.extension.pybindings.portable_lib import _load_for_executorch

    from executorch_webgpu.partitioner import WebGPUPartitioner

    example = (torch.randn(4, 16),)
    exported = torch.export.export(TwoLayers().eval(), example)
    lowered = to_edge_transform_and_lower(exported, partitioner=[WebGPUPartitioner()])
    model, dump = folder / "model.pte", folder / "model.etdump"
    model.write_bytes(lowered.to_executorch().buffer)
    module = _load_for_executorch(str(model), enable_etdump=True)
    for _ in range(runs):
        module.forward(list(example))
    module.write_etdump_result_to_file(str(dump), str(folder / "unused"))
    blocks = [block for block in Inspector(etdump_path=str(dump)).event_blocks if block.name == "Execute"]
    assert len(blocks) == 1
    events = [event for event in blocks[0].events if event.is_delegated_op]
    return [(event.delegate_debug_metadatas[0].decode(), event.perf_data.raw) for event in events]


@pytest.mark.filterwarnings("ignore:Output Buffer not found")
def test_events(plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import executorch_webgpu

    adapter = executorch_webgpu.devices()[0]
    if "timestamp-query" not in adapter["features"]:
        pytest.skip(f"{adapter['name']} has no timestamps")
    monkeypatch.setenv("WEBGPU_TIMESTAMP_QUERY", "1")
    found = dispatches(tmp_path, runs=3)
    kernels = [kernel for kernel, _ in found]
    assert sum(kernel.startswith("gem") for kernel in kernels) == 2
    assert sum(kernel.startswith("softmax") for kernel in kernels) == 1
    for _, times in found:
        assert len(times) == 3
        assert all(0 <= time < 1000 for time in times)


def test_no_events_unless_asked_for(plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBGPU_TIMESTAMP_QUERY", raising=False)
    assert dispatches(tmp_path, runs=1) == []
