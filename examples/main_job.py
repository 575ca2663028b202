#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exports three models, runs each on the GPU in two ways, and checks both against eager PyTorch.

    python examples/main_job.py [--build out] [--models out/models] [--only NAME ...] [--export-only]

The two ways are ExecuTorch's Python runtime with the plug-in, and the command line tool etwebgpu.
Ends with a table; any wrong number or failure makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE)]
from exporting import Exported, Job, export_key, exported, median_ms  # noqa: E402

SENTENCES = (
    "A cat sits on the sofa.",
    "A kitten is resting on the couch.",
    "The stock market fell sharply today.",
    "Shares lost much of their value this afternoon.",
    "How do I bake bread without yeast?",
)
TIMED_RUNS = 20


@dataclass
class Row:
    model: str
    way: str
    delegation: str = "-"
    adapter: str = "-"
    dispatches: str = "-"
    load_ms: float = float("nan")
    first_ms: float = float("nan")
    median_ms: float = float("nan")
    eager_ms: float = float("nan")
    error: float = float("nan")
    problems: list[str] = field(default_factory=list)


# ---- the models ----------------------------------------------------------------------------------


def eager(module: Any, inputs: tuple[Any, ...]) -> Any:
    return module(*inputs)


def trained_mini_lm(module: Any, inputs: tuple[Any, ...]) -> Any:
    """Not from our module but from BERT as its package has it, with the pooling of the model."""
    import torch

    ids, mask = inputs
    hidden = module.bert(input_ids=ids, attention_mask=mask).last_hidden_state
    weight = mask.unsqueeze(-1).float()
    return torch.nn.functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=-1)


def tokenized_sentences() -> list[tuple[Any, ...]]:
    import torch
    from tokenizers import Tokenizer

    from models import mini_lm_folder

    tokenizer = Tokenizer.from_file(str(mini_lm_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    runs = []
    for sentence in SENTENCES:
        encoded = tokenizer.encode(sentence)
        runs.append((torch.tensor([encoded.ids]), torch.tensor([encoded.attention_mask])))
    # Padding must change nothing: the last sentence once more, in a longer row.
    ids, mask = runs[-1]
    runs.append(tuple(torch.nn.functional.pad(row, (0, 7)) for row in (ids, mask)))
    return runs


def show_similarities(outputs: list[np.ndarray]) -> None:
    vectors = [output[0] for output in outputs[: len(SENTENCES)]]
    pairs = [
        (float(vectors[i] @ vectors[j]), i, j) for j in range(len(vectors)) for i in range(j)
    ]
    print("  pairs of sentences by similarity:")
    for similarity, i, j in sorted(pairs, reverse=True)[:4]:
        print(f"    {similarity:5.2f}  {SENTENCES[i]}  |  {SENTENCES[j]}")


def show_scores(outputs: list[np.ndarray]) -> None:
    best = np.argsort(-outputs[0][0])[:3]
    listed = ", ".join(f"class {k}: {outputs[0][0][k]:.3f}" for k in best)
    print(f"  highest scores (seeded weights, so the classes mean nothing): {listed}")


def jobs() -> list[Job]:
    import torch

    from models import AddOne, mini_lm, mobilenet_v2, picture

    def sequence() -> Any:
        length = torch.export.Dim("length", min=2, max=128)
        return ({1: length}, {1: length})

    return [
        Job(
            "add_one",
            make=AddOne,
            runs=lambda: [(torch.arange(16.0).reshape(4, 4),)],
            wanted=eager,
            tolerance=0.0,
        ),
        Job(
            "mini_lm",
            make=mini_lm,
            runs=tokenized_sentences,
            wanted=trained_mini_lm,
            dynamic=sequence,
            tolerance=2e-5,
            show=show_similarities,
        ),
        Job(
            "mobilenet_v2",
            make=lambda: mobilenet_v2(picture()),
            runs=lambda: [(picture(),), (picture().flip(-1),)],
            wanted=eager,
            tolerance=1e-3,
            show=show_scores,
        ),
    ]


# ---- the two ways to run -------------------------------------------------------------------------


def largest_error(got: np.ndarray, wanted: np.ndarray) -> float:
    if got.shape != wanted.shape:
        raise ValueError(f"the output has shape {got.shape}, wanted is {wanted.shape}")
    if got.dtype != wanted.dtype:
        raise ValueError(f"the output is {got.dtype}, wanted is {wanted.dtype}")
    if not np.isfinite(got).all():
        raise ValueError("the output holds values that are not finite")
    return float(np.max(np.abs(got.astype(np.float64) - wanted))) if got.size else 0.0


def run_in_python(item: Exported, adapter: str) -> tuple[Row, list[np.ndarray]]:
    """Loads once; runs every input, then the first one again and again for the time."""
    import torch
    from executorch.runtime import Runtime

    import executorch_webgpu

    row = Row(item.job.name, "Python", adapter=adapter, eager_ms=item.eager_ms)
    outputs: list[np.ndarray] = []
    try:
        start = time.perf_counter()
        program = Runtime.get().load_program(item.model)
        method = program.load_method("forward")
        row.load_ms = (time.perf_counter() - start) * 1e3
        errors = []
        for inputs, wanted in item.runs:
            values = [torch.from_numpy(np.load(path)) for path in inputs]
            start = time.perf_counter()
            got = method.execute(values)[0].numpy().copy()
            if not outputs:
                row.first_ms = (time.perf_counter() - start) * 1e3
            outputs.append(got)
            errors.append(largest_error(got, np.load(wanted)))
        row.error = max(errors)
        first = [torch.from_numpy(np.load(path)) for path in item.runs[0][0]]
        row.median_ms = median_ms(lambda: method.execute(first), TIMED_RUNS)
    except Exception as problem:
        row.problems.append(f"{problem} {executorch_webgpu.last_error()}".strip())
    return row, outputs


def call_tool(tool: Path, *arguments: Any) -> dict[str, Any]:
    """The tool's JSON. Raises if it fails or says that a number is wrong."""
    command = [str(tool), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return json.loads(done.stdout)


def run_with_tool(item: Exported, tool: Path) -> Row:
    row = Row(item.job.name, "etwebgpu", eager_ms=item.eager_ms)
    try:
        errors = []
        for i, (inputs, wanted) in enumerate(item.runs):
            place = item.folder / f"run{i}_output"
            place.mkdir(exist_ok=True)
            for old in place.glob("*.npy"):
                old.unlink()
            options = [word for path in inputs for word in ("--input", path)]
            call_tool(tool, "run", item.model, *options, "--output", place, "--check", wanted,
                      "--atol", item.job.tolerance, "--rtol", 0)  # fmt: skip
            written = sorted(place.glob("*.npy"))
            if len(written) != 1:
                raise ValueError(f"{len(written)} outputs were written, wanted is 1")
            errors.append(largest_error(np.load(written[0]), np.load(wanted)))
        row.error = max(errors)
        options = [word for path in item.runs[0][0] for word in ("--input", path)]
        bench = call_tool(tool, "bench", item.model, *options)
        row.adapter = str(bench.get("adapter", "-"))
        row.dispatches = str(bench.get("dispatches", "-"))
        row.load_ms, row.first_ms = bench["load_ms"], bench["first_run_ms"]
        row.median_ms = bench["median_run_ms"]
    except Exception as problem:
        row.problems.append(str(problem))
    return row


# ---- the table -----------------------------------------------------------------------------------

COLUMNS = ("model", "way", "adapter", "delegated", "dispatches", "load ms", "first ms", "median ms",
           "CPU ms", "largest error", "verdict")  # fmt: skip


def judge(row: Row, item: Exported) -> None:
    row.delegation = f"{item.delegated}/{item.total}"
    if item.left:
        row.problems.append(f"not all operators are delegated: {item.left}")
    if not row.problems and not row.error <= item.job.tolerance:
        row.problems.append(f"the error {row.error:.3g} is over {item.job.tolerance:.3g}")


def print_table(rows: Sequence[Row]) -> None:
    lines = [COLUMNS]
    for row in rows:
        times = (row.load_ms, row.first_ms, row.median_ms, row.eager_ms)
        lines.append((row.model, row.way, row.adapter, row.delegation, row.dispatches,
                      *("-" if np.isnan(t) else f"{t:.2f}" for t in times),
                      "-" if np.isnan(row.error) else f"{row.error:.1e}",
                      "WRONG" if row.problems else "right"))  # fmt: skip
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    for row in rows:
        for problem in row.problems:
            print(f"{row.model} by {row.way}: {problem}", file=sys.stderr)


def choose_jobs(only: Sequence[str]) -> list[Job]:
    known = jobs()
    unknown = set(only) - {job.name for job in known}
    if unknown:
        raise SystemExit(f"there is no model {', '.join(unknown)}; there are {[j.name for j in known]}")
    return [job for job in known if not only or job.name in only]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default_build = Path(os.environ.get("ETWEBGPU_BUILD", ROOT / "out"))
    parser.add_argument("--build", type=Path, default=default_build, help="folder with the plug-in and etwebgpu")
    parser.add_argument("--models", type=Path, default=ROOT / "out/models", help="where the exports are kept")
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME")
    parser.add_argument("--export-only", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("ETWEBGPU_BUILD", str(options.build.resolve()))

    key = export_key()
    items = [exported(job, options.models, key) for job in choose_jobs(options.only)]
    for item in items:
        print(f"{item.job.name}: {item.delegated} of {item.total} operators delegated")
    if options.export_only:
        return 1 if any(item.left for item in items) else 0

    import executorch_webgpu

    try:
        used = next(d for d in executorch_webgpu.devices() if d["selected"])
    except executorch_webgpu.WebGPUError as problem:
        print(problem, file=sys.stderr)
        return 1
    rows = []
    for item in items:
        print(f"running {item.job.name}", flush=True)
        row, outputs = run_in_python(item, used["name"])
        if not row.problems:
            item.job.show(outputs)
        for done in (row, run_with_tool(item, options.build / "etwebgpu")):
            judge(done, item)
            rows.append(done)
    print()
    print_table(rows)
    return 1 if any(row.problems for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
