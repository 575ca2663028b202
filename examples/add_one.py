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
program = to_edge_transform_and_lower(torch.export.export(AddOne(), (x,)), partitioner=[WebGPUPartitioner()])
method = Runtime.get().load_program(program.to_executorch().buffer).load_method("forward")
print(method.execute([x])[0])
