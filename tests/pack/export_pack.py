#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the export pack: many small programs with inputs and expected outputs.

    python tests/pack/export_pack.py [--quick] [--out FOLDER] [--jobs N] [--filter TEXT] [--list]

The pack is rebuilt only if the scripts or the pinned packages changed. Without a filter the
folder is out/pack, or out/pack-quick for the short list. Format: tests/pack/README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import sys
import time
import traceback
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]

FAMILIES = (
    "pointwise",
    "matmul",
    "reduce",
    "norm",
    "movement",
    "embedding",
    "conv",
    "pool",
    "create",
    "models",
)
PINS = ("torch", "executorch", "torchao", "numpy")


Job = tuple[Any, str]  # a case and the variant of it


def content_key(family: str) -> str:
    """Changes with whatever decides what the family's files hold."""
    digest = hashlib.sha256()
    sources = [*HERE.glob("*.py"), HERE / f"families/{family}.py"]
    for path in [*sorted(sources), ROOT / "python/executorch_webgpu/partitioner.py"]:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    for package in PINS:
        digest.update(f"{package}=={version(package)}".encode())
    return digest.hexdigest()


def name_of(job: Job) -> str:
    case, variant = job
    return case.name if variant == "f32" else f"{case.name}@{variant}"


def jobs_of(family: str, quick: bool, text: str) -> list[Job]:
    jobs = []
    for case in importlib.import_module(f"families.{family}").cases():
        for variant in case.variants:
            wanted = not quick or (case.quick and variant in ("f32", "webgpu"))
            if wanted and text in name_of((case, variant)):
                jobs.append((case, variant))
    return jobs


def worker(index: int, count: int, jobs: list[Job], out: Path, results: Any) -> None:
    import torch

    from packlib import export_case

    torch.set_num_threads(1)
    for job in jobs[index::count]:
        name = name_of(job)
        try:
            results.put((name, export_case(*job, out / name), None))
        except Exception:
            results.put((name, None, traceback.format_exc(limit=-4)))
    results.put((None, None, None))


def export_all(jobs: list[Job], out: Path, count: int) -> dict[str, Any]:
    """Entries by name. A case that cannot be exported is printed and left out."""
    context = multiprocessing.get_context("fork")  # the cases hold functions: they cannot be sent
    results = context.Queue()
    processes = [
        context.Process(target=worker, args=(i, count, jobs, out, results)) for i in range(count)
    ]
    for process in processes:
        process.start()
    entries, running, started = {}, count, time.monotonic()
    while running:
        name, entry, error = results.get()
        if name is None:
            running -= 1
        elif error is not None:
            print(f"FAILED {name}\n{error}", flush=True)
        else:
            entries[name] = entry
            if len(entries) % 100 == 0:
                seconds = time.monotonic() - started
                print(f"{len(entries)} of {len(jobs)}, {seconds:.0f} s", flush=True)
    for process in processes:
        process.join()
    return entries


def build(quick: bool, text: str, out: Path, count: int) -> int:
    """Exports the families that changed, and writes the manifest of all."""
    plan = {family: jobs_of(family, quick, text) for family in FAMILIES}
    counted = Counter(name_of(job) for jobs in plan.values() for job in jobs)
    twice = [name for name, times in counted.items() if times > 1]
    if twice:
        raise ValueError(f"names given to two cases: {twice}")

    state_file = out / "state.json"
    state = json.loads(state_file.read_text()) if state_file.exists() and not text else {}
    keys = {family: content_key(family) for family in FAMILIES}
    changed = [f for f in FAMILIES if state.get(f, {}).get("key") != keys[f]]
    if not changed:
        print(f"{out} is up to date")
        return 0
    jobs = []
    for family in changed:
        jobs += plan[family]
        for entry in state.pop(family, {}).get("entries", []):
            shutil.rmtree(out / entry["name"], ignore_errors=True)
    (out / "manifest.json").unlink(missing_ok=True)
    started = time.monotonic()
    entries = export_all(jobs, out, count)
    for family in changed:
        names = [name_of(job) for job in plan[family]]
        kept = [entries[name] for name in names if name in entries]
        if len(kept) == len(names):
            state[family] = {"key": keys[family], "entries": kept}
        else:
            state[family] = {"key": "", "entries": kept}
    out.mkdir(parents=True, exist_ok=True)
    state_file.write_text(json.dumps(state))
    everything = [entry for family in FAMILIES for entry in state[family]["entries"]]
    key = hashlib.sha256("".join(keys.values()).encode()).hexdigest()
    manifest = {"version": 1, "key": key, "cases": everything}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    report(everything, time.monotonic() - started)
    failed = [name_of(job) for job in jobs if name_of(job) not in entries]
    if failed:
        print("not exported: " + " ".join(failed))
    return 1 if failed else 0


def report(entries: list[dict[str, Any]], seconds: float) -> None:
    left = [e["name"] for e in entries if not e["delegated"]]
    print(f"{len(entries)} cases in {seconds:.0f} s, {len(entries) - len(left)} fully delegated")
    if left:
        print("not fully delegated (not counted): " + " ".join(left))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the short list, under a minute")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--filter", default="", help="only cases whose name contains this text")
    parser.add_argument("--list", action="store_true", help="print the names, export nothing")
    options = parser.parse_args()
    if options.list:
        for family in FAMILIES:
            for job in jobs_of(family, options.quick, options.filter):
                print(name_of(job))
        return 0
    folder = "pack-filtered" if options.filter else "pack-quick" if options.quick else "pack"
    return build(options.quick, options.filter, options.out or ROOT / "out" / folder, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
