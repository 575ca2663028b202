"""Exports the programs of smoke.mjs, with inputs and what eager PyTorch makes of them.

    python tests/wasm/export_smoke.py <folder>
"""

import json
import sys
from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.dialects._ops import ops

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import models


class Add(torch.nn.Module):
    def forward(self, x, y):
        return x + y


class Subtract(torch.nn.Module):
    def forward(self, x, y):
        return x - y


class AddThenMultiply(torch.nn.Module):
    """The sum from one delegate to the next, and an integer that follows the sizes."""

    def forward(self, x, y):
        total = x + y
        return total * x, total, x.shape[0] * 2


class SelfOutput(torch.nn.Module):
    """The smallest layer of all-MiniLM-L6-v2, with its weights: projection, residual, layer norm."""

    def __init__(self):
        super().__init__()
        self.layer = models.mini_lm().bert.encoder.layer[0].attention.output

    def forward(self, hidden, residual):
        return self.layer(hidden, residual)


def save(folder, name, value):
    tensor = torch.as_tensor(value)
    (folder / name).write_bytes(tensor.contiguous().numpy().tobytes())
    return {"dtype": str(tensor.dtype).split(".")[1], "dims": list(tensor.shape), "file": name}


def partitioners(split_at):
    """One for all operators, or two, so that the operators `split_at` are delegates of their own."""
    options = {"skip_tag_memory_metadata": True}
    first = [VulkanPartitioner(options, operator_blocklist=split_at)] if split_at else []
    return [*first, VulkanPartitioner(options)]


def export(folder, name, methods, runs, tolerance, dynamic_shapes=None, split_at=None):
    """Writes one program; a case for each of its methods, which all take the same inputs."""
    exported = {
        method: torch.export.export(module.eval(), runs[0], dynamic_shapes=dynamic_shapes, strict=True)
        for method, module in methods.items()
    }
    partitioner = {method: partitioners(split_at) for method in methods}
    config = EdgeCompileConfig(_check_ir_validity=not split_at)  # it knows no delegate before the last
    program = to_edge_transform_and_lower(exported, partitioner=partitioner, compile_config=config).to_executorch()
    for plan in program.executorch_program.execution_plan:
        calls = [type(instruction.instr_args).__name__ for instruction in plan.chains[0].instructions]
        assert calls == ["DelegateCall"] * (2 if split_at else 1), calls
    (folder / f"{name}.pte").write_bytes(program.buffer)
    cases = []
    for method, module in methods.items():
        described = []
        for i, inputs in enumerate(runs):
            with torch.no_grad():
                outputs = module(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            described.append({
                "inputs": [save(folder, f"{name}.{i}.in{k}", t) for k, t in enumerate(inputs)],
                "outputs": [save(folder, f"{name}.{method}.{i}.out{k}", t) for k, t in enumerate(outputs)],
            })  # fmt: skip
        cases.append({"name": name, "method": method, "program": f"{name}.pte", "tolerance": tolerance,
                      "runs": described})  # fmt: skip
    return cases


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    length = torch.export.Dim("length", min=2, max=64)
    rows = torch.export.Dim("rows", min=2, max=6)
    cases = [
        *export(folder, "add", {"forward": Add(), "subtract": Subtract()},
                [(torch.randn(3, 5), torch.randn(3, 5))], 0.0),
        *export(folder, "two_delegates", {"forward": AddThenMultiply()},
                [(torch.randn(n, 3), torch.randn(n, 3)) for n in (6, 2, 5)], 1e-6, ({0: rows}, {0: rows}),
                split_at=[ops.edge.aten.mul.Tensor]),
        *export(folder, "self_output", {"forward": SelfOutput()},
                [(torch.randn(1, n, 384), torch.randn(1, n, 384)) for n in (64, 7, 33)], 2e-5,
                ({1: length}, {1: length})),
    ]  # fmt: skip
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))


if __name__ == "__main__":
    main()
