# SPDX-License-Identifier: BSD-3-Clause
"""Programs of several delegates through the command line tool, which runs them without ExecuTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from check import assert_equal
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from test_cli import OK, failure


class Classifier(torch.nn.Module):
    """Two products with what lies between them; the batch is dynamic, and returned."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.first, self.second = torch.nn.Linear(12, 20), torch.nn.Linear(10, 4)

    def forward(self, x: torch.Tensor) -> Any:
        rows = x.shape[0]
        hidden = torch.relu(self.first(x.reshape(rows, 12))).reshape(rows * 2, 10)
        return torch.softmax(self.second(hidden), dim=-1), rows * 2


def split(*names: str) -> list[Any]:
    """A partitioner for the operators with these names, and one for all others: neighbours of both
    kinds become delegates of their own."""
    from executorch_webgpu import WebGPUPartitioner

    def is_named(node: torch.fx.Node) -> bool:
        return any(name in str(node.target) for name in names)

    return [WebGPUPartitioner(node_filter=is_named), WebGPUPartitioner()]


def export(folder: Path, partitioner: list[Any]) -> tuple[Path, Any]:
    module = Classifier().eval()
    dynamic = ({0: torch.export.Dim("batch", min=2, max=9)},)
    with torch.no_grad():
        program = torch.export.export(module, (torch.zeros(9, 3, 4),), dynamic_shapes=dynamic)
        lowered = to_edge_transform_and_lower(
            program, partitioner=partitioner, compile_config=EdgeCompileConfig(_check_ir_validity=False)
        ).to_executorch()
    path = folder / "model.pte"
    path.write_bytes(lowered.buffer)
    return path, lowered.executorch_program.execution_plan[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, plan = export(tmp_path_factory.mktemp("session"), split("linear", "addmm", "mm"))
    calls = [type(i.instr_args).__name__ for i in plan.chains[0].instructions]
    assert len(plan.delegates) >= 3, "the point of these tests"
    assert set(calls) == {"DelegateCall"}, calls
    return path


def test_several_delegates(tool: Any, model: Path, tmp_path: Path) -> None:
    for rows in (9, 2, 5):
        x = torch.randn(rows, 3, 4, generator=torch.Generator().manual_seed(rows))
        with torch.no_grad():
            want, count = Classifier().eval()(x)
        np.save(tmp_path / "x.npy", x.numpy())
        done = tool("run", model, "--input", tmp_path / "x.npy", "--output", tmp_path, "--json")
        assert done.returncode == OK, done.stderr
        outputs = [np.load(file["file"]) for file in json.loads(done.stdout)["outputs"]]
        assert_equal(outputs[0], want.numpy(), 1e-5, 1e-5)
        assert outputs[1] == count


def test_sizes_that_change_between_runs_of_one_load(tool: Any, model: Path, tmp_path: Path) -> None:
    """As a pack of one case, whose runs share a load."""
    runs = []
    folder = tmp_path / "session/several"
    folder.mkdir(parents=True)
    (folder / "model.pte").write_bytes(model.read_bytes())
    for i, rows in enumerate((4, 9, 2, 4)):
        x = torch.randn(rows, 3, 4, generator=torch.Generator().manual_seed(i))
        with torch.no_grad():
            want, count = Classifier().eval()(x)
        np.save(folder / f"x{i}.npy", x.numpy())
        np.save(folder / f"want{i}.npy", want.numpy())
        runs.append({"inputs": [{"file": f"x{i}.npy"}], "outputs": [{"file": f"want{i}.npy"}, {"int": count}]})
    case = {"name": "session/several", "family": "session", "model": "model.pte", "data": [], "delegated": True,
            "atol": 1e-5, "rtol": 1e-5, "runs": runs}  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps({"version": 1, "cases": [case]}))
    done = tool("pack", tmp_path)
    assert done.returncode == OK, done.stdout + done.stderr


def test_random_inputs_of_chosen_sizes(tool: Any, model: Path) -> None:
    for command in ("bench", "profile"):
        done = tool(command, model, "--live", "3x3x4", "--runs", 1, "--json")
        assert done.returncode == OK, done.stderr
        assert "input 0 has sizes [10, 3, 4]" in failure(tool(command, model, "--live", "10x3x4"))
        assert "not sizes" in failure(tool(command, model, "--live", "3x"))
        assert "takes 1 inputs" in failure(tool(command, model, "--live", "3x3x4", "--live", "1"))
        failure(tool(command, model, "--live", "3x3x4", "--input", "x.npy"))


def test_the_same_program_in_the_runtime(plugin: Path, model: Path) -> None:
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(model).load_method("forward")
    x = torch.ones(3, 3, 4)
    with torch.no_grad():
        want, count = Classifier().eval()(x)
    got, rows = method.execute([x])
    assert_equal(got.numpy(), want.numpy(), 1e-5, 1e-5)
    assert rows == count


def test_cpu_operators_between_delegates_are_named(tool: Any, tmp_path: Path) -> None:
    from executorch_webgpu import WebGPUPartitioner

    keep = WebGPUPartitioner(node_filter=lambda node: "relu" not in str(node.target))
    path, plan = export(tmp_path, [keep])
    assert len(plan.delegates) == 2
    np.save(tmp_path / "x.npy", np.zeros((9, 3, 4), np.float32))
    assert "CPU kernels for aten::relu.out" in failure(tool("run", path, "--input", tmp_path / "x.npy"))
    done = tool("inspect", path)
    assert done.returncode == OK and "aten::relu.out" in done.stdout and "delegate 1: " in done.stdout
