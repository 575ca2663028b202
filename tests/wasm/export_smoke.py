"""Exports the programs of smoke.mjs, with inputs and what eager PyTorch makes of them.

    python tests/wasm/export_smoke.py <folder>
"""

import json
import sys
from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import models


class Add(torch.nn.Module):
    def forward(self, x, y):
        return x + y


class SelfOutput(torch.nn.Module):
    """The smallest layer of all-MiniLM-L6-v2, with its weights: projection, residual, layer norm."""

    def __init__(self):
        super().__init__()
        self.layer = models.mini_lm().bert.encoder.layer[0].attention.output

    def forward(self, hidden, residual):
        return self.layer(hidden, residual)


def save(folder, name, tensor):
    (folder / name).write_bytes(tensor.contiguous().numpy().tobytes())
    return {"dtype": str(tensor.dtype).split(".")[1], "dims": list(tensor.shape), "file": name}


def export(folder, name, module, runs, tolerance, dynamic_shapes=None):
    exported = torch.export.export(module.eval(), runs[0], dynamic_shapes=dynamic_shapes, strict=True)
    partitioner = VulkanPartitioner({"skip_tag_memory_metadata": True})
    program = to_edge_transform_and_lower(exported, partitioner=[partitioner]).to_executorch()
    (folder / f"{name}.pte").write_bytes(program.buffer)
    described = []
    for i, inputs in enumerate(runs):
        with torch.no_grad():
            output = module(*inputs)
        described.append({
            "inputs": [save(folder, f"{name}.{i}.in{k}", t) for k, t in enumerate(inputs)],
            "outputs": [save(folder, f"{name}.{i}.out0", output)],
        })  # fmt: skip
    return {"name": name, "program": f"{name}.pte", "tolerance": tolerance, "runs": described}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    length = torch.export.Dim("length", min=2, max=64)
    cases = [
        export(folder, "add", Add(), [(torch.randn(3, 5), torch.randn(3, 5))], 0.0),
        export(folder, "self_output", SelfOutput(),
               [(torch.randn(1, n, 384), torch.randn(1, n, 384)) for n in (64, 7, 33)], 2e-5,
               ({1: length}, {1: length})),
    ]  # fmt: skip
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))


if __name__ == "__main__":
    main()
