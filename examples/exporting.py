# SPDX-License-Identifier: BSD-3-Clause
"""Exports the models of the main job into a folder, once: program, inputs, wanted outputs."""

from __future__ import annotations

import hashlib
import json
import logging
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EAGER_RUNS = 20


@dataclass
class Job:
    """make gives the module; runs are the inputs of each run; wanted gives what is right."""

    name: str
    make: Callable[[], Any]
    runs: Callable[[], list[tuple[Any, ...]]]
    wanted: Callable[[Any, tuple[Any, ...]], Any]
    dynamic: Callable[[], Any] = lambda: None
    tolerance: float = 1e-4
    show: Callable[[list[np.ndarray]], None] = lambda outputs: None


@dataclass
class Exported:
    """What a job left in the models folder: all that is needed to run and check it."""

    job: Job
    folder: Path
    delegated: int
    total: int
    eager_ms: float
    left: dict[str, int]
    runs: list[tuple[list[Path], Path]]  # input files, file with the wanted output

    @property
    def model(self) -> Path:
        return self.folder / "model.pte"


def export_key() -> str:
    digest = hashlib.sha256()
    for path in (*sorted(HERE.glob("*.py")), ROOT / "python/executorch_webgpu/partitioner.py"):
        digest.update(path.read_bytes())
    for package in ("torch", "executorch", "transformers", "scikit-image"):
        digest.update(f"{package}=={version(package)}".encode())
    return digest.hexdigest()


def median_ms(run: Callable[[], Any], times: int) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        spent.append((time.perf_counter() - start) * 1e3)
    return statistics.median(spent)


def export(job: Job, folder: Path, key: str) -> None:
    """Writes the program, the inputs, what is wanted, and last a summary that says they are whole."""
    # The exporter's packages warn about themselves: not what a reader of this output looks for.
    warnings.simplefilter("ignore")
    for name in ("torchao", "torch.utils._pytree"):
        logging.getLogger(name).setLevel(logging.ERROR)
    import torch
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    from executorch_webgpu import WebGPUPartitioner, delegation_of

    folder.mkdir(parents=True, exist_ok=True)
    module, runs = job.make(), job.runs()
    with torch.no_grad():
        program = torch.export.export(module, runs[0], dynamic_shapes=job.dynamic())
        lowered = to_edge_transform_and_lower(
            program,
            partitioner=[WebGPUPartitioner()],
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
        delegation = delegation_of(lowered)
        (folder / "model.pte").write_bytes(lowered.to_executorch().buffer)
        files = []
        for i, inputs in enumerate(runs):
            names = [f"run{i}_input{k}.npy" for k in range(len(inputs))]
            for name, value in zip(names, inputs, strict=True):
                np.save(folder / name, np.ascontiguousarray(value.numpy()))
            np.save(folder / f"run{i}_wanted.npy", job.wanted(module, inputs).numpy())
            files.append({"inputs": names, "wanted": f"run{i}_wanted.npy"})
        eager_ms = median_ms(lambda: module(*runs[0]), EAGER_RUNS)
    summary = {
        "key": key,
        "delegated": delegation.delegated,
        "total": delegation.total,
        "left": delegation.left,
        "eager_ms": eager_ms,
        "runs": files,
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


def exported(job: Job, models: Path, key: str) -> Exported:
    folder = models / job.name
    summary_file = folder / "summary.json"
    if not summary_file.exists() or json.loads(summary_file.read_text())["key"] != key:
        print(f"exporting {job.name} ...", flush=True)
        summary_file.unlink(missing_ok=True)
        export(job, folder, key)
    summary = json.loads(summary_file.read_text())
    runs = [
        ([folder / name for name in run["inputs"]], folder / run["wanted"])
        for run in summary["runs"]
    ]
    return Exported(
        job,
        folder,
        summary["delegated"],
        summary["total"],
        summary["eager_ms"],
        summary["left"],
        runs,
    )
