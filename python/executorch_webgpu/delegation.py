# SPDX-License-Identifier: BSD-3-Clause
"""How much of a lowered program the partitioner gave to the GPU."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch

# Nodes that compute nothing: they take an element of a tuple, or read a size.
_NO_WORK = ("getitem", "sym_size", "executorch_call_delegate", "alloc")


@dataclass
class Delegation:
    """delegated, total: numbers of operators. left: those that stay on the CPU, by name."""

    delegated: int = 0
    left: Counter[str] = field(default_factory=Counter)
    parts: int = 0

    @property
    def total(self) -> int:
        return self.delegated + sum(self.left.values())

    @property
    def complete(self) -> bool:
        return self.delegated > 0 and not self.left


def delegation_of(lowered: Any, method: str = "forward") -> Delegation:
    """lowered: what to_edge_transform_and_lower returned, an EdgeProgramManager."""
    result = Delegation()
    module = lowered.exported_program(method).graph_module
    result.left = _operators(module)
    for node in module.graph.nodes:
        if node.op != "get_attr" or "lowered_module" not in str(node.target):
            continue
        part = getattr(module, node.target)
        result.parts += 1
        result.delegated += sum(_operators(part.original_module.graph_module).values())
    return result


def _operators(module: torch.fx.GraphModule) -> Counter[str]:
    names: Counter[str] = Counter()
    for node in module.graph.nodes:
        name = getattr(node.target, "__name__", str(node.target))
        if node.op == "call_function" and not any(part in name for part in _NO_WORK):
            names[name] += 1
    return names
