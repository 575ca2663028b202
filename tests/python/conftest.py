# SPDX-License-Identifier: BSD-3-Clause
"""Paths, the plug-in and the short pack, for all Python tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "out/pack-quick"
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/pack")]

import faster_export  # noqa: E402 - found by the line above

faster_export.enable()  # tests that start a process of their own export as users do


@pytest.fixture(scope="session")
def plugin() -> Path:
    """The loaded plug-in. Without ETWEBGPU_LIBRARY or ETWEBGPU_BUILD it need not be there; with
    them a library that does not load is a failure."""
    import executorch_webgpu

    try:
        return executorch_webgpu.load()
    except executorch_webgpu.WebGPUError as problem:
        if "ETWEBGPU_LIBRARY" in os.environ or "ETWEBGPU_BUILD" in os.environ:
            raise
        pytest.skip(f"the plug-in is not built: {problem}")


@pytest.fixture(scope="session")
def pack() -> dict[str, dict[str, Any]]:
    """Entries of the short pack by name; it is exported if it is not up to date."""
    script = ROOT / "tests/pack/export_pack.py"
    done = subprocess.run([sys.executable, script, "--quick"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads((PACK / "manifest.json").read_text())
    return {entry["name"]: entry for entry in manifest["cases"]}


@pytest.fixture(scope="session")
def tool() -> Any:
    """Runs the tool and returns the process. Without ETWEBGPU_BUILD it need not be built."""
    path = Path(os.environ.get("ETWEBGPU_BUILD", ROOT / "out")) / "etwebgpu"
    if not path.is_file() and "ETWEBGPU_BUILD" not in os.environ:
        pytest.skip(f"{path} is not built")

    def run(*words: Any, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([str(path), *map(str, words)], env={**os.environ, **environment},
                              capture_output=True, text=True, timeout=300)  # fmt: skip
        # Dawn writes warnings about some drivers to stderr, of itself; they are not the tool's.
        lines = done.stderr.splitlines(keepends=True)
        done.stderr = "".join(line for line in lines if not line.startswith("Warning: "))
        return done

    return run


@pytest.fixture
def python():
    """Runs Python source in a new process and returns it: how a library loads is decided once."""

    def run(source: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
        merged = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        for name, value in environment.items():
            merged.pop(name, None)
            if value is not None:
                merged[name] = value
        return subprocess.run(
            [sys.executable, "-c", source], env=merged, capture_output=True, text=True, timeout=300
        )

    return run
