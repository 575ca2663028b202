# Copyright (c) The executorch-webgpu authors.
# SPDX-License-Identifier: BSD-3-Clause
"""WebGPUPartitioner: says which parts of an exported program run on the GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner

_root_level = logging.getLogger().level
from executorch.backends.vulkan import utils  # noqa: E402
from executorch.backends.vulkan.partitioner.vulkan_partitioner import (  # noqa: E402
    VulkanPartitioner,
    VulkanSupportedOperators,
    parse_compile_options,
)
from executorch.backends.vulkan.patterns import get_all_fusable_subgraphs  # noqa: E402
from executorch.backends.vulkan.vulkan_preprocess import VulkanBackend  # noqa: E402
from executorch.exir.backend.backend_details import (  # noqa: E402
    BackendDetails,
    PreprocessResult,
)
from executorch.exir.backend.compile_spec_schema import CompileSpec  # noqa: E402
from executorch.exir.backend.partitioner import (  # noqa: E402
    DelegationSpec,
    Partitioner,
    PartitionResult,
)
from executorch.exir.backend.utils import tag_constant_data, tag_mutated_buffer  # noqa: E402

logging.getLogger().setLevel(_root_level)  # the Vulkan partitioner's import raises it to INFO

# The runtime keeps every tensor in a plain buffer, so texture tags and the layout copies that
# come with them would only cost time; and a mutable buffer must be written in place to persist.
DEFAULT_COMPILE_OPTIONS: dict[str, Any] = {
    "skip_tag_memory_metadata": True,
    "alias_buffer_mutations": True,
}

BACKEND_IDS = ("VulkanBackend", "WebGPUBackend")

# Asked for each node that the Vulkan registry would take; False leaves the node on the CPU.
NodeFilter = Callable[[torch.fx.Node], bool]


class WebGPUBackend(BackendDetails):
    """Writes the same payload as VulkanBackend. ExecuTorch names a delegate after this class."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return VulkanBackend.preprocess(edge_program, compile_specs)


class _SupportedOperators(VulkanSupportedOperators):
    """The Vulkan registry's answer, narrowed by a filter of ours."""

    def __init__(self, node_filter: NodeFilter | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._node_filter = node_filter

    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        if not super().is_node_supported(submodules, node):
            return False
        return self._node_filter is None or self._node_filter(node)


class WebGPUPartitioner(Partitioner):
    """Delegates what the registry of ExecuTorch's Vulkan backend admits.

    Of that, the WebGPU runtime lacks the quantized and attention operators: a program with such a
    delegate fails at load, with a message that names the operator. Put it into operator_blocklist.

    Takes VulkanPartitioner's arguments. `compile_options` are laid over
    DEFAULT_COMPILE_OPTIONS, so each of those can be switched off again.

    backend_id: the name the delegate gets in the file, "VulkanBackend" or "WebGPUBackend". This
        backend answers to both; use the second where ExecuTorch's Vulkan backend is loaded too.
    node_filter: a further say on what is delegated, asked for each node the registry would take.
    """

    def __init__(
        self,
        compile_options: dict[str, Any] | None = None,
        operator_blocklist: Iterable[Any] | None = None,
        operator_allowlist: Iterable[Any] | None = None,
        nn_module_blocklist: Iterable[str] | None = None,
        nn_module_allowlist: Iterable[str] | None = None,
        *,
        backend_id: str = "VulkanBackend",
        node_filter: NodeFilter | None = None,
    ) -> None:
        super().__init__()
        if backend_id not in BACKEND_IDS:
            raise ValueError(f"backend_id is {backend_id!r}; it must be one of {BACKEND_IDS}")
        self.options = {**DEFAULT_COMPILE_OPTIONS, **(compile_options or {})}
        self.delegation_spec = DelegationSpec(backend_id, parse_compile_options(self.options))
        self._node_filter = node_filter
        self._blocklist = _set_or_none(operator_blocklist)
        self._allowlist = _set_or_none(operator_allowlist)
        self._module_blocklist = _set_or_none(nn_module_blocklist)
        self._module_allowlist = _set_or_none(nn_module_allowlist)

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[torch._ops.OpOverload], Callable[[torch.fx.Node], bool] | None]:
        return VulkanPartitioner().ops_to_not_decompose(ep)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        graph_module = exported_program.graph_module
        with _quiet_root_logger():
            proposed = CapabilityBasedPartitioner(
                graph_module, self._support(graph_module), allows_single_node_partition=True
            ).propose_partitions()
        tags = {}
        for part in proposed:
            tag = f"webgpu_{part.id}"
            tags[tag] = self.delegation_spec
            for node in part.nodes:
                node.meta["delegation_tag"] = tag
        # Weights and mutable state belong to the part that uses them.
        tag_constant_data(exported_program)
        tag_mutated_buffer(exported_program)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)

    def _support(self, graph_module: torch.fx.GraphModule) -> _SupportedOperators:
        small = self.options.get("small_texture_limits", False)
        limits = utils.SMALL_TEXTURE_LIMITS if small else utils.DEFAULT_TEXTURE_LIMITS
        return _SupportedOperators(
            self._node_filter,
            self.options.get("texture_limits", limits),
            self.options.get("buffer_limit", utils.DEFAULT_BUFFER_LIMIT),
            require_dynamic_shape=self.options.get("require_dynamic_shapes", False),
            skip_bool_tensors=self.options.get("skip_bool_tensors", False),
            operator_blocklist=self._blocklist,
            operator_allowlist=self._allowlist,
            fusable_subgraphs=get_all_fusable_subgraphs(graph_module),
            nn_module_blocklist=self._module_blocklist,
            nn_module_allowlist=self._module_allowlist,
        )


def _set_or_none(items: Iterable[Any] | None) -> set[Any] | None:
    return None if items is None else set(items)


@contextmanager
def _quiet_root_logger() -> Iterator[None]:
    """Importing the Vulkan partitioner sets the root logger to INFO, and partitioning then logs a
    line for each node that stays on the CPU: keep that out of the user's terminal."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(max(level, logging.WARNING))
    try:
        yield
    finally:
        root.setLevel(level)
