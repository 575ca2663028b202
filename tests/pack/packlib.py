# SPDX-License-Identifier: BSD-3-Clause
"""Exports a case: the program, its inputs and what eager PyTorch says it must give."""

from __future__ import annotations

import copy
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from executorch.backends.vulkan import vulkan_preprocess
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

import faster_export
from case import Case
from executorch_webgpu.partitioner import WebGPUPartitioner

warnings.filterwarnings("ignore")

faster_export.enable()


class _Function(torch.nn.Module):
    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def forward(self, *args: Any) -> Any:
        return self.fn(*args)


def flat(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def module_of(case: Case) -> torch.nn.Module:
    module = case.fn if isinstance(case.fn, torch.nn.Module) else _Function(case.fn)
    return copy.deepcopy(module).eval()


def rounded_to_half(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.half().float()
    return value


def expected(case: Case, variant: str) -> list[list[Any]]:
    """What every run must give, with the dtypes that the model itself has."""
    eager, wide = module_of(case), module_of(case)
    if variant == "f16":
        for tensor in [*wide.parameters(), *wide.buffers()]:
            tensor.data = rounded_to_half(tensor.data)
    if case.reference == "f64":
        wide = wide.double()
    results = []
    for run in case.runs:
        own = flat(eager(*copy.deepcopy(run)))
        inputs = [rounded_to_half(v) if variant == "f16" else v for v in copy.deepcopy(run)]
        if case.reference == "f64":
            inputs = [
                v.double() if isinstance(v, torch.Tensor) and v.dtype == torch.float32 else v
                for v in inputs
            ]
        values = []
        for value, like in zip(flat(wide(*inputs)), own, strict=True):
            if isinstance(value, torch.Tensor):
                assert value.shape == like.shape, (case.name, value.shape, like.shape)
                if variant == "f16" and value.is_floating_point():
                    value = value.half()  # what leaves the range becomes infinite
                value = value.to(like.dtype)
            values.append(value)
        results.append(values)
    return results


def partitioner_of(case: Case, variant: str) -> Any:
    if variant == "tex":
        return VulkanPartitioner(dict(case.options))
    options = dict(case.options)
    if variant == "f16":
        options["force_fp16"] = True
    backend_id = "WebGPUBackend" if variant == "webgpu" else "VulkanBackend"
    return WebGPUPartitioner(options, backend_id=backend_id)


class _Captured:
    """The operator names that went into the delegates' payloads during one export."""

    def __enter__(self) -> list[str]:
        self.original = vulkan_preprocess.serialize_vulkan_graph
        names: list[str] = []

        def capture(graph: Any, *args: Any) -> bytes:
            names.extend(call.name for call in graph.chain)
            return self.original(graph, *args)

        vulkan_preprocess.serialize_vulkan_graph = capture
        return names

    def __exit__(self, *_: Any) -> None:
        vulkan_preprocess.serialize_vulkan_graph = self.original


def is_fully_delegated(graph_module: torch.fx.GraphModule) -> bool:
    calls = [n for n in graph_module.graph.nodes if n.op == "call_function"]
    delegates = [n for n in calls if "executorch_call_delegate" in str(n.target)]
    return bool(delegates) and all(n in delegates or "getitem" in str(n.target) for n in calls)


def to_numpy(value: torch.Tensor) -> np.ndarray:
    return np.asarray(value.detach().contiguous().numpy(), order="C")


def export_case(case: Case, variant: str, folder: Path) -> dict[str, Any]:
    """Writes the case into `folder` and returns its manifest entry."""
    folder.mkdir(parents=True, exist_ok=True)
    module = module_of(case)
    dynamic = case.dynamic
    if dynamic is not None and isinstance(module, _Function):
        dynamic = (tuple(dynamic),)  # forward(*args) has one parameter, a tuple
    logging.getLogger().setLevel(logging.ERROR)
    with torch.no_grad(), _Captured() as names:
        wanted = expected(case, variant)
        program = torch.export.export(
            module, copy.deepcopy(case.runs[0]), dynamic_shapes=dynamic, strict=False
        )
        lowered = to_edge_transform_and_lower(
            program,
            partitioner=[partitioner_of(case, variant)],
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
        delegated = is_fully_delegated(lowered.exported_program().graph_module)
        ready = lowered.to_executorch()
    (folder / "model.pte").write_bytes(ready.buffer)
    ready.write_tensor_data_to_file(str(folder))

    runs = []
    for index, (inputs, outputs) in enumerate(zip(case.runs, wanted, strict=True)):
        run: dict[str, list[Any]] = {"inputs": [], "outputs": []}
        for kind, values in (("inputs", inputs), ("outputs", outputs)):
            for place, value in enumerate(values):
                if not isinstance(value, torch.Tensor):
                    run[kind].append({"int": int(value)})
                    continue
                name = f"r{index}_{kind[:-1]}{place}.npy"
                np.save(folder / name, to_numpy(value))
                run[kind].append({"file": name})
        runs.append(run)
    if len(runs) > 1 and not case.stateful:
        runs.append(runs[0])
    atol, rtol = case.tolerance(variant)
    name = case.name if variant == "f32" else f"{case.name}@{variant}"
    return {
        "name": name,
        "family": case.family,
        "ops": sorted(set(names)),
        "model": "model.pte",
        "data": sorted(p.name for p in folder.glob("*.ptd")),
        "delegated": delegated,
        "backend_id": "WebGPUBackend" if variant == "webgpu" else "VulkanBackend",
        "variant": variant,
        "stateful": case.stateful,
        "atol": atol,
        "rtol": rtol,
        "runs": runs,
    }
