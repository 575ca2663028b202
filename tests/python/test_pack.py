# SPDX-License-Identifier: BSD-3-Clause
"""The short pack through ExecuTorch's Python runtime: one program a test, every run on one load.

Programs that are not fully delegated count here: the runtime has CPU kernels for the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from check import assert_equal
from conftest import PACK
from export_pack import FAMILIES, jobs_of, name_of

NAMES = [name_of(job) for family in FAMILIES for job in jobs_of(family, quick=True, text="")]


def value_of(item: dict[str, Any], folder: Path) -> Any:
    return item["int"] if "int" in item else torch.from_numpy(np.load(folder / item["file"]))


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, plugin: Path, pack: dict[str, dict[str, Any]]) -> None:
    from executorch.runtime import Runtime

    import executorch_webgpu

    entry = pack[name]
    folder = PACK / name
    assert not entry["data"], "the short pack has no programs with separate data"
    program = Runtime.get().load_program(folder / entry["model"])
    try:
        method = program.load_method("forward")
    except RuntimeError as error:
        pytest.fail(f"{error}: {executorch_webgpu.last_error()}")
    for run in entry["runs"]:
        outputs = method.execute([value_of(item, folder) for item in run["inputs"]])
        assert len(outputs) == len(run["outputs"])
        for got, want in zip(outputs, run["outputs"], strict=True):
            if "int" in want:
                assert got == want["int"]
            else:
                assert_equal(got.numpy(), np.load(folder / want["file"]), entry["atol"], entry["rtol"])
