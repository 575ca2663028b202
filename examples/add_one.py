# SPDX-License-Identifier: BSD-3-Clause
"""Exports x + 1 for the GPU, runs it there and prints the result."""

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

from executorch_webgpu import WebGPUPartitioner


class AddOne(torch.nn.Module):
    def forward(self, x):
        return x + 1.0


x = torch.arange(16.0).reshape(4, 4)
lowered = to_edge_transform_and_lower(torch.export.export(AddOne(), (x,)), partitioner=[WebGPUPartitioner()])
model = lowered.to_executorch().buffer  # or written to a .pte file; the runtime reads it, so keep it
program = Runtime.get().load_program(model)
method = program.load_method("forward")
print(method.execute([x])[0])
