# SPDX-License-Identifier: BSD-3-Clause
"""What WebGPUPartitioner delegates and writes. No GPU is needed."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections import Counter

import pytest
import torch
from check import delegate_ids, lower
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir.dialects._ops import ops as exir_ops

from executorch_webgpu import WebGPUPartitioner, delegation_of


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


class WithCumsum(Mlp):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.cumsum(torch.relu(self.up(x)), -1))


X = (torch.ones(3, 8),)


def options_of(partitioner: WebGPUPartitioner) -> dict[str, bytes]:
    return {spec.key: bytes(spec.value) for spec in partitioner.delegation_spec.compile_specs}


def test_default_options_leave_out_texture_tags_and_keep_state() -> None:
    options = options_of(WebGPUPartitioner())
    assert options == {"skip_tag_memory_metadata": b"\1", "alias_buffer_mutations": b"\1"}


def test_given_options_win_over_defaults() -> None:
    options = options_of(WebGPUPartitioner({"skip_tag_memory_metadata": False, "force_fp16": True}))
    assert options["skip_tag_memory_metadata"] == b"\0"
    assert options["force_fp16"] == b"\1"
    assert options["alias_buffer_mutations"] == b"\1"


def test_the_callers_options_are_not_changed() -> None:
    mine = {"force_fp16": True}
    WebGPUPartitioner(mine)
    assert mine == {"force_fp16": True}


@pytest.mark.parametrize("backend_id", ["VulkanBackend", "WebGPUBackend"])
def test_backend_id_is_written(backend_id: str) -> None:
    assert delegate_ids(lower(Mlp(), X, WebGPUPartitioner(backend_id=backend_id))) == [backend_id]


def test_unknown_backend_id_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'Vulkan'.*VulkanBackend.*WebGPUBackend"):
        WebGPUPartitioner(backend_id="Vulkan")


def test_both_ids_carry_the_same_payload() -> None:
    torch.manual_seed(0)
    module = Mlp()
    payloads = []
    for backend_id in ("VulkanBackend", "WebGPUBackend"):
        program = lower(module, X, WebGPUPartitioner(backend_id=backend_id)).to_executorch().executorch_program
        payloads.append([bytes(inline.data) for inline in program.backend_delegate_data])
    assert payloads[0] == payloads[1]
    assert len(payloads[0]) == 1


def test_delegates_what_the_vulkan_partitioner_does() -> None:
    for module in (Mlp(), WithCumsum()):
        ours = delegation_of(lower(module, X, WebGPUPartitioner()))
        theirs = delegation_of(lower(module, X, VulkanPartitioner({"skip_tag_memory_metadata": True})))
        assert ours == theirs


def test_delegation_is_counted() -> None:
    whole = delegation_of(lower(Mlp(), X, WebGPUPartitioner()))
    assert whole.complete
    assert whole.parts == 1
    split = delegation_of(lower(WithCumsum(), X, WebGPUPartitioner()))
    assert not split.complete
    assert split.parts == 2
    assert split.left == Counter({"aten.cumsum.default": 1})
    assert split.total == split.delegated + 1


def test_node_filter_narrows() -> None:
    asked = []

    def no_relu(node: torch.fx.Node) -> bool:
        asked.append(str(node.target))
        return "relu" not in str(node.target)

    delegation = delegation_of(lower(Mlp(), X, WebGPUPartitioner(node_filter=no_relu)))
    assert delegation.left == Counter({"aten.relu.default": 1})
    assert asked


def test_node_filter_is_not_asked_for_what_the_registry_lacks() -> None:
    asked = []
    lower(WithCumsum(), X, WebGPUPartitioner(node_filter=lambda node: asked.append(str(node.target)) or True))
    assert not any("cumsum" in target for target in asked)


def test_operator_blocklist_and_allowlist() -> None:
    relu = exir_ops.edge.aten.relu.default
    blocked = delegation_of(lower(Mlp(), X, WebGPUPartitioner(operator_blocklist=[relu])))
    assert blocked.left == Counter({"aten.relu.default": 1})
    allowed = delegation_of(lower(Mlp(), X, WebGPUPartitioner(operator_allowlist=[relu])))
    assert allowed.delegated == 1
    assert "aten.relu.default" not in allowed.left


def test_nothing_to_delegate_is_not_an_error() -> None:
    class OnlyCumsum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cumsum(x, -1)

    lowered = lower(OnlyCumsum(), X, WebGPUPartitioner())
    assert delegate_ids(lowered) == []
    assert not delegation_of(lowered).complete


def test_mutated_buffers_are_aliased() -> None:
    class Total(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3, 8))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x)
            return self.total * 2.0

    plan = lower(Total(), X, WebGPUPartitioner()).to_executorch().executorch_program.execution_plan[0]
    assert [delegate.id for delegate in plan.delegates] == ["VulkanBackend"]
    assert len(plan.inputs) == 1
    assert len(plan.outputs) == 1


def test_the_root_logger_is_left_alone() -> None:
    level = logging.getLogger().level
    lower(Mlp(), X, WebGPUPartitioner())
    assert logging.getLogger().level == level
    source = (
        "import logging; before = logging.getLogger().level; import executorch_webgpu.partitioner; "
        "assert logging.getLogger().level == before, logging.getLogger().level"
    )
    from conftest import ROOT

    subprocess.run([sys.executable, "-W", "ignore", "-c", source], check=True, env={"PYTHONPATH": str(ROOT / "python")})
