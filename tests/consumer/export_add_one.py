"""Writes the program that tests/consumer runs: export_add_one.py PATH, with ExecuTorch's own partitioner."""

import sys
from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower


class AddOne(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1.0


exported = torch.export.export(AddOne().eval(), (torch.zeros(4, 4),))
program = to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()]).to_executorch()
Path(sys.argv[1]).write_bytes(program.buffer)
