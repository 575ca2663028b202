# SPDX-License-Identifier: BSD-3-Clause
"""The command line tool: what it prints, writes and returns, on programs of the short pack."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PACK

OK, WRONG, FAILED = 0, 1, 2


def folder_of(entry: dict[str, Any]) -> Path:
    return PACK / entry["name"]


def arguments(entry: dict[str, Any], run: int = 0) -> list[Any]:
    """The program, its data and the inputs of one run."""
    folder = folder_of(entry)
    words: list[Any] = [folder / entry["model"]]
    for name in entry["data"]:
        words += ["--data", folder / name]
    for value in entry["runs"][run]["inputs"]:
        words += ["--input", folder / value["file"] if "file" in value else value["int"]]
    return words


def wanted(entry: dict[str, Any], run: int = 0) -> Path:
    return folder_of(entry) / entry["runs"][run]["outputs"][0]["file"]


@pytest.fixture
def add(pack: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return pack["pointwise/add_both"]


def failure(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that a failing call prints."""
    assert done.returncode == FAILED, done.stdout + done.stderr
    assert done.stderr.startswith("etwebgpu: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


# The whole pack is a step of tools/test_steps.py.
def test_pack(tool: Any, pack: dict[str, dict[str, Any]]) -> None:
    done = tool("pack", PACK, "--filter", "pointwise/add")
    assert done.returncode == OK, done.stdout + done.stderr
    chosen = sum(entry["delegated"] for name, entry in pack.items() if "pointwise/add" in name)
    assert done.stdout.splitlines()[-1] == f"{chosen} passed, 0 failed"


def test_pack_finds_wrong_numbers(tool: Any, add: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / add["name"]
    folder.mkdir(parents=True)
    for file in folder_of(add).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    name = add["runs"][0]["outputs"][0]["file"]
    np.save(folder / name, np.load(folder / name) + 1)
    (tmp_path / "manifest.json").write_text(json.dumps({"version": 1, "cases": [add]}))
    done = tool("pack", tmp_path)
    assert done.returncode == WRONG
    assert f"FAILED {add['name']}: run 0: output 0: " in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed"


def test_run_writes_and_checks(tool: Any, add: dict[str, Any], tmp_path: Path) -> None:
    done = tool("run", *arguments(add), "--output", tmp_path / "new/folder", "--check", wanted(add), "--json")
    assert done.returncode == OK, done.stderr
    report = json.loads(done.stdout)
    assert report["right"] and report["outputs"][0]["right"]
    got, want = np.load(tmp_path / "new/folder/output0.npy"), np.load(wanted(add))
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.abs(got - want).max() == pytest.approx(report["outputs"][0]["largest_error"])


def test_run_tells_wrong_numbers(tool: Any, add: dict[str, Any], tmp_path: Path) -> None:
    want = np.load(wanted(add))
    want.flat[3] += 0.5
    np.save(tmp_path / "want.npy", want)
    done = tool("run", *arguments(add), "--check", tmp_path / "want.npy")
    assert done.returncode == WRONG
    assert "WRONG: 1 of" in done.stdout
    loose = tool("run", *arguments(add), "--check", tmp_path / "want.npy", "--atol", 1)
    assert loose.returncode == OK


@pytest.mark.parametrize("dtype", ["f2", "f8", "i4", "i8", "u1", "i1", "?"])
def test_run_names_the_input_of_another_type(tool: Any, add: dict[str, Any], tmp_path: Path, dtype: str) -> None:
    words = arguments(add)
    np.save(tmp_path / "other.npy", np.load(words[2]).astype(dtype))
    message = failure(tool("run", words[0], "--input", tmp_path / "other.npy", *words[3:]))
    assert f"input 0 has type {np.dtype(dtype).name}, the program takes float32" in message


def test_run_refuses_inputs_that_do_not_fit(tool: Any, add: dict[str, Any], tmp_path: Path) -> None:
    words = arguments(add)
    first = np.load(words[2])
    assert "1 inputs were passed" in failure(tool("run", *words[:3]))
    assert "input 0 should be a tensor" in failure(tool("run", words[0], "--input", 7, *words[3:]))
    np.save(tmp_path / "long.npy", np.concatenate([first, first]))
    assert "input 0 has sizes" in failure(tool("run", words[0], "--input", tmp_path / "long.npy", *words[3:]))
    np.save(tmp_path / "fortran.npy", np.asfortranarray(np.zeros((3, 4), np.float32)))
    assert "Fortran order" in failure(tool("run", words[0], "--input", tmp_path / "fortran.npy", *words[3:]))
    (tmp_path / "cut.npy").write_bytes(Path(words[2]).read_bytes()[:-4])
    assert "cut.npy: cut off" in failure(tool("run", words[0], "--input", tmp_path / "cut.npy", *words[3:]))
    assert "none.npy" in failure(tool("run", words[0], "--input", tmp_path / "none.npy", *words[3:]))
    assert "no method backward; it has forward" in failure(tool("run", *words, "--method", "backward"))


def test_damaged_programs_are_refused_by_name(tool: Any, add: dict[str, Any], tmp_path: Path) -> None:
    whole = (folder_of(add) / add["model"]).read_bytes()
    for length in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.pte").write_bytes(whole[:length])
        for command in ("run", "inspect", "bench"):
            done = tool(command, tmp_path / "cut.pte")
            if done.returncode != OK:  # the last bytes may be padding
                assert "cut.pte" in failure(done) or "inputs" in failure(done)


def test_programs_with_cpu_operators_are_refused_by_name(tool: Any, pack: Any) -> None:
    entry = next(entry for entry in pack.values() if not entry["delegated"])
    assert "CPU kernels for aten::" in failure(tool("run", *arguments(entry)))
    done = tool("inspect", folder_of(entry) / entry["model"])
    assert done.returncode == OK and "operators on the CPU" in done.stdout


def test_bench(tool: Any, pack: dict[str, dict[str, Any]]) -> None:
    entry = pack["pointwise/chain"]
    done = tool("bench", folder_of(entry) / entry["model"], "--runs", 3, "--json")
    assert done.returncode == OK, done.stderr
    figures = json.loads(done.stdout)
    assert figures["adapter"] and figures["dispatches"] > 0 and figures["gpu_memory_bytes"] > 0
    for key in ("load_ms", "first_run_ms", "median_run_ms", "host_us_per_dispatch"):
        assert figures[key] > 0


def test_inspect_needs_no_gpu(tool: Any, pack: dict[str, dict[str, Any]]) -> None:
    entry = pack["pointwise/chain"]
    done = tool("inspect", folder_of(entry) / entry["model"], "--ir", VK_ICD_FILENAMES="/nonexistent.json",
                ETWEBGPU_ADAPTER="none")  # fmt: skip
    assert done.returncode == OK, done.stderr
    for name in entry["ops"]:
        assert name in done.stdout
    assert "delegate 0: VulkanBackend" in done.stdout and "after passes" in done.stdout


def test_profile(tool: Any, pack: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    entry = pack["pointwise/chain"]
    model = folder_of(entry) / entry["model"]
    done = tool("profile", model, "--trace", tmp_path / "trace.json", "--chunk", 1, "--json")
    assert done.returncode == OK, done.stderr
    report = json.loads(done.stdout)
    if not report["profiled"]:  # this adapter, or this build, cannot
        assert done.stderr.startswith("etwebgpu: no GPU times: ")
        return
    assert sum(row["dispatches"] for row in report["kernels"]) == report["dispatches"]
    assert report["ceilings"]["gbytes_per_s"] > 0 and report["ceilings"]["gflops_per_s"] > 0
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == report["dispatches"]


def test_profile_goes_on_without_timestamps(tool: Any, pack: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    entry = pack["pointwise/chain"]
    trace = tmp_path / "trace.json"
    done = tool("profile", folder_of(entry) / entry["model"], "--no-timestamps", "--json", "--trace", trace)
    assert done.returncode == OK
    assert "no GPU times: " in done.stderr
    assert f"{trace} is not written" in done.stderr and not trace.exists()
    assert json.loads(done.stdout)["profiled"] is False


def test_devices_and_choice_of_adapter(tool: Any, add: dict[str, Any]) -> None:
    listed = json.loads(tool("devices", "--json").stdout)["devices"]
    assert sum(device["selected"] for device in listed) == 1
    name = next(device["name"] for device in listed if device["selected"])
    report = json.loads(tool("--adapter", name, "run", *arguments(add), "--json").stdout)
    assert report["adapter"] == name
    assert "nothing like it" in failure(tool("run", *arguments(add), "--adapter", "nothing like it"))


def test_ops(tool: Any) -> None:
    names = [op["name"] for op in json.loads(tool("ops", "--json").stdout)["ops"]]
    assert names == sorted(set(names)) and "aten.add.Tensor" in names


def test_usage(tool: Any) -> None:
    assert tool("--help").returncode == OK
    assert tool("run", "--help").returncode == OK
    failure(tool())
    failure(tool("run"))
    failure(tool("nothing"))
    assert "none.pte" in failure(tool("inspect", "none.pte"))
